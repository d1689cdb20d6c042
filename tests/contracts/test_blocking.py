"""Who waits for whom, as the agents say."""

from __future__ import annotations

import pytest

from holdfast.hub.board import agreements
from holdfast.hub.errors import NotThere
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store

NOW = 1_770_000_000_000


def _add(store: Store, blocked_by: str, blocked_agent: str, **reason: str) -> Row:
    given = {"blocked_by": blocked_by, "blocked_agent": blocked_agent, **reason}
    return store.write(lambda c: agreements.add_wait(c, given, NOW))


@pytest.mark.requirement("A2")
def test_a_second_one_of_a_pair_changes_the_reason(store: Store) -> None:
    first = _add(store, "a", "b", reason="tests")
    assert _add(store, "a", "b") == first
    _add(store, "a", "b", reason="review")
    [held] = store.read(lambda c: agreements.find_waits(c, blocked_by="a"))
    assert (held["blocked_agent"], held["reason"]) == ("b", "review")


@pytest.mark.requirement("A2")
def test_what_is_taken_back_is_gone(store: Store) -> None:
    _add(store, "a", "b")
    store.write(lambda c: agreements.remove_wait(c, blocked_by="a", blocked_agent="b"))
    assert store.read(lambda c: agreements.find_waits(c, blocked_agent="b")) == []
    with pytest.raises(NotThere):
        store.write(lambda c: agreements.remove_wait(c, blocked_by="a", blocked_agent="b"))
