"""The library: compressed segments in two tiers, warm (searched by default) and cold (on request).

    warm(project, session_id)   cold(...)   find(id)   pending(session_id)   what there is
    note_access(id, now_ms)                                                  somebody read it
    save(id, text, decisions, files, now_ms)                                 a model's better words

A segment goes from warm to cold by being written there first: after a kill in between it is in
both, and counts as warm. A model's words are cleaned, redacted and checked for length; the text we
made stays behind them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from holdfast.files import folders
from holdfast.files.folders import FolderPlace
from holdfast.redact import redact
from holdfast.segment import disk, formats
from holdfast.segment.errors import (
    DamagedSegment,
    NewerSegments,
    NoSegment,
    NotASave,
    NotStored,
    SegmentsBusy,
)
from holdfast.segment.formats import Compressed, Pending
from holdfast.segment.steps import one_line, visible
from holdfast.wire import log, places

LARGEST_SHARE = 0.2  # at least 80 % fewer tokens
FLOOR_TOKENS = 120  # a small segment needs more than a fifth of itself
MOST_LISTED, LONGEST_LISTED = 60, 400
WARM, COLD = "warm", "cold"


def most_tokens(original_tokens: int) -> int:
    """How long the words for a segment of this size may be."""
    return max(FLOOR_TOKENS, int(original_tokens * LARGEST_SHARE))


def take_words(
    one: Compressed, text: str, decisions: list[str], files: list[str], now_ms: int
) -> None:
    """Replace our words by these. An empty list leaves ours; our text stays stored behind it."""
    words = redact(visible(text)).strip()
    if not words:
        raise NotASave("there are no words to save")
    most = most_tokens(one.original_tokens)
    if formats.tokens(words) > most:
        told = f"{formats.tokens(words):,} tokens for a segment of {one.original_tokens:,}"
        raise NotASave(f"{told} are too many: at most {most:,}")
    if one.metadata.written_by != formats.MODEL:
        one.metadata.own_content = one.compressed_content
        one.metadata.written_by = formats.MODEL
    one.compressed_content = words
    one.compressed_tokens = formats.tokens(words)
    one.compression_ratio = formats.ratio(one.original_tokens, one.compressed_tokens)
    one.key_decisions = _listed(decisions) or one.key_decisions
    one.key_files = _listed(files) or one.key_files
    one.compressed_at = formats.stamp(now_ms)
    one.relevance_score = formats.score(one, now_ms)


def _listed(theirs: list[str]) -> list[str]:
    told = [redact(one_line(text, LONGEST_LISTED)) for text in theirs[:MOST_LISTED]]
    return list(dict.fromkeys(filter(None, told)))


def warm(project: str = "", session_id: str = "") -> list[Compressed]:
    """Every warm segment, oldest first; those that other tools left elsewhere too."""
    found = [*ours(WARM), *disk.foreign_warm(project)]
    return _chosen(found, project, session_id)


def cold(project: str = "", session_id: str = "") -> list[Compressed]:
    """Every cold segment that is not warm at the same time."""
    found = [*ours(COLD, session_id), *disk.foreign_cold(project)]
    return _chosen(found, project, session_id)


def ours(tier: str, session_id: str = "") -> list[Compressed]:
    """Those we wrote, of one tier."""
    if tier == WARM:
        found = list(_within(disk.place(WARM)))
        return [one for one in found if session_id in ("", one.session_id)]
    lies_warm = set(disk.names(disk.place(WARM)))
    found = [one for place in _cold_places(session_id) for one in _within(place)]
    return [one for one in found if one.segment_id not in lies_warm]


def pending(session_id: str, project: str = "") -> list[Pending]:
    """What waits to be compressed; empty if a newer Holdfast wrote the queue."""
    try:
        ours = disk.load_queue(session_id).pending
    except NewerSegments as error:
        log.add("WARN", "segments", f"{disk.queue_path(session_id)}: {error}")
        ours = []
    known = {one.segment_id for one in ours}
    theirs = disk.foreign_pending(session_id, project)
    return [*ours, *(one for one in theirs if one.segment_id not in known)]


def find(segment_id: str) -> Compressed | None:
    """By its id: warm, then cold."""
    lies = _lies(segment_id)
    if lies is not None:
        return _loaded(lies, segment_id)
    theirs = [*disk.foreign_warm(""), *disk.foreign_cold("")]
    return next((one for one in theirs if one.segment_id == segment_id), None)


def beginning(start: str) -> list[Compressed]:
    """The segments of both tiers whose id begins with `start`."""
    return [one for one in [*warm(), *cold()] if one.segment_id.startswith(start)]


def tier(segment_id: str) -> str:
    lies = _lies(segment_id)
    return "" if lies is None else WARM if lies.inside.endswith(WARM) else COLD


def location(segment_id: str) -> str:
    """The file it lies in, or nothing."""
    lies = _lies(segment_id)
    return f"{lies.path}/{segment_id}.json" if lies else ""


def note_access(segment_id: str, now_ms: int) -> None:
    """It was read: counted, and more relevant for it. One that is not ours stays as it is, and one
    that can be read and not written is read all the same."""
    try:
        _note_access(segment_id, now_ms)
    except (NotStored, SegmentsBusy) as error:
        log.add("WARN", "segments", f"{segment_id} was read, and that was not noted: {error}")


def _note_access(segment_id: str, now_ms: int) -> None:
    with disk.held():
        lies = _lies(segment_id)
        one = _loaded(lies, segment_id) if lies else None
        if lies is None or one is None:
            return
        one.access_count += 1
        one.last_accessed = formats.stamp(now_ms)
        one.relevance_score = formats.score(one, now_ms)
        _put(lies, one)


def keep(one: Compressed, now_ms: int) -> Compressed:
    """Store it as warm; a model's words already there stay, with ours behind them. The caller
    holds the lock."""
    before = _loaded(disk.place(WARM), one.segment_id)
    if before is not None and before.metadata.written_by == formats.MODEL:
        before.metadata.own_content = one.compressed_content
        one = before
    one.relevance_score = formats.score(one, now_ms)
    _put(disk.place(WARM), one)
    return one


def save(
    segment_id: str, text: str, decisions: list[str], files: list[str], now_ms: int
) -> Compressed:
    """A model's words in place of ours, which stay behind them; redacted, and no longer than a
    compressed segment may be."""
    with disk.held():
        lies = _lies(segment_id)
        one = _loaded(lies, segment_id) if lies else None
        if lies is None or one is None:
            raise NoSegment(f"there is no segment {places.plain(segment_id)} to save words for")
        take_words(one, text, decisions, files, now_ms)
        _put(lies, one)
        disk.tell_again(one, f"{lies.path}/{segment_id}.json")
    return one


def demote(one: Compressed, now_ms: int) -> str:
    """From warm to cold; where it lies now. The caller holds the lock."""
    one.metadata.archived_at = formats.stamp(now_ms)
    one.relevance_score = formats.score(one, now_ms)
    _put(_cold_place(one.session_id), one)
    disk.remove(disk.place(WARM), f"{one.segment_id}.json")
    return location(one.segment_id)


def prune(one: Compressed, now_ms: int) -> None:
    """An old archive keeps its summary and what it is known by; the caller holds the lock."""
    kept = formats.Metadata(
        task_completed=one.metadata.task_completed,
        project=one.metadata.project,
        transcript=one.metadata.transcript,
        first_uuid=one.metadata.first_uuid,
        last_uuid=one.metadata.last_uuid,
        start_byte=one.metadata.start_byte,
        end_byte=one.metadata.end_byte,
        written_by=one.metadata.written_by,
        archived_at=one.metadata.archived_at,
        pruned_at=formats.stamp(now_ms),
    )
    one.key_decisions, one.key_files, one.metadata = [], [], kept
    _put(_cold_place(one.session_id), one)


def clear(one: Compressed) -> bool:
    """Remove it from every tier. The caller holds the lock."""
    name = f"{one.segment_id}.json"
    lay_warm = disk.remove(disk.place(WARM), name)
    return disk.remove(_cold_place(one.session_id), name) or lay_warm


def _lies(segment_id: str) -> FolderPlace | None:
    """Where it lies: nowhere, for an id that names no file."""
    if not formats.is_plain(segment_id):
        return None
    name = f"{segment_id}.json"
    found = [disk.place(WARM), *_cold_places("")]
    return next((place for place in found if os.path.lexists(f"{place.path}/{name}")), None)


def _cold_place(session_id: str) -> FolderPlace:
    return disk.place(COLD, places.plain(session_id or "unknown"))


def _cold_places(session_id: str) -> list[FolderPlace]:
    if session_id:
        return [_cold_place(session_id)]
    return [disk.place(COLD, name) for name in sorted(folders.names_in(disk.place(COLD).path))]


def _within(place: FolderPlace) -> Iterator[Compressed]:
    for segment_id in disk.names(place):
        found = _loaded(place, segment_id)
        if found is not None:
            yield found


def _loaded(place: FolderPlace, segment_id: str) -> Compressed | None:
    path = f"{place.path}/{segment_id}.json"
    data = disk.read(path)
    if not data:
        return None
    try:
        return formats.compressed(data, segment_id)
    except DamagedSegment as error:
        disk.set_aside(path, str(error))
    except NewerSegments as error:
        log.add("WARN", "segments", f"{path} was left alone: {error}")
    return None


def _put(place: FolderPlace, one: Compressed) -> None:
    one.version = formats.VERSION
    disk.put(place, f"{one.segment_id}.json", formats.encode(one))


def _chosen(found: list[Compressed], project: str, session_id: str) -> list[Compressed]:
    """Each once, ours first; of this project and session where they are named."""
    each: dict[str, Compressed] = {}
    for one in found:
        if session_id and one.session_id != session_id:
            continue
        if project and one.metadata.project not in ("", project):
            continue
        each.setdefault(one.segment_id, one)
    return sorted(each.values(), key=lambda one: (one.compressed_at, one.start_turn))
