"""The library: compressed segments in two tiers, warm (searched by default) and cold (on request),
and the queue of each session.

There is one writer at a time, and each file is written whole. A segment that moves to cold is
written there first: after a kill in between it is in both tiers and counts as warm.

Another tool of this format may have left segments in its own folders. They are read there, never
written. Their author is unknown: few are read, each small, and an invalid one is skipped. They are
redacted, and a transcript they name is read only if it belongs to their project.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TypeVar

import msgspec

from holdfast.client.claude_folder import config_folder
from holdfast.client.memory_folder import slug
from holdfast.files import folders, lock, small_files
from holdfast.files.small_files import NewerFile, NotStored, StoreBusy
from holdfast.redact.find import are_clean, redact, redact_each
from holdfast.segment import formats
from holdfast.segment.formats import Compressed, DamagedSegment, Pending, Queue
from holdfast.text import fence
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

WARM, COLD = "warm", "cold"
ENDING = ".json"
MOST_BYTES = 1 << 20
SESSION_SECONDS = 0.5  # to wait for another process that compresses the same session
LARGEST_SHARE = 0.2  # at least 80 % fewer tokens
FLOOR_TOKENS = 120  # a small segment needs more than a fifth of itself
MOST_LISTED, LONGEST_LISTED = 60, 400
MOST_PENDING, MOST_DONE = 200, 500
LONGEST_TOPIC = 160
# Folders of other tools, below a project or the user's home.
QUEUES, SESSIONS = ".claude/data/context_queue", ".claude/data/sessions"
FOREIGN_WARM, FOREIGN_COLD = "data/knowledge-db/compressed_context", "archived_context"
MOST_FILES, MOST_SESSIONS = 500, 200
Kind = TypeVar("Kind", Pending, Compressed)


class NoSegment(HoldfastError):
    """No segment has this id, in any tier."""

    hint = "`holdfast segments --all --cold` lists the ids"


class NotASave(HoldfastError):
    """The given words cannot replace the segment: empty, too long, or malformed."""

    exit_code = 2
    hint = "`holdfast segments save --help` shows the shape"


def folder(*below: str) -> str:
    return "/".join((places.home(), "segments", *below))


@contextmanager
def hold_segments() -> Iterator[None]:
    """Hold the lock of all segments; StoreBusy if it was not free in time."""
    with small_files.hold(folder("lock"), lock.PATIENCE_SECONDS) as is_ours:
        if not is_ours:
            raise StoreBusy("another session or command is writing segments")
        yield


def hold_session(session_id: str) -> AbstractContextManager[bool]:
    """Hold the lock of one session; False if another process compresses it."""
    path = folder("queue", f"{places.plain(session_id or 'unknown')}.lock")
    return small_files.hold(path, SESSION_SECONDS)


def warm(project: str = "") -> list[Compressed]:
    """List every warm segment, oldest first, including those of other tools."""
    return _select([*ours(WARM), *_foreign(WARM, project)], project)


def cold(project: str = "") -> list[Compressed]:
    """List every cold segment that is not also warm."""
    return _select([*ours(COLD), *_foreign(COLD, project)], project)


def _select(listed: Iterable[Compressed], project: str) -> list[Compressed]:
    """Return each segment once, of the given project if any, oldest first. Those of others come
    before all of ours, as if they were older: lists show the newest first."""
    by_id: dict[str, Compressed] = {}
    for segment in listed:
        if not project or segment.metadata.project in ("", project):
            by_id.setdefault(segment.segment_id, segment)
    return sorted(by_id.values(), key=lambda row: (is_own(row), row.compressed_at, row.start_turn))


def is_own(segment: Compressed) -> bool:
    return segment.metadata.written_by != formats.FOREIGN


def ours(tier: str) -> list[Compressed]:
    """List the segments of one tier that Holdfast wrote."""
    if tier == WARM:
        return list(_within(folder(WARM)))
    warm_ids = set(small_files.stems(folder(WARM), ENDING))
    segments = (segment for path in _cold_folders() for segment in _within(path))
    return [segment for segment in segments if segment.segment_id not in warm_ids]


def _within(path: str) -> Iterator[Compressed]:
    segments = (_load(f"{path}/{name}{ENDING}") for name in small_files.stems(path, ENDING))
    return (segment for segment in segments if segment is not None)


def find(segment_id: str) -> Compressed | None:
    """Find a segment by its id: warm, then cold."""
    if path := location(segment_id):
        return _load(path)
    theirs = [*_foreign(WARM, ""), *_foreign(COLD, "")]
    return next((segment for segment in theirs if segment.segment_id == segment_id), None)


def find_by_prefix(start: str) -> list[Compressed]:
    """List the segments of both tiers whose id begins with `start`."""
    return [segment for segment in [*warm(), *cold()] if segment.segment_id.startswith(start)]


def tier(segment_id: str) -> str:
    path = location(segment_id)
    return "" if not path else WARM if path == _warm_path(segment_id) else COLD


def location(segment_id: str) -> str:
    """Return the segment's file; empty if there is none or the id cannot be a file name."""
    if not formats.is_plain(segment_id):
        return ""
    cold_paths = (f"{path}/{segment_id}{ENDING}" for path in _cold_folders())
    paths = (_warm_path(segment_id), *cold_paths)
    return next((path for path in paths if os.path.lexists(path)), "")


def _warm_path(segment_id: str) -> str:
    return folder(WARM, f"{segment_id}{ENDING}")


def _cold_path(segment: Compressed) -> str:
    return folder(
        COLD, places.plain(segment.session_id or "unknown"), f"{segment.segment_id}{ENDING}"
    )


def _cold_folders() -> list[str]:
    return [folder(COLD, name) for name in sorted(folders.names_in(folder(COLD)))]


def note_access(segment_id: str, now_ms: int) -> None:
    """Count an access, which raises the relevance. Other tools' segments stay unchanged."""
    try:
        with hold_segments():
            path = location(segment_id)
            if segment := _load(path) if path else None:
                segment.access_count += 1
                segment.last_accessed = formats.stamp(now_ms)
                _put(path, segment, now_ms)
    except (NotStored, StoreBusy) as error:
        log.add("WARN", "segments", f"{segment_id} was read, and that was not noted: {error}")


def keep(segment: Compressed, now_ms: int) -> Compressed:
    """Store a segment as warm; a model's text already there stays. The caller holds the lock."""
    path = _warm_path(segment.segment_id)
    before = _load(path)
    if before is not None and before.metadata.written_by == formats.MODEL:
        before.metadata.own_content = segment.compressed_content
        segment = before
    _put(path, segment, now_ms)
    return segment


class NewWords(msgspec.Struct):
    segment_id: str
    compressed_content: str
    key_decisions: list[str] = []
    key_files: list[str] = []


def parse_words(data: bytes) -> list[NewWords]:
    """Read one object or a list of them."""
    try:
        given = msgspec.json.decode(data, type=NewWords | list[NewWords])
    except (ValueError, RecursionError) as error:
        raise NotASave(str(error)) from None
    if not given:
        raise NotASave("an empty list")
    return given if isinstance(given, list) else [given]


def save(
    segment_id: str, text: str, decisions: list[str], files: list[str], now_ms: int
) -> Compressed:
    """Save a model's text in place of Holdfast's, which stays stored, redacted and limited."""
    with hold_segments():
        path = location(segment_id)
        segment = _load(path) if path else None
        if segment is None:
            raise NoSegment(f"there is no segment {places.plain(segment_id)} to save words for")
        words, most = redact(fence.clean(text)).strip(), most_tokens(segment.original_tokens)
        if not words:
            raise NotASave("there are no words to save")
        if formats.tokens(words) > most:
            size = f"{formats.tokens(words):,} tokens for a segment of {segment.original_tokens:,}"
            raise NotASave(f"{size} are too many: at most {most:,}")
        if segment.metadata.written_by != formats.MODEL:
            segment.metadata.own_content = segment.compressed_content
            segment.metadata.written_by = formats.MODEL
        segment.compressed_content = words
        segment.compressed_tokens = formats.tokens(words)
        segment.compression_ratio = formats.ratio(
            segment.original_tokens, segment.compressed_tokens
        )
        segment.key_decisions = _clean_list(decisions) or segment.key_decisions
        segment.key_files = _clean_list(files) or segment.key_files
        segment.compressed_at = formats.stamp(now_ms)
        _put(path, segment, now_ms)
    return segment


def most_tokens(original_tokens: int) -> int:
    """Return how long the text for a segment of this size may be."""
    return max(FLOOR_TOKENS, int(original_tokens * LARGEST_SHARE))


def _clean_list(texts: list[str]) -> list[str]:
    cleaned = [redact(fence.flat(text, LONGEST_LISTED)) for text in texts[:MOST_LISTED]]
    return list(dict.fromkeys(filter(None, cleaned)))


def demote(segment: Compressed, now_ms: int) -> str:
    """Move a segment from warm to cold and return its new path. The caller holds the lock."""
    segment.metadata.archived_at = formats.stamp(now_ms)
    _put(_cold_path(segment), segment, now_ms)
    small_files.remove(_warm_path(segment.segment_id))
    return _cold_path(segment)


def prune(segment: Compressed, now_ms: int) -> None:
    """Reduce an old archive to its summary and identifiers. The caller holds the lock."""
    segment.metadata.own_content, segment.metadata.pruned_at = "", formats.stamp(now_ms)
    segment.key_decisions, segment.key_files = [], []
    _put(_cold_path(segment), segment, now_ms)


def clear(segment: Compressed) -> bool:
    """Remove it from every tier. The caller holds the lock."""
    was_warm = small_files.remove(_warm_path(segment.segment_id))
    return small_files.remove(_cold_path(segment)) or was_warm


def _load(path: str) -> Compressed | None:
    data = _read(path)
    if not data:
        return None
    try:
        compressed = formats.decode_compressed(data, path.rpartition("/")[2].removesuffix(ENDING))
        if compressed.metadata.written_by != formats.MODEL:
            compressed.metadata.written_by = formats.OURS
        return compressed
    except DamagedSegment as error:
        with suppress(NotStored):
            small_files.set_aside(path, str(error))
    except NewerFile as error:
        log.add("WARN", "segments", f"{path} was left alone: {error}")
    return None


def _read(path: str) -> bytes:
    """Read a small file; empty if it is missing. One that is too long counts as damaged."""
    data = places.read_small(path, MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else b"?"  # cannot be decoded


def _put(path: str, segment: Compressed, now_ms: int) -> None:
    segment.version = formats.VERSION
    segment.relevance_score = formats.score(segment, now_ms)
    small_files.put(path, formats.encode(segment))


def queue_path(session_id: str) -> str:
    return folder("queue", f"{places.plain(session_id)}_pending.json")


def load_queue(session_id: str) -> Queue:
    """The queue; empty if there is none. NewerFile if a newer Holdfast wrote it."""
    data = _read(queue_path(session_id))
    if not data:
        return Queue()
    try:
        return formats.decode(data, Queue)
    except DamagedSegment as error:
        with suppress(NotStored):
            small_files.set_aside(queue_path(session_id), str(error))
        return Queue()


def save_queue(session_id: str, queue: Queue) -> None:
    """Save it. Past the limit the oldest compressed entry is dropped; its segment stays stored."""
    del queue.pending[:-MOST_PENDING]
    del queue.compressed[:-MOST_DONE]
    small_files.put(queue_path(session_id), formats.encode(queue))


def list_pending(session_id: str, project: str = "") -> list[Pending]:
    """List what waits to be compressed; empty if a newer Holdfast wrote the queue."""
    try:
        pending = load_queue(session_id).pending
    except NewerFile as error:
        log.add("WARN", "segments", f"{queue_path(session_id)}: {error}")
        pending = []
    known = {row.segment_id for row in pending}
    theirs = _foreign_pending(session_id, project)
    return [*pending, *(row for row in theirs if row.segment_id not in known)]


def list_archived(session_id: str) -> list[tuple[str, str, list[str]]]:
    """Return id, topic and main files of what a session has archived, newest last."""
    try:
        queue = load_queue(session_id)
    except NewerFile:
        return []
    return [
        (
            row.segment_id,
            row.topic[:LONGEST_TOPIC],
            [name.rpartition("/")[2] for name in row.key_files[:2]],
        )
        for row in queue.compressed
        if row.topic and queue.version == formats.VERSION
    ]


def _foreign(tier: str, project: str) -> Iterator[Compressed]:
    """Yield the segments that other tools left in the project or in the user's home."""
    for root in _roots(project):
        if tier == WARM:
            inside = [FOREIGN_WARM]
        else:
            names = sorted(folders.names_in(places.resolve_inside(root, SESSIONS)))
            inside = [f"{SESSIONS}/{name}/{FOREIGN_COLD}" for name in names[:MOST_SESSIONS]]
        for path in inside:
            yield from _foreign_within(root, path, project)


def _roots(project: str) -> list[str]:
    return list(dict.fromkeys(root for root in (project, places.user_home()) if root[:1] == "/"))


def _foreign_within(root: str, inside: str, project: str) -> Iterator[Compressed]:
    """Files below a root. Links out of it are not followed: they could lead to another project."""
    names = small_files.stems(places.resolve_inside(root, inside), ENDING)
    for name in [name for name in names if _is_public(name)][:MOST_FILES]:
        path = places.resolve_inside(root, f"{inside}/{name}{ENDING}")
        if not path:
            continue
        try:
            segment = _clean(formats.decode_compressed(_read(path), name))
        except (DamagedSegment, NewerFile) as error:
            log.add("WARN", "segments", f"{path} was passed over: {error}")
            continue
        segment.metadata.written_by = formats.FOREIGN
        if not _is_of(project, segment.metadata.transcript):
            segment.metadata.transcript = ""
        yield segment


def _foreign_pending(session_id: str, project: str) -> Iterator[Pending]:
    for root in _roots(project):
        path = places.resolve_inside(root, f"{QUEUES}/{places.plain(session_id)}_pending.json")
        try:
            queue = formats.decode(_read(path) or b"{}", Queue) if path else Queue()
        except (DamagedSegment, NewerFile) as error:
            log.add("WARN", "segments", f"{path} was passed over: {error}")
            continue
        for pending in queue.pending[:MOST_FILES]:
            if _is_public(pending.segment_id):
                yield msgspec.structs.replace(_clean(pending), written_by=formats.FOREIGN)


def _is_public(segment_id: str) -> bool:
    """Whether an id is safe: ids are looked up, so they cannot be redacted."""
    return formats.is_plain(segment_id) and are_clean((segment_id,))


def _is_of(project: str, transcript: str) -> bool:
    """Return whether a transcript is in the client's folder for the project."""
    path = f"{config_folder(os.environ)}/projects/{slug(project)}/"
    return bool(project) and transcript.startswith(path) and ".." not in transcript.split("/")


def _clean(struct: Kind) -> Kind:
    plain = formats.plain(struct)
    cleaned = redact_each(plain)
    return struct if cleaned == plain else msgspec.convert(cleaned, type(struct))
