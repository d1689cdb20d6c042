"""The mark: what is written is read, and whatever is not exactly that means: wake."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.wire import mark

NUMBERS = st.integers(0, 10**15)
DENSITIES = st.integers(500, 20_000).map(lambda milli: milli / 1000)
MARKS = st.builds(
    mark.Mark,
    above=NUMBERS,
    below=NUMBERS,
    spool_bytes=NUMBERS,
    time_ms=NUMBERS,
    density=DENSITIES,
    overhead=NUMBERS,
    owed=NUMBERS,
    stop=NUMBERS,
)
WRITTEN = mark.Mark(60_000, 1_000, 4_096, 1_700_000_000_000, 3.5, 20_000, 3, 150_000).line()


def _fields(one: mark.Mark) -> dict[str, float]:
    return {name: getattr(one, name) for name in mark.Mark.__slots__}


@pytest.mark.requirement("W8", "X2")
@given(MARKS)
def test_what_is_written_is_what_is_read(one: mark.Mark) -> None:
    found = mark.parse(one.line().encode())
    assert found is not None
    assert _fields(found) == pytest.approx(_fields(one), abs=0.001)


@pytest.mark.slow
@pytest.mark.requirement("X2")
@pytest.mark.parametrize("number", range(1, mark.FIELDS + 1))
@pytest.mark.parametrize("spoiled", ["x", "-1", "1.5", "1e3", "", "²"])
def test_a_mark_with_one_field_spoiled_is_none(number: int, spoiled: str) -> None:
    fields = WRITTEN.split()
    fields[number] = spoiled
    assert mark.parse(" ".join(fields).encode()) is None


@pytest.mark.requirement("X2")
@pytest.mark.parametrize(
    "data",
    [
        WRITTEN.rsplit(maxsplit=1)[0],
        WRITTEN.rstrip() + " 0",
        WRITTEN.replace(mark.VERSION, "v1", 1),
        WRITTEN.replace(mark.VERSION, "v3", 1),
        WRITTEN.replace(mark.VERSION + " ", "", 1),
        mark.VERSION,
        "",
    ],
)
def test_a_mark_of_another_length_or_version_is_none(data: str) -> None:
    assert mark.parse(WRITTEN.encode()) is not None
    assert mark.parse(data.encode()) is None
