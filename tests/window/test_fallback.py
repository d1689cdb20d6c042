"""Where no usage can be read: guesses, in order, that say they are guesses."""

import pytest

from holdfast.window import measurement
from holdfast.wire.spool import SpoolLine

KB = 1024


@pytest.mark.requirement("W6")
@pytest.mark.parametrize(
    ("size", "share"), [(500 * KB, 0.50), (750 * KB, 0.75), (1024 * KB, 0.90), (9_000 * KB, 1.0)]
)
def test_bytes_stand_for_the_old_zones(size: int, share: float) -> None:
    reading = measurement.from_bytes(size, 100_000, 0)
    assert reading is not None
    assert reading.used_tokens == pytest.approx(share * 100_000)
    assert (reading.basis, reading.estimated) == ("bytes", True)


@pytest.mark.requirement("W6")
def test_counts_are_weighted_and_capped() -> None:
    events = [("UserPromptSubmit", ""), ("PostToolUse", "Read"), ("PostToolUse", "Edit")]
    events += [("PostToolUse", "Bash"), ("PostToolUseFailure", "Bash"), ("PostToolUse", "Agent")]
    lines = [SpoolLine(1, event, 0, tool=tool) for event, tool in [*events, ("Stop", "")]]
    reading = measurement.from_weights(lines, 100_000, 0)
    assert reading is not None
    assert reading.used_tokens == pytest.approx((0.01 + 0.02 + 0.015 + 0.005 * 2 + 0.05) * 100_000)
    full = measurement.from_weights(lines * 50, 100_000, 0)
    assert full is not None
    assert full.used_tokens == 100_000


@pytest.mark.requirement("W6")
def test_a_window_of_a_million_holds_no_more_tokens_than_a_quarter_of_the_bytes() -> None:
    reading = measurement.from_bytes(1_049 * 1024, 967_000, 0)
    assert reading is not None
    assert reading.used_tokens == 268_544
    assert measurement.from_weights([], 100_000, 0) is None
