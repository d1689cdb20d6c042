"""The sessions of a project: their transcripts, and the decisions and rules in their records.

Transcripts are those in the client's folder of the project, those that its hooks recorded, and
those whose first lines name the project. So a fact from before two compactions is
found even where nobody made a segment of it. Reading goes on where the last one ended. If the
client has deleted a transcript, its archived copy is read, and its items keep their ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path

from holdfast.client import agents
from holdfast.client.claude_folder import project_of
from holdfast.files.folders import names_in
from holdfast.memory import locations
from holdfast.memory.item import DECISION, HOW, Item, MemorySource, SourceRead, clean, id_of
from holdfast.transcript import PACKED, Unreadable
from holdfast.wire import places

MOST_BYTES = 32 << 20
KEY = "transcript:"
AGENTS = "/subagents"


def transcripts(project: str) -> list[str]:
    """List the main transcripts of a project, each once, without those of subagents."""
    folder = locations.client_folder(project)
    found = {f"{folder}/{n}" for n in names_in(folder) if n.endswith((".jsonl", ".jsonl.gz"))}
    return sorted(found | {path for path, owner in _owners().items() if owner == project})


def known_projects() -> set[str]:
    """List every project that a hook ran in, and those that transcripts name."""
    return {project for project, _ in sessions_of_hooks().values()} | set(_owners().values())


def _owners() -> dict[str, str]:
    """Return the project of each main transcript: as its hooks noted it, else the folder that its
    first lines name. So the list of past sessions has it; the client's own folder may be named
    after another one, as of a project that was moved."""
    hooked = {path: project for project, path in sessions_of_hooks().values() if path}
    listed = [path for path in map(str, agents.by_time()) if path not in hooked]
    owners = {path: _heads.get(path) or _project_in(path) for path in listed}
    _heads.update(owners)
    return hooked | {path: project for path, project in owners.items() if project}


_heads: dict[str, str] = {}  # a project does not change; one that is not named yet is read again


def _project_in(path: str) -> str:
    """Return the folder that the first lines of a transcript name; empty if none does."""
    if not path.endswith(PACKED):
        named = project_of(Path(path))
        return locations.resolve(named) if named else ""
    from holdfast.transcript import lookup  # decoding lines is slow, and they are few

    with suppress(Unreadable):
        if folder := lookup.folder_of(path):
            return locations.resolve(folder)
    return ""


def sessions_of_hooks() -> dict[str, tuple[str, str]]:
    """Return (project, transcript) by session, as its hooks noted them."""
    paths = {key: f"{places.windows()}/{key}/main/state.json" for key in names_in(places.windows())}
    found = {name: _read_state(path, locations.stamp(path)) for name, path in paths.items()}
    return {name: told for name, told in found.items() if told[0]}


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
    if not names_in(f"{places.home()}/transcripts"):  # the archive is off until the user sets it
        return
    from holdfast.archive.transcripts import copies_of_gone

    for one, copy in copies_of_gone(locations.client_folder(project)):
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
    from holdfast.redact.find import redact

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
