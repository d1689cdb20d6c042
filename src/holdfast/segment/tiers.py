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
from typing import Any, NamedTuple

import msgspec

from holdfast.record.model import Record
from holdfast.record.reader import read_record
from holdfast.redact.find import redact
from holdfast.segment import compress, formats, library
from holdfast.segment.compress import Segment
from holdfast.segment.formats import Compressed, Done, Pending, Queue
from holdfast.segment.library import COLD, WARM
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.text.numbers import counted
from holdfast.transcript import Unreadable

MOST_AT_ONCE = 20  # the rest waits for the next roll
MOST_WARM = 2000  # beyond it the least relevant move to the cold tier, of any session


class Limits(NamedTuple):
    queue_from: float
    archive_from: float
    check_turns: int
    cold_turns: int
    cold_messages: int
    archive_turns: int
    prune_turns: int
    prune_days: int

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        numbers: Any = (settings.values[f"segment_{name}"] for name in cls._fields)
        return cls(*numbers)


def is_due(turn: int, last_turn: int, every: int) -> bool:
    """Whether so many turns have passed. A count below the last one belongs to another file."""
    return turn - last_turn >= every or turn < last_turn


def cold_segments(record: Record, segments: Sequence[Segment], limits: Limits) -> list[Segment]:
    """List those that were not mentioned for long, are done, and are long enough to compress."""
    return [
        segment
        for segment in segments
        if segment.message_count >= limits.cold_messages
        and record.op - segment.last_mention >= limits.cold_turns
        and compress.is_done(record, segment)
    ]


def outdated_archives(cold: Sequence[Compressed], now_ms: int, limits: Limits) -> list[Compressed]:
    """Archives that are reduced to their summary."""
    return [
        segment
        for segment in cold
        if not segment.metadata.pruned_at
        and formats.days_since(segment.metadata.archived_at or segment.compressed_at, now_ms)
        > limits.prune_days
    ]


class RollReport(msgspec.Struct):
    session_id: str
    turn: int = 0
    why_not: str = ""
    ready: int = 0  # segments that were not compressed because of that
    compressed: list[Done] = []
    still_pending: int = 0
    safe_tokens: int = 0  # of segments still in the window, less their compressed text
    archived: int = 0
    pruned: int = 0
    errors: list[str] = []

    @property
    def line(self) -> str:
        """The report for the user. Writing a file frees no tokens; it makes them safe to drop."""
        where = f"`holdfast segments{' --cold' if self.archived else ''}` lists them"
        if not self.compressed:
            return f"Archived {counted(self.archived, 'segment')}; {where}" if self.archived else ""
        before = counted(sum(segment.original_tokens for segment in self.compressed), "token")
        after = counted(sum(segment.compressed_tokens for segment in self.compressed), "token")
        count = counted(len(self.compressed), "segment")
        line = f"Compressed {count} ({before} → {after}); {where}"
        line += f"; {self.archived} older ones moved to the archive" if self.archived else ""
        safe = counted(self.safe_tokens, "token")
        return f"{line}; the next compaction can drop about {safe}" if self.safe_tokens else line


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
    now, however full the window is. Raises Unreadable or NotStored."""
    now_ms = now_ms or int(time.time() * 1000)
    record = record or read_record(transcript)
    report = RollReport(session_id)
    with library.hold_session(session_id) as is_ours:
        if not is_ours:
            report.why_not = "another process compresses this session"
            return report
        report.turn = record.op
        segments = compress.segments(record, session_id)
        limits = Limits.of(settings_load.load(project))
        known = _Roll(session_id, transcript, project, record, now_ms, report, segments, limits)
        known.look(used_ratio, force=force)
    return report


@dataclass(frozen=True, slots=True)
class _Roll:
    session_id: str
    transcript: str
    project: str
    record: Record
    now_ms: int
    report: RollReport
    segments: list[Segment]
    limits: Limits

    def look(self, used_ratio: float, *, force: bool) -> None:
        report, limits, step = self.report, self.limits, self.record.op
        with library.hold_segments():
            queue = library.load_queue(self.session_id)
            for row in queue.compressed:  # a roll may have been killed while it moved one
                row.storage_location = library.location(row.segment_id) or row.storage_location
            known = {segment.segment_id for segment in self.segments}
            queue.pending = [row for row in queue.pending if row.segment_id in known]
            cold = self._cold(queue)
            if not force and not is_due(step, queue.last_check_turn, limits.check_turns):
                report.why_not = f"last looked at step {queue.last_check_turn}"
                report.ready = len(cold)
                return
            if force or used_ratio >= limits.queue_from:
                queue.pending += map(self._pending, cold)
            else:
                report.why_not = (
                    f"the window is {used_ratio:.0%} full, and topics are compressed from "
                    f"{limits.queue_from:.0%} on"
                )
                report.ready = len(cold)
            queue.last_check_turn = step
            library.save_queue(self.session_id, queue)
        waiting = {row.segment_id for row in queue.pending}
        self._compress([segment for segment in self.segments if segment.segment_id in waiting])
        with library.hold_segments():
            queue = library.load_queue(self.session_id)
            if used_ratio >= limits.archive_from:
                for segment in library.ours(WARM):
                    is_own = segment.session_id == self.session_id
                    if is_own and step - segment.end_turn > limits.archive_turns:
                        self._archive(segment, queue)
            if force or is_due(step, queue.last_prune_turn, limits.prune_turns):
                queue.last_prune_turn = step
                self._prune(queue)
            library.save_queue(self.session_id, queue)

    def _cold(self, queue: Queue) -> list[Segment]:
        known = {row.segment_id for row in queue.pending}
        known |= {row.segment_id for row in queue.compressed}
        cold = cold_segments(self.record, self.segments, self.limits)
        new = (segment for segment in cold if segment.segment_id not in known)
        return [segment for segment in new if not library.location(segment.segment_id)]

    def _pending(self, segment: Segment) -> Pending:
        return Pending(
            segment_id=segment.segment_id,
            topic=redact(compress.topic(self.record, segment)),
            start_turn=segment.start_turn,
            end_turn=segment.end_turn,
            message_count=segment.message_count,
            turns_since_mention=self.record.op - segment.last_mention,
            queued_at_turn=self.record.op,
            timestamp=formats.stamp(self.now_ms),
            start_byte=segment.start_byte,
            end_byte=segment.end_byte,
        )

    def _compress(self, ready: list[Segment]) -> None:
        """Compress without the lock, so that others can write meanwhile."""
        record, report = self.record, self.report
        window_from = record.op - record.since_summary if record.compactions else 0
        report.still_pending = len(ready)
        for segment in ready[:MOST_AT_ONCE]:
            try:
                source = compress.read_source(segment, record, self.transcript)
            except Unreadable as error:
                report.errors.append(f"{segment.segment_id} stays pending: {error}")
                continue
            result = compress.compress(
                source,
                session_id=self.session_id,
                project=self.project,
                transcript=os.fspath(self.transcript),
                now_ms=self.now_ms,
            )
            self._store(result)
            if segment.start_turn > window_from:
                report.safe_tokens += max(0, result.original_tokens - result.compressed_tokens)
        report.still_pending -= len(report.compressed)

    def _store(self, segment: Compressed) -> None:
        """Store it first, then move it from pending to compressed in the queue."""
        with library.hold_segments():
            segment = library.keep(segment, self.now_ms)
            row = Done(
                segment_id=segment.segment_id,
                topic=segment.topic,
                compressed_at_turn=self.record.op,
                original_tokens=segment.original_tokens,
                compressed_tokens=segment.compressed_tokens,
                compression_ratio=segment.compression_ratio,
                storage_location=library.location(segment.segment_id),
                timestamp=segment.compressed_at,
                key_files=segment.key_files[:3],
                start_turn=segment.start_turn,
            )
            queue = library.load_queue(self.session_id)
            queue.pending = [row for row in queue.pending if row.segment_id != segment.segment_id]
            others = [row for row in queue.compressed if row.segment_id != segment.segment_id]
            queue.compressed = [*others, row]
            library.save_queue(self.session_id, queue)
        self.report.compressed.append(row)

    def _archive(self, segment: Compressed, queue: Queue) -> None:
        location = library.demote(segment, self.now_ms)
        for row in queue.compressed:
            if row.segment_id == segment.segment_id:
                row.storage_location = location
        self.report.archived += 1

    def _prune(self, queue: Queue) -> None:
        for archive in outdated_archives(library.ours(COLD), self.now_ms, self.limits):
            library.prune(archive, self.now_ms)
            self.report.pruned += 1
        warm = sorted(library.ours(WARM), key=lambda segment: -formats.score(segment, self.now_ms))
        for least in warm[MOST_WARM:]:
            self._archive(least, queue)
