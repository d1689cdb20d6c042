"""Move segments between tiers: queue cold ones, compress them, archive old ones, prune, report.

One such pass is a roll. Each of its steps is on disk before the next begins and can be repeated:
after a kill the next roll continues. No compaction waits for it: it runs after a tool call, or by
command. When a segment changes its tier is judged from values alone; all numbers are settings.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from holdfast.files import atomic, folders, lock
from holdfast.files.folders import FolderPlace
from holdfast.record.model import Record
from holdfast.record.reader import read_record
from holdfast.redact import redact
from holdfast.segment import compress, cutter, disk, formats, library, segment
from holdfast.segment.cutter import Cut
from holdfast.segment.errors import NewerSegments, NotStored, SegmentsBusy
from holdfast.segment.formats import Compressed, Done, Queue
from holdfast.segment.segment import COLD, HOT, WARM, Segment
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.text.numbers import counted
from holdfast.transcript.reader import Unreadable
from holdfast.wire import log, places

MOST_AT_ONCE = 20  # the rest waits for the next roll
MOST_STATE_BYTES = 32 << 20
MOST_WARM = 2000  # beyond it the least relevant move to the cold tier, of any session


@dataclass(frozen=True, slots=True)
class Limits:
    queue_from: float = 0.60
    archive_from: float = 0.80
    check_turns: int = 10
    cold_turns: int = 20
    cold_messages: int = 5
    archive_turns: int = 50
    prune_turns: int = 50
    prune_days: int = 30

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        return cls(
            queue_from=settings.share("segment_queue_from"),
            archive_from=settings.share("segment_archive_from"),
            check_turns=settings.whole("segment_check_turns"),
            cold_turns=settings.whole("segment_cold_turns"),
            cold_messages=settings.whole("segment_cold_messages"),
            archive_turns=settings.whole("segment_archive_turns"),
            prune_turns=settings.whole("segment_prune_turns"),
            prune_days=settings.whole("segment_prune_days"),
        )


def is_due(turn: int, last_turn: int, every: int) -> bool:
    """Whether so many turns have passed. A count below the last one belongs to another file."""
    return turn - last_turn >= every or turn < last_turn


def _is_cold(cut: Cut, one: Segment, record: Record, limits: Limits) -> bool:
    """Whether a segment was not mentioned for long, is done, and is long enough to compress."""
    return (
        one.tier == HOT
        and one.message_count >= limits.cold_messages
        and cut.since_mention(one) >= limits.cold_turns
        and segment.is_done(record, one)
    )


def cold_segments(cut: Cut, record: Record, limits: Limits) -> list[Segment]:
    return [one for one in cut.segments if _is_cold(cut, one, record, limits)]


def old_segments(warm: Sequence[Compressed], turn: int, limits: Limits) -> list[Compressed]:
    """Of one session's warm segments, those that go to the archive."""
    return [one for one in warm if turn - one.end_turn > limits.archive_turns]


def outdated_archives(cold: Sequence[Compressed], now_ms: int, limits: Limits) -> list[Compressed]:
    """Archives that are reduced to their summary."""
    return [
        one
        for one in cold
        if not one.metadata.pruned_at
        and formats.days_since(one.metadata.archived_at or one.compressed_at, now_ms)
        > limits.prune_days
    ]


class RollReport(msgspec.Struct):
    """What one roll did."""

    session_id: str
    turn: int = 0
    looked: bool = False
    why_not: str = ""
    ready: int = 0  # segments that were not compressed because of that
    compressed: list[Done] = []
    still_pending: int = 0
    safe_tokens: int = 0  # of segments still in the window, less their compressed text
    archived: int = 0
    pruned: int = 0
    errors: list[str] = []
    exit_code: int = 1  # of the worst error, for a command

    @property
    def line(self) -> str:
        """The report for the user. Writing a file frees no tokens; it makes them safe to drop."""
        gone = sum("/cold/" in one.storage_location for one in self.compressed)
        older = self.archived - gone
        if not self.compressed:
            return (
                f"Archived {_count_segments(older)}; `holdfast segments --cold` lists them"
                if older
                else ""
            )
        before = sum(one.original_tokens for one in self.compressed)
        after = sum(one.compressed_tokens for one in self.compressed)
        count = _count_segments(len(self.compressed))
        line = f"Compressed {count} ({counted(before, 'token')} → {counted(after, 'token')})"
        line += f"; {_where(len(self.compressed) - gone, gone)}"
        line += f"; {older} older ones moved to the archive" if older else ""
        safe = counted(self.safe_tokens, "token")
        return f"{line}; the next compaction can drop about {safe}" if self.safe_tokens else line


def _where(warm: int, cold: int) -> str:
    """Say which command lists the segments: the oldest may be archived at once."""
    if warm and cold:
        return f"`holdfast segments` lists {warm}, with --cold also the {cold} oldest"
    return f"`holdfast segments{' --cold' if cold else ''}` lists them"


def _count_segments(number: int) -> str:
    return counted(number, "segment")


def roll(
    transcript: str,
    *,
    session_id: str,
    record: Record | None = None,
    project: str = "",
    used_ratio: float = 0.0,
    now_ms: int = 0,
    force: bool = False,
) -> RollReport:
    """Compress one session; `record` is its current record, which is read if not given. `force`:
    now, however full the window is. Raises Unreadable without a transcript and NotStored if nothing
    can be written."""
    now_ms = now_ms or int(time.time() * 1000)
    record = record or read_record(transcript)
    report = RollReport(session_id)
    with lock.hold(_place(session_id), patience=0.5) as ours:
        if not ours:
            if why := lock.why_not_lockable(_place(session_id)):
                raise NotStored(why)
            report.why_not = "another process compresses this session"
            return report
        known = cut_of(transcript, session_id, record)
        report.turn = known.turn
        try:
            _look(known, record, transcript, project, used_ratio, now_ms, force, report)
        except (NewerSegments, NotStored, SegmentsBusy) as error:
            report.errors.append(str(error))
            report.exit_code = error.exit_code
        _remember(known)
    return report


def cut_of(transcript: str, session_id: str, record: Record) -> Cut:
    """Cut the session as far as it goes, reading only new lines."""
    path = f"{_place(session_id).path}/state.json"
    known = cutter.load(places.read_small(path, MOST_STATE_BYTES))
    if known is None or known.session_id != session_id or not cutter.goes_on(known, transcript):
        known = Cut(session_id=session_id)
    return cutter.read(known, transcript, record)


def _look(
    known: Cut,
    record: Record,
    transcript: str,
    project: str,
    used_ratio: float,
    now_ms: int,
    force: bool,
    report: RollReport,
) -> None:
    limits = Limits.of(settings_load.load(project))
    with disk.hold_segments():
        mine = disk.load_queue(known.session_id)
        if not force and not is_due(known.turn, mine.last_check_turn, limits.check_turns):
            report.why_not = f"last looked at step {mine.last_check_turn}"
            report.ready = _count_ready(known, record, mine, limits)
            return
        report.looked = True
        _settle_tiers(known, mine)
        _forget_strangers(known, mine, transcript)
        if force or used_ratio >= limits.queue_from:
            _queue(known, record, mine, limits, now_ms)
        else:
            report.why_not = (
                f"the window is {used_ratio:.0%} full, and topics are compressed from "
                f"{limits.queue_from:.0%} on"
            )
            report.ready = _count_ready(known, record, mine, limits)
        mine.last_check_turn = known.turn
        disk.save_queue(known.session_id, mine)
    _compress(known, record, mine, transcript, project, now_ms, report)
    with disk.hold_segments():
        if used_ratio >= limits.archive_from:
            _archive(known, limits, now_ms, report)
        if force or is_due(known.turn, mine.last_prune_turn, limits.prune_turns):
            _prune(known, limits, now_ms, report)


def _settle_tiers(known: Cut, mine: Queue) -> None:
    """Skip what is stored already: the cut may have been lost, or a roll interrupted."""
    for row in mine.compressed:
        row.storage_location = library.location(row.segment_id) or row.storage_location
    done = {row.segment_id for row in mine.compressed}
    for one in known.segments:
        if one.segment_id in done:
            one.tier = library.tier(one.segment_id) or one.tier


def _forget_strangers(known: Cut, mine: Queue, transcript: str) -> None:
    """Drop entries of a transcript that was replaced: other text is there now."""
    cut_now = {one.segment_id for one in known.segments}
    for one in list(mine.pending):
        if one.segment_id not in cut_now and one.segment_id != cutter.segment_id(
            known.session_id, transcript, one.start_byte, one.end_byte
        ):
            mine.pending.remove(one)
            log.add("INFO", "segments", f"{one.segment_id} is not in the transcript any more")


def _queue(known: Cut, record: Record, mine: Queue, limits: Limits, now_ms: int) -> None:
    queued = {one.segment_id for one in mine.pending}
    for one in cold_segments(known, record, limits):
        if one.segment_id not in queued:
            topic = redact(segment.topic(record, one))
            mine.pending.append(cutter.queue_entry(known, one, topic, now_ms))


def _count_ready(known: Cut, record: Record, mine: Queue, limits: Limits) -> int:
    """Count what `force` would compress."""
    waiting = {one.segment_id for one in mine.pending}
    return len(waiting | {one.segment_id for one in cold_segments(known, record, limits)})


def _compress(
    known: Cut,
    record: Record,
    mine: Queue,
    transcript: str,
    project: str,
    now_ms: int,
    report: RollReport,
) -> None:
    """Compress without the lock, so that others can write meanwhile."""
    segments = {one.segment_id: one for one in known.segments}
    window_from = known.turn - record.since_summary if record.compactions else 0
    for row in mine.pending[:MOST_AT_ONCE]:
        one = segments.get(row.segment_id) or cutter.segment_from_queue(row)
        try:
            source = compress.source_of(one, record, transcript)
        except Unreadable as error:
            report.errors.append(f"{one.segment_id} stays pending: {error}")
            continue
        made = compress.compress(
            source,
            session_id=known.session_id,
            project=project,
            transcript=os.fspath(transcript),
            now_ms=now_ms,
        )
        _store(known, made, now_ms, report)
        one.tier = WARM
        if one.start_turn > window_from:
            report.safe_tokens += max(0, made.original_tokens - made.compressed_tokens)
    report.still_pending = len(disk.load_queue(known.session_id).pending)


def _store(known: Cut, made: Compressed, now_ms: int, report: RollReport) -> None:
    """Store it first, then take it out of the queue."""
    with disk.hold_segments():
        made = library.keep(made, now_ms)
        mine = disk.load_queue(known.session_id)
        done = disk.done_entry(made, known.turn)
        disk.settle_queue(mine, done)
        disk.save_queue(known.session_id, mine)
    report.compressed.append(done)


def _archive(known: Cut, limits: Limits, now_ms: int, report: RollReport) -> None:
    segments = {one.segment_id: one for one in known.segments}
    mine = disk.load_queue(known.session_id)
    for one in old_segments(library.ours(WARM, known.session_id), known.turn, limits):
        location = library.demote(one, now_ms)
        for row in (*mine.compressed, *report.compressed):
            if row.segment_id == one.segment_id:
                row.storage_location = location
        if one.segment_id in segments:
            segments[one.segment_id].tier = COLD
        report.archived += 1
    if report.archived:
        disk.save_queue(known.session_id, mine)


def _prune(known: Cut, limits: Limits, now_ms: int, report: RollReport) -> None:
    for one in outdated_archives(library.ours(COLD), now_ms, limits):
        library.prune(one, now_ms)
        report.pruned += 1
    warm = sorted(library.ours(WARM), key=lambda one: formats.score(one, now_ms), reverse=True)
    for one in warm[MOST_WARM:]:
        library.demote(one, now_ms)
        report.archived += 1
    mine = disk.load_queue(known.session_id)
    mine.last_prune_turn = known.turn
    disk.save_queue(known.session_id, mine)


def _place(session_id: str) -> FolderPlace:
    return disk.place("cut", places.plain(session_id or "unknown"))


def _remember(known: Cut) -> None:
    """Save the cut. It is an index: if lost, the session is cut again from its transcript."""
    try:
        with folders.enter(_place(known.session_id)) as folder:
            atomic.clear_left(folder)
            atomic.replace_whole(folder, "state.json", cutter.save(known))
    except OSError as error:
        log.add("WARN", "segments", f"the cut was not remembered: {error}")
