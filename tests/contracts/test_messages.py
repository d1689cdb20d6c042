"""Messages and their delivery: to whom, in which order, and never twice."""

from typing import Any

import pytest
import sqlalchemy as sa

from holdfast.hub.board import messages
from holdfast.hub.board.messages import Ask, DeliveryInbox
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import agent_contexts
from holdfast.hub.tree.sessions import put_project
from tests.contracts import parallel_threads

NOW = 1_760_000_000_000
TOPIC = "task.created"


def posted(store: Store, words: str = "hello", topic: str = TOPIC, **more: Any) -> str:
    at_ms = more.pop("at_ms", NOW)
    row = messages.draft(more.pop("from_agent", "a"), topic, words, at_ms, **more)
    store.write(lambda c: messages.post(c, row))
    return str(row["id"])


def read(store: Store, agent_id: str, now_ms: int = NOW, **more: Any) -> DeliveryInbox:
    ask = Ask(agent_id, now_ms, **more)
    looked = store.read(lambda c: messages.look(c, ask))
    return store.write(lambda c: messages.mark(c, ask, looked))


def unread(store: Store, agent_id: str, now_ms: int = NOW, **more: Any) -> list[str]:
    found = read(store, agent_id, now_ms, **more).rows
    return [row["content"]["message"] for row in found if not row["already_read"]]


def project(store: Store, path: str) -> str:
    return str(store.write(lambda c: put_project(c, {"path": path}, NOW))["id"])


@pytest.mark.requirement("A2")
def test_what_was_read_never_crowds_out_what_was_not(store: Store) -> None:
    for n in range(3):
        posted(store, f"loud {n}", priority=9)
    assert len(unread(store, "b")) == 3
    posted(store, "quiet")
    inbox = read(store, "b", limit=2)
    assert [row["content"]["message"] for row in inbox.rows] == ["loud 0", "quiet"]
    assert [row["already_read"] for row in inbox.rows] == [True, False]


@pytest.mark.requirement("A2")
def test_unread_remaining_counts_all_that_is_for_the_agent(store: Store) -> None:
    for n in range(4):
        posted(store, f"{n}", at_ms=NOW + n)
    posted(store, "other topic", "task.failed")
    posted(store, "not for b", to_agent="c")
    assert read(store, "b", topic="agent.started").unread_remaining == 5
    assert read(store, "b", limit=1).unread_remaining == 4
    assert read(store, "b", topic="task.failed").unread_remaining == 3
    assert read(store, "b", since_ms=NOW + 2).unread_remaining == 2
    assert read(store, "b", broadcasts=False).unread_remaining == 2
    assert read(store, "b").unread_remaining == 0


@pytest.mark.requirement("A2")
def test_a_project_s_broadcast_stays_in_the_project(store: Store) -> None:
    here, there = project(store, "/w/here"), project(store, "/w/there")
    posted(store, "here", project_id=here)
    posted(store, "there", project_id=there)
    posted(store, "anywhere")
    placed = {"id": "x", "agent_id": "b", "agent_type": "developer", "project_id": here}
    store.write(lambda c: c.execute(sa.insert(agent_contexts), {**placed, "updated_ms": NOW}))
    assert unread(store, "b") == ["here", "anywhere"]
    assert unread(store, "c", project_id=there) == ["there", "anywhere"]
    assert unread(store, "nobody knows where") == ["here", "there", "anywhere"]


@pytest.mark.requirement("A2")
def test_who_subscribed_gets_broadcasts_of_its_topics_and_all_that_is_to_it(store: Store) -> None:
    store.write(lambda c: messages.subscribe(c, {"agent_id": "b", "topic": "task.failed"}, NOW))
    posted(store, "created")
    posted(store, "failed", "task.failed")
    posted(store, "to b", to_agent="b")
    assert unread(store, "b") == ["failed", "to b"]
    assert unread(store, "c") == ["created", "failed"]
    store.write(lambda c: messages.unsubscribe(c, agent_id="b", topic="task.failed"))
    assert unread(store, "b") == ["created"]


@pytest.mark.requirement("A2", "A4")
def test_of_readers_at_once_only_one_gets_a_message_as_unread(store: Store, store_url: str) -> None:
    for n in range(20):
        posted(store, f"{n}", to_agent="b" if n % 2 else None)
    ask = Ask("b", NOW)
    looked = store.read(lambda c: messages.look(c, ask))
    got = parallel_threads.threads(store_url, [lambda c: messages.mark(c, ask, looked)] * 6)
    fresh: list[str] = []
    for inbox in got:
        assert isinstance(inbox, DeliveryInbox)
        fresh += inbox.unread_ids
    assert sorted(fresh) == sorted(row["id"] for row in looked.rows)
