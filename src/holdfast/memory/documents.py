"""Documents of a project: Claude Code's memory files, checkpoints, compressed segments, messages.

Each is one entry. Checkpoints of one session repeat each other, so only the newest is indexed. Warm
segments are found by default, cold ones on request.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast.client.memory_folder import find_memory_folder
from holdfast.files.folders import digest, key, names_in
from holdfast.memory import engines, locations, sqlite_index
from holdfast.memory.item import (
    CHECKPOINT,
    FOREIGN,
    HOW,
    LONGEST_TEXT,
    MEMORY,
    MESSAGE,
    SEGMENT,
    Item,
    MemorySource,
    SourceRead,
    clean,
    id_of,
)
from holdfast.wire import log, places

if TYPE_CHECKING:
    from holdfast.segment.formats import Compressed

MEMORY_INDEX = "MEMORY.md"  # only lists the others
MOST_MEMORIES, MOST_CHECKPOINTS, MOST_LISTED = 2_000, 200, 2_000
CHECKPOINTS_INSIDE = ".claude/checkpoints"
# Entries that earlier releases wrote in words of their own.
_OLD_OURS = ("nothing open", "nothing is left open", "go on with the request", "mode: plan mode")
MOST_FOREIGN = 100  # fewer than a search looks at, so that they leave room for our own
FOREIGN_SEGMENTS = (
    "data/knowledge-db/compressed_context",
    ".claude/data/sessions",
)  # where other tools of this format store theirs
MESSAGES = "messages"
MOST_MESSAGES, MESSAGE_CHARS = 20_000, 4_000
_MESSAGES = (
    "SELECT m.id, m.topic, m.content, m.from_agent, m.created_ms FROM messages m "
    "LEFT JOIN projects p ON p.id = m.project_id "
    "WHERE m.topic NOT IN ({notices}) AND (m.project_id IS NULL OR p.path = :project) "
    "ORDER BY m.created_ms DESC, m.id LIMIT {most}"
)


def memory_sources(project: str) -> Iterator[MemorySource]:
    """List the client's memory files, one source per topic."""
    folder = find_memory_folder(project).path
    for name in sorted(names_in(folder))[:MOST_MEMORIES]:
        path = f"{folder}/{name}"
        # Links are skipped, because they may lead out of the project's folder.
        if not name.endswith(".md") or name == MEMORY_INDEX or Path(path).is_symlink():
            continue
        if stamp := locations.stamp(path):
            read = partial(_read_memory, folder, name)
            yield MemorySource(f"memory:{path}", f"{HOW}-{stamp}", read)


def _read_memory(folder: str, name: str, _state: str, _give_up: float) -> SourceRead:
    from holdfast.memory import topic_store
    from holdfast.redact.find import redact

    data = topic_store.read(Path(folder), name) or b""
    parsed = topic_store.parse(redact(clean(data.decode("utf-8", "replace"))), name)
    path = f"{folder}/{name}"
    title = ": ".join(filter(None, (parsed.name, parsed.description)))
    text = parsed.body[:LONGEST_TEXT]
    item = Item(id_of(MEMORY, path), MEMORY, text, title=title, by=parsed.type, file=path)
    return SourceRead([item], "")


def checkpoint_sources(project: str) -> Iterator[MemorySource]:
    """List all checkpoints as one source; none if there are no files."""
    if files := _checkpoint_files(project):
        yield MemorySource(
            "checkpoints", _stamp_all(files), partial(_read_checkpoints, project, files)
        )


def _stamp_all(files: Iterable[str]) -> str:
    stamps = "\n".join(f"{path} {locations.stamp(path)}" for path in files)
    return f"{HOW}-by-{digest(stamps.encode('utf-8', 'surrogatepass'))[:16]}"


def _checkpoint_files(project: str) -> list[str]:
    """Return the newest files, oldest first; they are named by date."""
    ours = f"{places.home().rstrip('/')}/checkpoints/{key(project)}/files"
    found = [
        (name, f"{folder}/{name}")
        for folder in (places.resolve_inside(project, CHECKPOINTS_INSIDE), ours)
        for name in names_in(folder)
        if name[:1].isdigit() and name.endswith(".md")
    ]
    return [path for _, path in sorted(found)[-MOST_LISTED:]]


def _read_checkpoints(project: str, files: list[str], _state: str, _give_up: float) -> SourceRead:
    from holdfast.checkpoint import checkpoint_file, index
    from holdfast.checkpoint.checkpoint_file import DamagedCheckpoint

    known = {one.path for one in index.of_project(project)}
    newest: dict[tuple[str, str, str], Item] = {}
    for path in files:
        try:
            found = checkpoint_file.read(path)
        except DamagedCheckpoint:
            continue  # `verify` and `rebuild` report it
        document = found.document
        by = "" if found.whole and path in known else FOREIGN
        newest[by, document.session_id, document.agent_id] = Item(
            id=id_of(CHECKPOINT, document.session_id, document.agent_id),
            kind=CHECKPOINT,
            text=clean("\n\n".join(_sections(document.sections)))[:LONGEST_TEXT],
            title="checkpoint",
            by=by,
            session=document.session_id,
            agent=document.agent_id,
            file=path,
            at=checkpoint_file.to_iso(document.created),
        )
    ours = [one for one in newest.values() if not one.by][-MOST_CHECKPOINTS:]
    known_ids = {one.id for one in ours}
    others = [one for one in newest.values() if one.by and one.id not in known_ids]
    return _numbered(one for one in [*ours, *others[-MOST_FOREIGN:]] if one.text)


def _sections(sections: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the sections with words that somebody said, without our own."""
    from holdfast.checkpoint.checkpoint_file import GIT
    from holdfast.memory.turns import asks_us

    for name, entries in sections.items():
        told = [one for one in entries if isinstance(one, str) and not one.startswith(_OLD_OURS)]
        words = [
            one
            for one in told
            if name != GIT and not asks_us(one.rpartition("Bash ")[2].strip("`"))
        ]
        if words:
            yield "\n".join([f"{name}:", *words])


def _numbered(items: Iterable[Item]) -> SourceRead:
    return SourceRead([one._replace(position=2 * n) for n, one in enumerate(items)], "")


def segment_sources(project: str) -> Iterator[MemorySource]:
    """List all segments as one source; none if there are no files."""
    roots = [f"{places.home().rstrip('/')}/segments"]
    roots += filter(None, (places.resolve_inside(project, inside) for inside in FOREIGN_SEGMENTS))
    if files := [path for root in roots for path in _files_below(root)]:
        yield MemorySource("segments", _stamp_all(files), partial(_read_segments, project))


def _files_below(folder: str, depth: int = 3) -> Iterator[str]:
    """List the files below a folder, without links: one to `/` would have the whole disk read."""
    for name in sorted(names_in(folder)):
        path = f"{folder}/{name}"
        if name.endswith(".json"):
            yield path
        elif depth and "." not in name and not Path(path).is_symlink():
            yield from _files_below(path, depth - 1)


def _read_segments(project: str, _state: str, _give_up: float) -> SourceRead:
    from holdfast.segment import library

    shelved = [(one, False) for one in library.warm(project)]
    shelved += [(one, True) for one in library.cold(project)]
    ours = [_segment(one, cold, "") for one, cold in shelved if library.is_own(one)]
    others = [_segment(one, cold, FOREIGN) for one, cold in shelved if not library.is_own(one)]
    found: dict[str, Item] = {}
    for item in [*ours, *others[-MOST_FOREIGN:]]:
        found.setdefault(item.id, item)
    return _numbered(found.values())


def _segment(one: Compressed, cold: bool, by: str) -> Item:
    about = one.metadata
    return Item(
        id=f"{SEGMENT}-{one.segment_id}",
        kind=SEGMENT,
        text=clean(one.compressed_content)[:LONGEST_TEXT],
        title=clean(one.topic),
        more=clean("\n".join([*one.key_decisions, *one.key_files]))[:LONGEST_TEXT],
        by=by,
        cold=cold,
        session=one.session_id,
        file=about.transcript,
        first_turn=one.start_turn,
        last_turn=one.end_turn,
        uuids=tuple(filter(None, (about.first_uuid, about.last_uuid))),
        at=about.ended_at or one.compressed_at,
        offset=about.start_byte,
    )


def message_sources(project: str) -> Iterator[MemorySource]:
    if stamp := _messages_stamp():
        yield MemorySource(MESSAGES, f"{HOW}-{stamp}", partial(_read_messages, project))


def _messages_stamp() -> str:
    """Return what changes with the messages: of a team's, their number and the newest time."""
    if engines.is_shared():
        [(count, newest)] = _ask_store("SELECT count(*), max(created_ms) FROM messages", {})
        return f"{count}-{newest}" if count else ""
    path = _database()
    stamp = locations.stamp(path) if path else ""
    return f"{stamp}-{locations.stamp(path + '-wal')}" if stamp else ""


def _ask_store(query: str, values: dict[str, Any]) -> list[Any]:
    import sqlalchemy as sa

    return list(engines.store().read(lambda c: c.execute(sa.text(query), values).all()))


def _database() -> str:
    given = os.environ.get(engines.VARIABLE, "")
    if not given:
        return f"{places.home().rstrip('/')}/holdfast.db"
    return given.removeprefix("sqlite:///") if given.startswith("sqlite:///") else ""


def _read_messages(project: str, _state: str, _give_up: float) -> SourceRead:
    """Read the newest messages, without notices, as in a brief."""
    from holdfast.brief.shared_work import NOTICES  # loads a decoder, most searches need none

    notices = ", ".join(f"'{topic}'" for topic in NOTICES)
    query, values = _MESSAGES.format(notices=notices, most=MOST_MESSAGES), {"project": project}
    read = _ask_store if engines.is_shared() else _ask_file
    return _numbered(map(message, reversed(read(query, values))))


def _ask_file(query: str, values: dict[str, Any]) -> list[Any]:
    """Ask the file itself: SQLAlchemy takes 27 times as long to import as a bare start."""
    with closing(sqlite_index.to_read(_database(), 1.0)) as connection:
        try:
            return connection.execute(query, values).fetchall()
        except sqlite3.Error as error:  # old, locked or damaged: the rest can still be searched
            log.add("WARN", "recall", f"messages were not read: {error}")
            return []


def message(row: Sequence[Any]) -> Item:
    from datetime import UTC, datetime

    from holdfast.text.fence import agent_name

    message_id, topic, content, sender, created_ms = row
    if isinstance(content, str):  # SQLite stores it as text
        with suppress(ValueError):
            content = json.loads(content)
    return Item(
        id=id_of(MESSAGE, message_id),
        kind=MESSAGE,
        text=clean(_words(content, topic))[:MESSAGE_CHARS],
        title=clean(topic),
        by=agent_name(clean(sender)),
        file=f"message {message_id}",
        at=datetime.fromtimestamp(created_ms / 1000, UTC).isoformat(timespec="seconds"),
    )


def _words(content: Any, topic: str) -> str:
    """The message in words, then the fields beside it that say something new, one per line."""
    if not isinstance(content, dict):
        return str(content)
    words = str(content.get("message", ""))
    known = f"{topic}\n{words}"
    beside = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in content.items()
        if name != "message" and value and str(value) not in known
    )
    return "\n".join(filter(None, (words, *beside)))
