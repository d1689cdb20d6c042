"""Documents of a project: the client's memory files, checkpoints, and compressed segments.

Checkpoints of one session repeat each other: a text that several contain is one item, and refers to
the newest of them. Warm segments are found by default, cold ones on request.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdfast.client.memory_folder import find_memory_folder
from holdfast.files.digest import digest
from holdfast.memory import locations
from holdfast.memory.item import CHECKPOINT, DECISION, FOREIGN, MEMORY, SEGMENT, Item, id_of
from holdfast.memory.sources.source import HOW, MemorySource, SourceRead, clean, pieces
from holdfast.wire import places

if TYPE_CHECKING:
    from holdfast.segment.formats import Compressed

MEMORY_KEY = "memory:"
MOST_MEMORIES = 2_000
MEMORY_INDEX = "MEMORY.md"  # only lists the others


def memory_sources(project: str) -> Iterator[MemorySource]:
    """List the client's memory files, one source per topic."""
    folder = find_memory_folder(project).path
    for name in sorted(locations.names_in(folder))[:MOST_MEMORIES]:
        path = f"{folder}/{name}"
        # Links are skipped, because they may lead out of the project's folder.
        if not name.endswith(".md") or name == MEMORY_INDEX or os.path.islink(path):  # noqa: PTH114
            continue
        if stamp := locations.stamp(path):
            yield MemorySource(f"{MEMORY_KEY}{path}", stamp, partial(_read_memory, folder, name))


def _read_memory(folder: str, name: str, _state: str, _give_up: float) -> SourceRead:
    from pathlib import Path

    from holdfast.memory.topics import folder as hot
    from holdfast.memory.topics import topic
    from holdfast.redact import redact

    found = hot.read(Path(folder), name)
    parsed = topic.parse(
        redact(clean(found.data.decode("utf-8", "replace"))) if found else "", name
    )
    title = ": ".join(filter(None, (parsed.name, parsed.description)))
    path = f"{folder}/{name}"
    items = [
        Item(
            id=id_of(MEMORY, path, str(number)),
            kind=MEMORY,
            text=part,
            title=title,
            position=number,
            by=parsed.type,
            file=path,
        )
        for number, part in enumerate(pieces(parsed.body) or [""])
    ]
    return SourceRead(items, "")


CHECKPOINTS_KEY = "checkpoints"
DECISIONS = "Key Decisions"
MOST_CHECKPOINTS = 200
CHECKPOINTS_INSIDE = ".claude/checkpoints"


def checkpoint_sources(project: str) -> Iterator[MemorySource]:
    """List all checkpoints as one source; none if there are no files."""
    files = _checkpoint_files(project)
    if files:
        stamp = f"{HOW}-by-{_stamp_all(files)}"
        yield MemorySource(CHECKPOINTS_KEY, stamp, partial(_read_checkpoints, project, files))


def _stamp_all(files: Iterable[str]) -> str:
    stamps = "\n".join(f"{path} {locations.stamp(path)}" for path in files)
    return digest(stamps.encode("utf-8", "surrogatepass"))[:16]


def _local_paths(project: str) -> set[str]:
    from holdfast.checkpoint import index

    return {one.path for one in index.of_project(project)}


def _checkpoint_files(project: str) -> list[str]:
    """Return the newest files, oldest first; they are named by date."""
    ours = f"{places.home().rstrip('/')}/checkpoints/{locations.key(project)}/files"
    found = [
        (name, f"{folder}/{name}")
        for folder in (places.resolve_inside(project, CHECKPOINTS_INSIDE), ours)
        for name in locations.names_in(folder)
        if name[:1].isdigit() and name.endswith(".md")
    ]
    return [path for _, path in sorted(found)[-MOST_CHECKPOINTS:]]


def _read_checkpoints(project: str, files: list[str], _state: str, _give_up: float) -> SourceRead:
    from holdfast.checkpoint import checkpoint_file
    from holdfast.checkpoint.errors import DamagedCheckpoint
    from holdfast.text import timestamps

    own = _local_paths(project)
    found: dict[tuple[str, str, str], Item] = {}
    for path in files:
        try:
            document = checkpoint_file.read(path).document
        except DamagedCheckpoint:
            continue  # `verify` and `rebuild` report it
        about = document.session_id, document.agent_id, path, timestamps.to_iso(document.created)
        for name, entries in document.sections.items():
            for text in _section_texts(name, entries):
                item = _checkpoint_item(name, text, about)
                item = item if path in own else item._replace(by=FOREIGN)
                found[document.session_id, name, text] = item
    return SourceRead([one._replace(position=2 * n) for n, one in enumerate(found.values())], "")


def _section_texts(name: str, entries: object) -> list[str]:
    from holdfast.checkpoint.sections import somebodys
    from holdfast.memory.sources.calls import asks_us

    texts = [one for one in entries if isinstance(one, str)]  # type: ignore[attr-defined]
    words = (somebodys(name, one) for one in texts)
    listed = [
        clean(one) for one in words if one and not asks_us(one.rpartition("Bash ")[2].strip("`"))
    ]
    if name == DECISIONS:
        return [part for one in listed for part in pieces(one)]
    return pieces("\n".join(listed))


def _checkpoint_item(name: str, text: str, about: tuple[str, str, str, str]) -> Item:
    session, agent, path, at = about
    return Item(
        id=id_of(CHECKPOINT, session, agent, name, text),
        kind=DECISION if name == DECISIONS else CHECKPOINT,
        text=text,
        title=name,
        by="model" if name == DECISIONS else "",
        session=session,
        agent=agent,
        file=path,
        at=at,
    )


SEGMENTS_KEY = "segments"
OUR_SEGMENTS = "segments"
FOREIGN_SEGMENTS = (
    "data/knowledge-db/compressed_context",
    ".claude/data/sessions",
)  # where other tools of this format store theirs
MORE_CHARS = 1_200
MOST_FOREIGN = 100  # fewer than a search looks at, so that they leave room for our own
FORM = "2"  # of the items that are made of segments: another one reads them all again


def segment_sources(project: str) -> Iterator[MemorySource]:
    """List all segments as one source; none if there are no files."""
    roots = [f"{places.home().rstrip('/')}/{OUR_SEGMENTS}"]
    roots += filter(None, (places.resolve_inside(project, inside) for inside in FOREIGN_SEGMENTS))
    files = [path for root in roots for path in _files_below(root)]
    if files:
        yield MemorySource(
            SEGMENTS_KEY, _stamp_all([FORM, *files]), partial(_read_segments, project)
        )


def segment_id(item_id: str) -> str:
    """Return the id of the segment that an item is a piece of."""
    return item_id.removeprefix(f"{SEGMENT}-").partition(".")[0]


def _files_below(folder: str, depth: int = 3) -> Iterator[str]:
    """List the files below a folder. Links are not followed: a link to `/` would make every search
    read the whole disk."""
    for name in sorted(locations.names_in(folder)):
        path = f"{folder}/{name}"
        if name.endswith(".json"):
            yield path
        elif depth and "." not in name and not os.path.islink(path):  # noqa: PTH114
            yield from _files_below(path, depth - 1)


def _read_segments(project: str, _state: str, _give_up: float) -> SourceRead:
    from holdfast.segment import library

    shelved = [(one, False) for one in library.warm(project)]
    shelved += [(one, True) for one in library.cold(project)]
    ours = [(one, cold) for one, cold in shelved if library.is_own(one)]
    others = [(one, cold) for one, cold in shelved if not library.is_own(one)]
    items = [item for one, cold in ours for item in _segment_items(one, cold)]
    for one, cold in others[-MOST_FOREIGN:]:
        items.append(next(_segment_items(one, cold))._replace(by=FOREIGN))
    found: dict[str, Item] = {}
    for item in items:
        found.setdefault(item.id, item._replace(position=2 * len(found)))
    return SourceRead(list(found.values()), "")


def _segment_items(one: Compressed, cold: bool) -> Iterator[Item]:
    about = one.metadata
    listed = clean("\n".join([*one.key_decisions, *one.key_files]))[:MORE_CHARS]
    for number, part in enumerate(pieces(clean(one.compressed_content)) or [""]):
        yield Item(
            id=f"{SEGMENT}-{one.segment_id}" + (f".{number}" if number else ""),
            kind=SEGMENT,
            text=part,
            title=clean(one.topic),
            more=listed if number == 0 else "",
            cold=cold,
            session=one.session_id,
            file=about.transcript,
            first_turn=one.start_turn,
            last_turn=one.end_turn,
            uuids=tuple(filter(None, (about.first_uuid, about.last_uuid))),
            at=about.ended_at or one.compressed_at,
            offset=about.start_byte,
        )
