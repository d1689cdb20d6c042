"""Which transcripts belong to a project: those in the client's folder of it, and those its hooks
noted. What windows said is remembered in one small file, so that a search need not read them all.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from holdfast.memory import locations as here
from holdfast.wire import places

SEEN = "windows.json"
VERSION = 1
MOST_BYTES = 32 << 20
Known = dict[str, list[str]]  # session folder: stamp, project, transcript


def transcripts(project: str) -> list[str]:
    """Main transcripts of a project, each once, subagents' not among them."""
    folder = here.client_folder(project)
    found = {f"{folder}/{n}" for n in here.names_in(folder) if n.endswith((".jsonl", ".jsonl.gz"))}
    found |= {path for told, path in noted().values() if told == project and path}
    return sorted(found)


def projects() -> set[str]:
    """Every project a hook ran in."""
    return {project for project, _ in noted().values() if project}


def noted() -> dict[str, tuple[str, str]]:
    """(project, transcript) by session; states that did not change are not read again."""
    known, changed = _seen(), False
    for session in here.names_in(places.windows()):
        path = f"{places.windows()}/{session}/main/state.json"
        stamp = here.stamp(path)
        if not stamp or known.get(session, [""])[0] == stamp:
            continue
        known[session] = [stamp, *_told(path)]
        changed = True
    if changed:
        _remember(known)
    return {session: (project, path) for session, (_, project, path) in known.items()}


def _told(path: str) -> tuple[str, str]:
    with suppress(ValueError, RecursionError, TypeError):
        found = json.loads(places.read_small(path, 1 << 20))
        project, transcript = found.get("project"), found.get("transcript")
        if isinstance(project, str) and isinstance(transcript, str) and project:
            return here.resolved(project), transcript
    return "", ""


def _seen() -> Known:
    with suppress(ValueError, RecursionError):
        found = json.loads(places.read_small(f"{here.root()}/{SEEN}", MOST_BYTES) or b"{}")
        if isinstance(found, dict) and found.get("version") == VERSION:
            rows = found.get("windows")
            return {k: v for k, v in rows.items() if _fits(v)} if isinstance(rows, dict) else {}
    return {}


def _fits(row: object) -> bool:
    return isinstance(row, list) and len(row) == 3 and all(isinstance(one, str) for one in row)


def _remember(known: Known) -> None:
    with suppress(OSError):  # an aid only: the next search reads the states again
        os.makedirs(here.root(), 0o700, exist_ok=True)  # noqa: PTH103
        data = json.dumps({"version": VERSION, "windows": known}).encode()
        places.replace_whole(f"{here.root()}/{SEEN}", data)
