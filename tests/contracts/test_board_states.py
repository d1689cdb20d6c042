"""Messages and claims of the board against a dict, with failing writes among them; both engines."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from sqlalchemy.engine import Connection

from holdfast.hub import ids
from holdfast.hub.board import agreements, messages
from holdfast.hub.board.messages import Ask
from holdfast.hub.errors import AlreadyThere, NotThere
from holdfast.hub.store.store import Store
from holdfast.hub.tree.sessions import put_project
from tests.contracts.session_script import START_MS, emptied
from tests.state_machines import play

AGENTS = st.sampled_from(("a", "b"))
WORKS = st.sampled_from(("parser", "tests"))
MOST = 1_000


class RolledBack(Exception):
    """Raised inside a write: nothing of it may stay."""


class BoardMachine(RuleBasedStateMachine):
    """`holders` maps work to who has it and until when; `unread` are the messages of each agent."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store, self.now_ms = store, START_MS
        store.write(lambda c: put_project(c, {"path": "/p/tide"}, START_MS))
        self.project = ids.project_id("/p/tide")
        self.holders: dict[str, tuple[str, int]] = {}
        self.unread: dict[str, dict[str, int]] = {"a": {}, "b": {}}
        self.read: set[str] = set()

    def _claim(self, work: str, agent: str, seconds: int) -> dict[str, Any]:
        whose = {"project_id": self.project, "agent_id": agent}
        return {**whose, "work": work, "ttl_seconds": seconds}

    def _held_by(self, work: str) -> str:
        agent, until_ms = self.holders.get(work, ("", 0))
        return agent if until_ms > self.now_ms else ""

    @rule(seconds=st.sampled_from((1, 20, 60)))
    def wait(self, seconds: int) -> None:
        self.now_ms += seconds * 1_000

    @rule(work=WORKS, agent=AGENTS, seconds=st.sampled_from((30, 300)))
    def claim(self, work: str, agent: str, seconds: int) -> None:
        holder = self._held_by(work)
        try:
            self.store.write(
                lambda c: agreements.take_claim(c, self._claim(work, agent, seconds), self.now_ms)
            )
        except AlreadyThere:
            assert holder not in ("", agent)
            return
        assert holder in ("", agent)
        self.holders[work] = agent, self.now_ms + seconds * 1_000

    @rule(work=WORKS, agent=AGENTS)
    def release(self, work: str, agent: str) -> None:
        held = self.holders.get(work)
        try:
            self.store.write(
                lambda c: agreements.release_claim(c, self.project, work, agent, self.now_ms)
            )
        except AlreadyThere:
            assert self._held_by(work) not in ("", agent)
        except NotThere:
            assert held is None or held[0] != agent
        else:
            assert held is not None and held[0] == agent
            del self.holders[work]

    @rule(agent=AGENTS, seconds=st.sampled_from((30, 300)))
    def post(self, agent: str, seconds: int) -> None:
        row = messages.draft(
            "c", "task.completed", {}, self.now_ms, to_agent=agent, ttl_seconds=seconds
        )
        self.store.write(lambda c: messages.post(c, row))
        self.unread[agent][row["id"]] = row["expires_ms"]

    @rule(work=WORKS, agent=AGENTS)
    def fail_in_the_middle(self, work: str, agent: str) -> None:
        """A message and a claim in a write that is rolled back."""
        row = messages.draft("c", "task.completed", {}, self.now_ms, to_agent=agent)

        def write(connection: Connection) -> None:
            messages.post(connection, row)
            if not self._held_by(work):
                agreements.take_claim(connection, self._claim(work, agent, 300), self.now_ms)
            raise RolledBack

        with pytest.raises(RolledBack):
            self.store.write(write)

    @rule(agent=AGENTS)
    def read_messages(self, agent: str) -> None:
        ask = Ask(agent, self.now_ms, MOST)
        found = self.store.write(lambda c: messages.mark(c, ask, messages.look(c, ask)))
        fresh = {row["id"] for row in found.rows if not row["already_read"]}
        alive = {one for one, until_ms in self.unread[agent].items() if until_ms > self.now_ms}
        assert fresh == alive
        self.unread[agent].clear()
        assert not fresh & self.read
        self.read |= fresh

    @invariant()
    def every_claim_is_held_by_who_took_it(self) -> None:
        page = self.store.read(lambda c: agreements.list_claims(c, MOST, 0, self.now_ms))
        found = {row["work"]: row["agent_id"] for row in page.rows}
        holding = {work: agent for work in self.holders if (agent := self._held_by(work))}
        assert found == holding


@pytest.mark.requirement("A2", "A4", "X6")
def test_no_message_and_no_claim_is_lost_or_doubled(store: Store) -> None:
    play(lambda: BoardMachine(emptied(store)), most_examples=12, steps=20)
