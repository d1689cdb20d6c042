"""The sessions of a project: their transcripts, and the decisions and rules in their records.

Transcripts are those in the client's folder of the project, those that its hooks recorded, and
those of other agents whose first lines name the project. So a fact from before two compactions is
found even where nobody made a segment of it. Reading goes on where the last one ended. If the
client has deleted a transcript, its archived copy is read, and its items keep their ids.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial

from holdfast.archive import transcripts as archived
from holdfast.client import agents
from holdfast.files.folders import names_in
from holdfast.memory import locations
from holdfast.memory.item import DECISION, HOW, Item, MemorySource, SourceRead, clean, id_of
from holdfast.transcript import PACKED, Unreadable
from holdfast.wire import places

MOST_BYTES = 32 << 20
KEY = "transcript:"
AGENTS = "/subagents"
MOST_FOLDERS, HEAD_BYTES = 1_000, 64 << 10
_CWD = re.compile(rb'"cwd": ?("(?:[^"\\]|\\.){1,4096}")')


def transcripts(project: str) -> list[str]:
    """List the main transcripts of a project, each once, without those of subagents."""
    folder = locations.client_folder(project)
    found = {f"{folder}/{n}" for n in names_in(folder) if n.endswith((".jsonl", ".jsonl.gz"))}
    found |= {path for owner, path in sessions_of_hooks().values() if owner == project and path}
    return sorted(found | {path for path, owner in _of_others() if owner == project})


def known_projects() -> set[str]:
    """List every project that a hook ran in, and those that only agents have sessions of."""
    known = {project for project, _ in sessions_of_hooks().values()}
    known |= {project for _, project in _of_others() if project}
    folders = {locations.client_folder(project) for project in known}
    root = locations.client_folders()
    others = sorted(f"{root}/{name}" for name in names_in(root))
    found = (_project_of_folder(other) for other in others[:MOST_FOLDERS] if other not in folders)
    return known | {one for one in found if one}


def _project_of_folder(folder: str) -> str:
    """Return the project of one of Claude Code's folders; empty if no transcript tells it. The
    name of the folder is no path, but it must be the name that a path in the transcript gets."""
    for name in sorted(names_in(folder)):
        if not name.endswith(".jsonl") or name.startswith("agent-"):
            continue
        head = places.read_small(f"{folder}/{name}", HEAD_BYTES)
        for found in dict.fromkeys(_CWD.findall(head)):
            with suppress(ValueError):
                project = locations.resolve(json.loads(found))
                if locations.client_folder(project) == folder:
                    return project
    return ""


def sessions_of_hooks() -> dict[str, tuple[str, str]]:
    """Return (project, transcript) by session, as its hooks noted them."""
    paths = {
        name: f"{places.windows()}/{name}/main/state.json" for name in names_in(places.windows())
    }
    found = {name: _read_state(path, locations.stamp(path)) for name, path in paths.items()}
    return {name: told for name, told in found.items() if told[0]}


def _of_others() -> Iterator[tuple[str, str]]:
    """Yield (transcript, project) for those of other agents."""
    for path in map(str, agents.other_transcripts(os.environ)):
        if path.endswith(PACKED):
            from holdfast.transcript import lookup  # decoding lines is slow, and they are few

            with suppress(Unreadable):
                if folder := lookup.folder_of(path):
                    yield path, locations.resolve(folder)
        elif found := _CWD.search(places.read_small(path, HEAD_BYTES)):
            with suppress(ValueError):
                yield path, locations.resolve(json.loads(found[1]))


@lru_cache(4_096)
def _read_state(path: str, _stamp: str) -> tuple[str, str]:
    """Return project and transcript; one search asks for them thrice."""
    with suppress(ValueError, RecursionError, TypeError):
        found = json.loads(places.read_small(path, 1 << 20))
        project, transcript = found.get("project"), found.get("transcript")
        if isinstance(project, str) and isinstance(transcript, str) and project:
            return locations.resolve(project), transcript
    return "", ""


def transcript_sources(project: str) -> Iterator[MemorySource]:
    for path in transcripts(project):
        for one in (path, *_agents(path)):
            if stamp := locations.stamp(one):
                yield _transcript_source(one, one, stamp, one != path)
    for one, copy in archived.copies_of_gone(locations.client_folder(project)):
        is_agent = one.rpartition("/")[0].endswith(AGENTS)
        yield _transcript_source(one, copy, locations.stamp(copy), is_agent)


def _transcript_source(path: str, file: str, stamp: str, is_agent: bool) -> MemorySource:
    def read(state: str, give_up: float) -> SourceRead:
        from holdfast.memory import turns  # decoding lines takes longer than a quick search may

        return turns.read(file, state, is_agent=is_agent, give_up=give_up, key=path)

    return MemorySource(f"{KEY}{path}", f"{HOW}-{stamp}", read)


def _agents(path: str) -> list[str]:
    """List subagents' transcripts, which are in a folder next to their session's."""
    folder = path.removesuffix(".gz").removesuffix(".jsonl") + AGENTS
    return [f"{folder}/{name}" for name in names_in(folder) if name.endswith(".jsonl")]


def decision_sources(project: str) -> Iterator[MemorySource]:
    """List the records of windows: they hold decisions and the user's rules, each with its turn."""
    for session, (owner, transcript) in sessions_of_hooks().items():
        if owner != project:
            continue
        folder = f"{places.windows()}/{session}"
        for leaf in names_in(folder):
            path = f"{folder}/{leaf}/record.json"
            if stamp := locations.stamp(path):
                agent = leaf.removeprefix("agent-") if leaf != "main" else ""
                own = places.transcript(transcript, agent)
                read = partial(_read_decisions, path, own, agent)
                yield MemorySource(f"facts:{session}/{leaf}", f"{HOW}-{stamp}", read)


def _read_decisions(
    path: str, transcript: str, agent: str, _state: str, _give_up: float
) -> SourceRead:
    from holdfast.record import model as kept
    from holdfast.record.open_items import find_decisions
    from holdfast.redact import redact

    found = kept.load(places.read_small(path, MOST_BYTES))
    items: dict[str, Item] = {}
    for decision in find_decisions(found) if found is not None else ():
        item_id = id_of(DECISION, path, decision.by, decision.question, decision.text)
        items[item_id] = Item(
            id=item_id,
            kind=DECISION,
            text=redact(clean(decision.text)),
            title=redact(clean(decision.question)),
            by=decision.by,
            position=2 * len(items),  # decisions say nothing of those beside them
            session=found.session_id if found else "",
            agent=agent,
            file=transcript,
            first_turn=max(1, decision.place.op),
            last_turn=max(1, decision.place.op),
            at=decision.place.at,
            offset=decision.place.offset,
        )
    return SourceRead(list(items.values()), "")
