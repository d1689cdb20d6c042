"""When a segment changes its tier: values in, verdicts out. All numbers are settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.record import Record
from holdfast.segment import formats, segment
from holdfast.segment.cutter import Cut
from holdfast.segment.formats import Compressed
from holdfast.segment.segment import HOT, Segment
from holdfast.settings.load import Settings


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


def is_cold(cut: Cut, one: Segment, record: Record, limits: Limits) -> bool:
    """Whether a segment was not mentioned for long, is done, and is long enough to compress."""
    return (
        one.tier == HOT
        and one.message_count >= limits.cold_messages
        and cut.since_mention(one) >= limits.cold_turns
        and segment.is_done(record, one)
    )


def cold(cut: Cut, record: Record, limits: Limits) -> list[Segment]:
    return [one for one in cut.segments if is_cold(cut, one, record, limits)]


def old(warm: Sequence[Compressed], turn: int, limits: Limits) -> list[Compressed]:
    """Of one session's warm segments, those that go to the archive."""
    return [one for one in warm if turn - one.end_turn > limits.archive_turns]


def outdated(cold: Sequence[Compressed], now_ms: int, limits: Limits) -> list[Compressed]:
    """Archives that are reduced to their summary."""
    return [
        one
        for one in cold
        if not one.metadata.pruned_at
        and formats.days_since(one.metadata.archived_at or one.compressed_at, now_ms)
        > limits.prune_days
    ]
