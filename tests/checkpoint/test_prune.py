"""Retention: who may go is a judgement on values; letting go looks at the file once more."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.checkpoint import index, snapshot
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.checkpoint.prune import find_spent, prune
from holdfast.checkpoint.write import keep
from tests.checkpoint.documents import (
    NOON,
    a_document,
    a_retention,
    an_entry,
    final_names,
    in_project,
)

BY_AGE = a_retention(at_least=0)


def _ages(entries: list[CheckpointEntry]) -> list[str]:
    return [one.id for one in entries]


@pytest.mark.requirement("C10")
def test_at_most_so_many_stay_and_the_oldest_go_first() -> None:
    entries = [an_entry(hours / 24, iteration=100 - hours) for hours in range(60)]
    assert find_spent(entries, NOON, a_retention()) == entries[:49:-1]


@pytest.mark.requirement("C10")
def test_after_a_week_one_a_day_stays_the_newest_of_it() -> None:
    recent = [an_entry(6.9 - n / 100, iteration=90 + n) for n in range(3)]
    day = [an_entry(10 - n / 100, iteration=10 + n) for n in range(4)]
    assert find_spent([*day, *recent], NOON, BY_AGE) == day[:-1]


@pytest.mark.requirement("C10")
def test_after_thirty_days_they_go_but_for_the_last_of_a_session() -> None:
    old = [an_entry(40 - n, iteration=n + 1) for n in range(3)]
    other = an_entry(35.5, session_id="s2")
    agents = an_entry(34.5, session_id="s2", agent_id="a1", iteration=7)
    orphan = an_entry(33.5, session_id="s3", agent_id="a2")
    assert find_spent([*old, other, agents, orphan], NOON, BY_AGE) == [*old[:2], agents]


@pytest.mark.requirement("C10", "X6")
def test_a_clock_that_jumped_a_year_leaves_the_newest_five() -> None:
    entries = [an_entry(days, iteration=60 - days) for days in range(20)]
    gone = find_spent(entries, NOON + timedelta(days=365), a_retention())
    assert [one for one in entries if one not in gone] == entries[:5]


ENTRIES = st.lists(
    st.builds(
        lambda n, days, session, good: an_entry(
            days, path=f"/p/{n}", session_id=session, iteration=n, verified=good
        ),
        st.integers(1, 10**6),
        st.floats(-2, 80),
        st.sampled_from(["s1", "s2", "s3"]),
        st.booleans(),
    ),
    max_size=40,
    unique_by=lambda one: one.path,
)


@pytest.mark.requirement("C10")
@given(ENTRIES, st.integers(0, 10))
def test_the_newest_verified_of_every_session_always_stays(
    entries: list[CheckpointEntry], at_most: int
) -> None:
    retention = a_retention(at_most=at_most)
    gone = find_spent(entries, NOON, retention)
    stays = [one for one in entries if one not in gone]
    for session in {one.session_id for one in entries if one.verified}:
        mine = [one for one in entries if one.verified and one.session_id == session]
        assert max(mine, key=lambda one: one.iteration) in stays
    assert find_spent(stays, NOON, retention) == []
    assert len([one for one in stays if one.verified]) <= max(at_most, 3)


@pytest.mark.requirement("C10")
def test_pruning_removes_files_snapshots_and_entries(tmp_path: Path) -> None:
    ids = [keep(a_document(tmp_path, f"{n}")).id for n in range(5)]
    few = a_retention(at_most=2)
    assert _ages(prune(str(tmp_path), NOON, few).removed) == ids[:3]
    assert final_names(in_project(tmp_path)) == sorted(f"{one}.md" for one in ids[3:])
    assert snapshot.names(str(tmp_path)) == set(ids[3:])
    assert [one.id for one in index.load()] == ids[3:]
    assert prune(str(tmp_path), NOON, few).removed == []


@pytest.mark.requirement("C10", "X6")
def test_one_that_was_edited_is_not_removed(tmp_path: Path) -> None:
    first = Path(keep(a_document(tmp_path, "first")).path)
    keep(a_document(tmp_path, "second", created=NOON + timedelta(hours=1)))
    first.write_bytes(first.read_bytes() + b"\n## Mine\n- note\n")
    found = prune(str(tmp_path), NOON + timedelta(days=60), BY_AGE)
    assert found.removed == []
    assert first.exists()
