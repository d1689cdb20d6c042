"""Times of rows: written as ISO 8601, and read back to the millisecond."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hub import row_times

YEAR_1_MS, YEAR_10000_MS = -62_135_596_800_000, 253_402_300_800_000


@given(st.integers(YEAR_1_MS, YEAR_10000_MS - 1))
def test_a_time_is_written_as_the_calendar_writes_it(ms: int) -> None:
    seconds, milliseconds = divmod(ms, 1000)
    at = datetime.fromtimestamp(0, UTC).replace(tzinfo=None)
    at = at.fromordinal(at.toordinal() + seconds // 86_400)
    hours, left = divmod(seconds % 86_400, 3600)
    clock = f"{hours:02}:{left // 60:02}:{left % 60:02}.{milliseconds:03}Z"
    assert row_times.to_iso(ms) == f"{at.date().isoformat()}T{clock}"
    assert row_times.from_iso(row_times.to_iso(ms) or "") == ms


@pytest.mark.parametrize("ms", [None, YEAR_1_MS - 1, YEAR_10000_MS, 10**30, -(10**30)])
def test_a_time_that_no_calendar_holds_is_none(ms: int | None) -> None:
    assert row_times.to_iso(ms) is None
