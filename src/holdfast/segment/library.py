"""The library: compressed segments in two tiers, warm (searched by default) and cold (on request).

    warm(project, session_id)   cold(...)   find(id)   pending(session_id)   list and find
    note_access(id, now_ms)                                                  count an access
    save(id, text, decisions, files, now_ms)                                 store a model's text

A segment that moves to cold is written there first: after a kill in between it is in both tiers and
counts as warm. A model's text is cleaned, redacted and checked for length; Holdfast's own text is
saved beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from holdfast.files import folders, small_files
from holdfast.files.small_files import NewerFile, NotStored, StoreBusy
from holdfast.redact import redact
from holdfast.segment import disk, formats
from holdfast.segment.disk import ENDING
from holdfast.segment.errors import DamagedSegment, NoSegment, NotASave
from holdfast.segment.formats import Compressed, Pending
from holdfast.text import fence
from holdfast.wire import log, places

LARGEST_SHARE = 0.2  # at least 80 % fewer tokens
FLOOR_TOKENS = 120  # a small segment needs more than a fifth of itself
MOST_LISTED, LONGEST_LISTED = 60, 400
WARM, COLD = "warm", "cold"
KEPT_WHEN_PRUNED = (
    *("task_completed", "project", "transcript", "first_uuid", "last_uuid"),
    *("start_byte", "end_byte", "written_by", "archived_at"),
)


def most_tokens(original_tokens: int) -> int:
    """Return how long the text for a segment of this size may be."""
    return max(FLOOR_TOKENS, int(original_tokens * LARGEST_SHARE))


def replace_text(
    one: Compressed, text: str, decisions: list[str], files: list[str], now_ms: int
) -> None:
    """Replace a segment's text. Empty lists change nothing; Holdfast's own text stays stored."""
    words = redact(fence.clean(text)).strip()
    if not words:
        raise NotASave("there are no words to save")
    most = most_tokens(one.original_tokens)
    if formats.tokens(words) > most:
        size = f"{formats.tokens(words):,} tokens for a segment of {one.original_tokens:,}"
        raise NotASave(f"{size} are too many: at most {most:,}")
    if one.metadata.written_by != formats.MODEL:
        one.metadata.own_content = one.compressed_content
        one.metadata.written_by = formats.MODEL
    one.compressed_content = words
    one.compressed_tokens = formats.tokens(words)
    one.compression_ratio = formats.ratio(one.original_tokens, one.compressed_tokens)
    one.key_decisions = _clean_list(decisions) or one.key_decisions
    one.key_files = _clean_list(files) or one.key_files
    one.compressed_at = formats.stamp(now_ms)
    one.relevance_score = formats.score(one, now_ms)


def _clean_list(texts: list[str]) -> list[str]:
    cleaned = [redact(fence.flat(text, LONGEST_LISTED)) for text in texts[:MOST_LISTED]]
    return list(dict.fromkeys(filter(None, cleaned)))


def warm(project: str = "", session_id: str = "") -> list[Compressed]:
    """List every warm segment, oldest first, including those of other tools."""
    found = [*ours(WARM), *disk.foreign_warm(project)]
    return _select(found, project, session_id)


def cold(project: str = "", session_id: str = "") -> list[Compressed]:
    """List every cold segment that is not also warm."""
    found = [*ours(COLD, session_id), *disk.foreign_cold(project)]
    return _select(found, project, session_id)


def ours(tier: str, session_id: str = "") -> list[Compressed]:
    """List the segments of one tier that Holdfast wrote."""
    if tier == WARM:
        found = _within(disk.folder(WARM))
        return [one for one in found if session_id in ("", one.session_id)]
    warm_ids = set(small_files.stems(disk.folder(WARM), ENDING))
    found = (one for folder in _cold_folders(session_id) for one in _within(folder))
    return [one for one in found if one.segment_id not in warm_ids]


def list_pending(session_id: str, project: str = "") -> list[Pending]:
    """List what waits to be compressed; empty if a newer Holdfast wrote the queue."""
    try:
        ours = disk.load_queue(session_id).pending
    except NewerFile as error:
        log.add("WARN", "segments", f"{disk.queue_path(session_id)}: {error}")
        ours = []
    known = {one.segment_id for one in ours}
    theirs = disk.foreign_pending(session_id, project)
    return [*ours, *(one for one in theirs if one.segment_id not in known)]


def find(segment_id: str) -> Compressed | None:
    """Find a segment by its id: warm, then cold."""
    if path := location(segment_id):
        return _load(path)
    theirs = [*disk.foreign_warm(""), *disk.foreign_cold("")]
    return next((one for one in theirs if one.segment_id == segment_id), None)


def find_by_prefix(start: str) -> list[Compressed]:
    """List the segments of both tiers whose id begins with `start`."""
    return [one for one in [*warm(), *cold()] if one.segment_id.startswith(start)]


def tier(segment_id: str) -> str:
    path = location(segment_id)
    return "" if not path else WARM if path == _warm_path(segment_id) else COLD


def location(segment_id: str) -> str:
    """Return the segment's file; empty if there is none or the id cannot be a file name."""
    if not formats.is_plain(segment_id):
        return ""
    found = [
        _warm_path(segment_id),
        *(f"{folder}/{segment_id}{ENDING}" for folder in _cold_folders("")),
    ]
    return next((path for path in found if os.path.lexists(path)), "")


def note_access(segment_id: str, now_ms: int) -> None:
    """Count an access, which raises the relevance. Other tools' segments stay unchanged; a failed
    write is only logged."""
    try:
        with disk.hold_segments():
            path = location(segment_id)
            if segment := _load(path) if path else None:
                segment.access_count += 1
                segment.last_accessed = formats.stamp(now_ms)
                segment.relevance_score = formats.score(segment, now_ms)
                _put(path, segment)
    except (NotStored, StoreBusy) as error:
        log.add("WARN", "segments", f"{segment_id} was read, and that was not noted: {error}")


def keep(one: Compressed, now_ms: int) -> Compressed:
    """Store a segment as warm; a model's text already there stays. The caller holds the lock."""
    path = _warm_path(one.segment_id)
    before = _load(path)
    if before is not None and before.metadata.written_by == formats.MODEL:
        before.metadata.own_content = one.compressed_content
        one = before
    one.relevance_score = formats.score(one, now_ms)
    _put(path, one)
    return one


def save(
    segment_id: str, text: str, decisions: list[str], files: list[str], now_ms: int
) -> Compressed:
    """Save a model's text in place of Holdfast's, which stays stored; it is redacted, and limited
    in length."""
    with disk.hold_segments():
        path = location(segment_id)
        one = _load(path) if path else None
        if one is None:
            raise NoSegment(f"there is no segment {places.plain(segment_id)} to save words for")
        replace_text(one, text, decisions, files, now_ms)
        _put(path, one)
        disk.update_queue_entry(one, path)
    return one


def demote(one: Compressed, now_ms: int) -> str:
    """Move a segment from warm to cold and return its new path. The caller holds the lock."""
    one.metadata.archived_at = formats.stamp(now_ms)
    one.relevance_score = formats.score(one, now_ms)
    _put(_cold_path(one), one)
    small_files.remove(_warm_path(one.segment_id))
    return location(one.segment_id)


def prune(one: Compressed, now_ms: int) -> None:
    """Reduce an old archive to its summary and identifiers. The caller holds the lock."""
    left = {name: getattr(one.metadata, name) for name in KEPT_WHEN_PRUNED}
    one.metadata = formats.Metadata(**left, pruned_at=formats.stamp(now_ms))
    one.key_decisions, one.key_files = [], []
    _put(_cold_path(one), one)


def clear(one: Compressed) -> bool:
    """Remove it from every tier. The caller holds the lock."""
    was_warm = small_files.remove(_warm_path(one.segment_id))
    return small_files.remove(_cold_path(one)) or was_warm


def _warm_path(segment_id: str) -> str:
    return disk.folder(WARM, f"{segment_id}{ENDING}")


def _cold_path(one: Compressed) -> str:
    return f"{_cold_folders(one.session_id or 'unknown')[0]}/{one.segment_id}{ENDING}"


def _cold_folders(session_id: str) -> list[str]:
    if session_id:
        return [disk.folder(COLD, places.plain(session_id))]
    return [disk.folder(COLD, name) for name in sorted(folders.names_in(disk.folder(COLD)))]


def _within(folder: str) -> Iterator[Compressed]:
    found = (_load(f"{folder}/{name}{ENDING}") for name in small_files.stems(folder, ENDING))
    return (one for one in found if one is not None)


def _load(path: str) -> Compressed | None:
    data = disk.read(path)
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


def _put(path: str, one: Compressed) -> None:
    one.version = formats.VERSION
    small_files.put(path, formats.encode(one))


def _select(compresseds: list[Compressed], project: str, session_id: str) -> list[Compressed]:
    """Return each segment once, of the given project and session if any, oldest first. Those of
    others come before all of ours, as if they were older: lists show the newest first."""
    each: dict[str, Compressed] = {}
    for compressed in compresseds:
        if session_id and compressed.session_id != session_id:
            continue
        if project and compressed.metadata.project not in ("", project):
            continue
        each.setdefault(compressed.segment_id, compressed)
    return sorted(each.values(), key=lambda one: (is_own(one), one.compressed_at, one.start_turn))


def is_own(one: Compressed) -> bool:
    return one.metadata.written_by != formats.FOREIGN
