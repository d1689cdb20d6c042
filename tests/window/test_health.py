"""What whoever gives out work asks: is there room, and should it be saved first?"""

from __future__ import annotations

import pytest

from holdfast.window import health


@pytest.mark.requirement("G10")
def test_a_task_as_large_as_the_room_fits_and_of_an_unknown_room_nobody_knows() -> None:
    assert health.task_fits(100, 100) is True
    assert health.task_fits(100, 101) is False
    assert health.task_fits(None, 1) is None


@pytest.mark.requirement("A5", "G10")
@pytest.mark.parametrize(
    ("used", "saved", "wanted"),
    [
        (59, 0, "none"),
        (60, 0, "trigger_checkpoint"),
        (90, 59, "trigger_checkpoint"),
        (90, 60, "none"),
        (30, 90, "none"),
    ],
)
def test_a_full_window_wants_a_checkpoint_until_one_was_kept(
    used: int, saved: int, wanted: str
) -> None:
    assert health.recommend_action(used, 100, saved, 0.60) == wanted
    assert health.judge_status(used / 100, 0.60) == ("context_high" if used >= 60 else "ok")
