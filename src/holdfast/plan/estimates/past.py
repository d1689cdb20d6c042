"""What requests really used on this machine, stored as numbers so that each is read only once.

Claude Code's transcripts are the truth. `plan/past.json` holds, for each, its size and time and a
row of numbers per request. If it is lost, broken or of another version, it is made again. No word
of a prompt is stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from holdfast.client import limit_settings
from holdfast.plan.estimates.estimate import Past, PastCase, make_case
from holdfast.plan.estimates.features import WordFeatures
from holdfast.plan.estimates.past_requests import PastRequest, read_requests
from holdfast.plan.estimates.past_runs import RunTask
from holdfast.text.numbers import Progress, silent
from holdfast.transcript.reader import Unreadable, read
from holdfast.transcript.steps import operations
from holdfast.wire import places

VERSION = 3
MOST_TRANSCRIPTS = 300  # the newest: 909 requests of 161 sessions were past enough
MOST_NEW_BYTES = 512 << 20  # read in one go; what is left is read the next time
MOST_BYTES = 16 << 20
MOST_REQUESTS = 2000
MOST_ROWS = 400  # of one session
MOST_RAN = 200  # tasks of runs, the newest
WORDS_FIELDS = len(fields(WordFeatures))
FIELDS = WORDS_FIELDS + len(fields(PastRequest)) - 1  # its words are the first of a row


def learn(
    project: Path,
    projects: Path,
    most_new_bytes: int = MOST_NEW_BYTES,
    progress: Progress = silent,
) -> Past:
    """The past requests of this machine, marked if of this project. `projects` is Claude Code's
    folder of transcripts."""
    known = _load()
    found: dict[str, Any] = {}
    budget = most_new_bytes
    newest = _newest(projects)
    for at, (path, size, changed_ns) in enumerate(newest):
        progress("reading past sessions", at, len(newest))
        kept = known.get(str(path))
        if isinstance(kept, dict) and kept.get("at") == [size, changed_ns]:
            found[str(path)] = kept
        elif size <= budget:
            budget -= size
            found[str(path)] = _summed_up(path, size, changed_ns)
        elif isinstance(kept, dict):
            found[str(path)] = kept  # the rows from before are better than none
    if found != known:
        _save(found)
    known_here = [(used, here) for kept in found.values() for used, here in _rows(kept, project)]
    return Past(
        _preferred([make_case(used, here) for used, here in known_here if not used.ran]),
        ran=[_ran(used) for used, here in known_here if used.ran and here][:MOST_RAN],
    )


def _preferred(every: list[PastCase]) -> list[PastCase]:
    """This project's requests before others', those of newer sessions before older ones'."""
    return sorted(every, key=lambda one: not one.here)[:MOST_REQUESTS]


def _rows(kept: dict[str, Any], project: Path) -> Iterator[tuple[PastRequest, bool]]:
    here = _is_here(str(kept.get("project") or ""), project)
    rows = kept.get("rows")
    for row in rows if isinstance(rows, list) else []:
        used = _used(row)
        if used is not None:
            yield used, here


def _ran(used: PastRequest) -> RunTask:
    return RunTask(used.words, used.listed or None, used.growth_tokens)


def _newest(projects: Path) -> list[tuple[Path, int, int]]:
    """The newest transcripts: one folder per project, one file per session."""
    found: list[tuple[Path, int, int]] = []
    for path in projects.glob("*/*.jsonl"):
        with suppress(OSError):
            known = path.stat()
            found.append((path, known.st_size, known.st_mtime_ns))
    return sorted(found, key=lambda one: (-one[2], str(one[0])))[:MOST_TRANSCRIPTS]


def _summed_up(path: Path, size: int, changed_ns: int) -> dict[str, Any]:
    rows: list[list[Any]] = []
    with suppress(Unreadable):  # deleted meanwhile, or not a transcript: it has no rows
        rows = [_row(used) for used in read_requests(operations(read(path)), at_rest=True)]
    return {
        "at": [size, changed_ns],
        "project": limit_settings.project_of(path),
        "rows": rows[-MOST_ROWS:],
    }


def _row(used: PastRequest) -> list[Any]:
    words, *rest = astuple(used)
    return [*words, *rest]


def _used(row: object) -> PastRequest | None:
    """A request from a stored row; None for a row of another shape."""
    if not isinstance(row, list) or len(row) != FIELDS:
        return None
    if not all(isinstance(value, int | float) and 0 <= value < 1 << 53 for value in row):
        return None
    return PastRequest(WordFeatures(*row[:WORDS_FIELDS]), *row[WORDS_FIELDS:])


def _is_here(where: str, project: Path) -> bool:
    if not where.startswith("/"):
        return False
    folder = Path(where)
    return folder.is_relative_to(project) or project.is_relative_to(folder)


def learned_file() -> str:
    return os.path.join(places.home(), "plan", "past.json")  # noqa: PTH118 (as `places` has it)


def _load() -> dict[str, Any]:
    try:
        value = json.loads(places.read_small(learned_file(), MOST_BYTES) or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or value.get("version") != VERSION:
        return {}
    files = value.get("transcripts")
    return files if isinstance(files, dict) else {}


def _save(found: dict[str, Any]) -> None:
    """Save the index. If it cannot be written, the next plan reads the transcripts again."""
    data = json.dumps({"version": VERSION, "transcripts": found}, separators=(",", ":")).encode()
    with suppress(OSError):
        Path(learned_file()).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        places.replace_whole(learned_file(), data)
