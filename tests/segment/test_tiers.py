"""When a segment changes its tier: the cold rule, the looks, the ages. Values in, verdicts out."""

from __future__ import annotations

import pytest

from holdfast.record.model import Place, Record, Turn
from holdfast.segment import tiers
from holdfast.segment.segment import Segment
from holdfast.segment.tiers import Limits
from holdfast.settings import load
from tests.segment.library_builders import DAY_MS, NOW_MS, a_segment


@pytest.mark.requirement("R2")
@pytest.mark.parametrize(
    ("end", "mentioned", "step", "said", "cold"),
    [
        (30, 30, 50, "Done.", True),
        (30, 30, 49, "Done.", False),
        (30, 31, 50, "Done.", False),
        (30, 30, 50, "", False),
        (2, 2, 50, "Done.", False),
    ],
)
def test_cold_is_unmentioned_for_twenty_steps_done_and_of_five_messages(
    end: int, mentioned: int, step: int, said: str, cold: bool
) -> None:
    turn = Turn("Make the reader skip the mark.", Place(), said=said)
    one = Segment("x_seg_1", [turn], 1, end, 0, 100, [], mentioned)
    assert bool(tiers.cold_segments(Record(op=step), [one], Limits())) is cold


@pytest.mark.requirement("R2")
def test_an_archive_is_outdated_after_thirty_days_once() -> None:
    fresh = a_segment(metadata={"archived_at": "2026-01-01T00:00:00Z"})
    pruned = a_segment(
        metadata={"archived_at": "2025-01-01T00:00:00Z", "pruned_at": "2025-03-01T00:00:00Z"}
    )
    assert tiers.outdated_archives([fresh, pruned], NOW_MS + 30 * DAY_MS, Limits()) == []
    assert tiers.outdated_archives([fresh, pruned], NOW_MS + 31 * DAY_MS, Limits()) == [fresh]


@pytest.mark.requirement("R2")
def test_every_number_is_a_setting() -> None:
    assert Limits.of(load.load(environ={})) == Limits()
    environ = {
        f"HOLDFAST_SEGMENT_{name.upper()}": value
        for name, value in {
            "queue_from": "0.1", "archive_from": "0.2", "check_turns": "3", "cold_turns": "4",
            "cold_messages": "6", "archive_turns": "7", "prune_turns": "8", "prune_days": "9",
        }.items()
    }  # fmt: skip
    assert Limits.of(load.load(environ=environ)) == Limits(0.1, 0.2, 3, 4, 6, 7, 8, 9)
