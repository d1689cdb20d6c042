"""Who waits for whom: no circle, whatever the order and however many ask at once."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hub.board import blocking
from holdfast.hub.errors import NotThere, Refused
from holdfast.hub.store.store import Store
from tests.contracts import parallel_threads

NOW = 1_760_000_000_000
AGENTS = st.sampled_from("abcdefg")
PAIRS = st.lists(st.tuples(AGENTS, AGENTS), max_size=20)


def add(store: Store, blocked_by: str, blocked_agent: str, reason: str | None = None) -> str:
    row = store.write(lambda c: blocking.add(c, blocked_by, blocked_agent, reason, NOW))
    return str(row["id"])


@pytest.mark.requirement("A2")
@given(PAIRS, AGENTS, AGENTS)
def test_a_circle_is_named_exactly_when_there_would_be_one(
    pairs: list[tuple[str, str]], waiting: str, awaited: str
) -> None:
    waits = blocking.group_waits(pairs)
    found = blocking.circle(waits, waiting, awaited)
    assert bool(found) == (waiting in _reachable(pairs, awaited))
    if found:
        assert found[:2] == (waiting, awaited)
        assert found[-1] == waiting
        steps = list(itertools.pairwise(found))
        assert set(steps[1:]) <= set(pairs)
        assert len(set(found[:-1])) == len(found) - 1


def _reachable(pairs: list[tuple[str, str]], start: str) -> set[str]:
    """By brute force: follow everything until nothing is new."""
    found = {start}
    for _ in pairs:
        found |= {awaited for waiting, awaited in pairs if waiting in found}
    return found


@pytest.mark.requirement("A2")
@given(PAIRS)
def test_whoever_asks_before_each_step_never_ends_in_a_circle(pairs: list[tuple[str, str]]) -> None:
    kept: list[tuple[str, str]] = []
    for waiting, awaited in pairs:
        if not blocking.circle(blocking.group_waits(kept), waiting, awaited):
            kept.append((waiting, awaited))
    assert not any(waiting in _reachable(kept, awaited) for waiting, awaited in kept)


@pytest.mark.requirement("A2")
def test_a_circle_of_any_length_is_refused_and_named(store: Store) -> None:
    for n in range(30):
        add(store, f"agent {n + 1}", f"agent {n}")
    with pytest.raises(Refused) as error:
        add(store, "agent 0", "agent 30")
    assert str(error.value).endswith(
        "agent 30 waits for agent 0 waits for "
        + " waits for ".join(f"agent {n}" for n in range(1, 31))
    )
    assert not store.read(lambda c: blocking.find_blockings(c, "agent 30")).waits_for


@pytest.mark.requirement("A2")
def test_an_agent_cannot_block_itself(store: Store) -> None:
    with pytest.raises(Refused, match="cannot block itself"):
        add(store, "a", "a")


@pytest.mark.requirement("A2")
def test_a_second_one_of_a_pair_changes_the_reason(store: Store) -> None:
    first = add(store, "a", "b", "tests")
    assert add(store, "a", "b") == first
    assert store.read(lambda c: blocking.find_blockings(c, "b")).waits_for[0]["reason"] == "tests"
    add(store, "a", "b", "review")
    [held] = store.read(lambda c: blocking.find_blockings(c, "a")).holds_up
    assert (held["blocked_agent"], held["reason"]) == ("b", "review")


@pytest.mark.requirement("A2")
def test_what_is_taken_back_no_longer_closes_a_circle(store: Store) -> None:
    add(store, "a", "b")
    store.write(lambda c: blocking.remove(c, "a", "b"))
    assert store.read(lambda c: blocking.is_blocked(c, "a", "b")) is False
    second = add(store, "b", "a")
    assert store.read(lambda c: blocking.is_blocked(c, "b", "a")) is True
    store.write(lambda c: blocking.remove_by_id(c, second))
    with pytest.raises(NotThere):
        store.write(lambda c: blocking.remove(c, "b", "a"))


@pytest.mark.requirement("A2", "A4")
def test_two_that_close_a_circle_from_both_ends_do_not_both_get_through(
    store: Store, store_url: str
) -> None:
    for n in range(4):
        add(store, f"m{n}", f"a{n}")
        got = parallel_threads.threads(
            store_url,
            [
                lambda c, n=n: blocking.add(c, f"b{n}", f"m{n}", None, NOW),  # type: ignore[misc]
                lambda c, n=n: blocking.add(c, f"a{n}", f"b{n}", None, NOW),  # type: ignore[misc]
            ],
        )
        assert sum(isinstance(one, Refused) for one in got) == 1
        assert sum(isinstance(one, dict) for one in got) == 1
