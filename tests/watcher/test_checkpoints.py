"""Who is saved next: values in, a verdict out."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.settings.load import Settings
from holdfast.settings.table import TABLE
from holdfast.watcher.watch import (
    DueCheckpoint,
    Glance,
    LiveTranscript,
    choose_per_project,
    reason,
    with_past,
)
from holdfast.window.guard import IDLE_MS

SETTINGS = Settings({one.name: one.default for one in TABLE})
NOW_MS = 10**12


def a_glance(used: int = 61, *, name: str = "s1", project: str = "/p", **own: int) -> Glance:
    """Of an edge of 100 tokens."""
    found = LiveTranscript(f"/t/{name}.jsonl", name, "", NOW_MS)
    saved = own.get("saved", 0), own.get("saved_tokens", 0)
    return Glance(found, "/w", project, used, 100, *saved, SETTINGS)


PLACES = st.sampled_from(["/p", "/q", "/r"])
DUE = st.lists(
    st.tuples(st.integers(1, 200), PLACES, st.sampled_from(["context_60_percent", "active_30"])),
    max_size=20,
)


@pytest.mark.requirement("A5")
@given(DUE, st.dictionaries(PLACES, st.floats(0, 100)))
def test_never_two_of_one_project_and_never_one_too_soon(
    some: list[tuple[int, str, str]], last: dict[str, float]
) -> None:
    due = [DueCheckpoint(a_glance(used, project=place), why) for used, place, why in some]
    chosen = choose_per_project(due, last, 100.0)
    projects = [one.glance.project for one in chosen]
    assert len(set(projects)) == len(projects)
    apart = SETTINGS.whole("watch_apart_seconds")
    assert all(100.0 - last.get(place, -apart) >= apart for place in projects)
    for one in chosen:
        mine = [other for other in due if other.glance.project == one.glance.project]
        order = [(other.reason.startswith("active"), -other.glance.used_ratio) for other in mine]
        assert order[mine.index(one)] == min(order)


@pytest.mark.requirement("A5", "G6")
def test_a_checkpoint_is_due_at_the_mark_and_not_soon_after_one() -> None:
    assert reason(a_glance(60), NOW_MS) == "context_60_percent"
    assert reason(a_glance(59), NOW_MS) == ""
    assert reason(a_glance(60, saved=NOW_MS - 119_000), NOW_MS) == ""
    assert reason(a_glance(60, saved=NOW_MS - 120_000), NOW_MS) == "context_60_percent"
    assert reason(a_glance(90, saved=1, saved_tokens=61), NOW_MS) == ""
    worked = replace(a_glance(10), active_ms=30 * 60_000)
    assert reason(worked, NOW_MS) == "active_30_minutes"


@pytest.mark.requirement("A5", "X6")
@given(st.lists(st.integers(0, 2 * NOW_MS), max_size=30))
def test_work_is_never_more_than_the_time_that_passed(times: list[int]) -> None:
    seen, noted = None, []
    for at in times:
        now = a_glance(10)
        seen = with_past(seen, replace(now, found=replace(now.found, changed_ms=at)))
        noted.append(seen.active_ms)
    assert noted == sorted(noted), "a clock that jumps takes nothing away"
    assert all(after <= n * IDLE_MS for n, after in enumerate(noted))
