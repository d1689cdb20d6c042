"""A segment as the queue has it while it waits to be compressed, and back."""

from __future__ import annotations

from holdfast.segment import relevance
from holdfast.segment.cutter import Cut
from holdfast.segment.formats import Pending
from holdfast.segment.segment import Segment
from holdfast.wire.mark import CHARS_PER_TOKEN


def pending(known: Cut, one: Segment, topic: str, now_ms: int) -> Pending:
    return Pending(
        segment_id=one.segment_id,
        topic=topic,
        start_turn=one.start_turn,
        end_turn=one.end_turn,
        message_count=one.message_count,
        turns_since_mention=known.since_mention(one),
        queued_at_turn=known.turn,
        timestamp=relevance.stamp(now_ms),
        start_byte=one.start_byte,
        end_byte=one.end_byte,
    )


def segment(waiting: Pending) -> Segment:
    """As much as the queue knows of a segment the cut has lost."""
    return Segment(
        segment_id=waiting.segment_id,
        start_turn=waiting.start_turn,
        end_turn=waiting.end_turn,
        start_byte=waiting.start_byte,
        end_byte=waiting.end_byte,
        message_count=waiting.message_count,
        tokens=int((waiting.end_byte - waiting.start_byte) / CHARS_PER_TOKEN),
    )
