"""The outbox against a list of messages, while hooks are killed wherever they touch the disk."""

import os
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from holdfast.window.outbox import add_messages, take_back
from holdfast.wire import places
from tests.board.model import Client, an_entry, hook
from tests.checkpoint.killing import arm, killed_at
from tests.state_machines import play

pytestmark = pytest.mark.slow  # a process for each hook
NOW = 1
STEPS_AFTER = 12
TOUCHES = st.integers(1, 40)


class OutboxMachine(RuleBasedStateMachine):
    """`owed` are the messages that the model must have been given at the end, once."""

    def __init__(self) -> None:
        super().__init__()
        self.place = tempfile.TemporaryDirectory()
        self.home = os.environ["HOLDFAST_HOME"]
        os.environ["HOLDFAST_HOME"] = f"{self.place.name}/home"
        self.owed: set[int] = set()
        self.taken_back: set[int] = set()
        self.count = 0

    @initialize(late=st.booleans())
    def begin(self, late: bool) -> None:
        self.client = Client(Path(self.place.name), late=late)
        hook("PostToolUse", self.client.path, tool_use_id="t0")

    def teardown(self) -> None:
        try:
            self._all_arrive()
        finally:
            os.environ["HOLDFAST_HOME"] = self.home
            self.place.cleanup()

    def _all_arrive(self) -> None:
        for _ in range(STEPS_AFTER if self.owed else 0):
            self.client.step()
        for number in self.owed:
            assert self.client.times(an_entry(number)) == 1, f"message {number}"
        assert not places.has_outbox(self.client.folder)

    def _entries(self) -> list[int]:
        self.count += 1
        self.owed.add(self.count)
        return [self.count]

    @rule()
    def send(self) -> None:
        add_messages(self.client.folder, [an_entry(n, created_ms=n) for n in self._entries()], NOW)

    @rule(at=TOUCHES)
    def send_and_die(self, at: int) -> None:
        """Whoever hands out is killed; the watcher hands the same messages out again."""
        entries = [an_entry(n, created_ms=n) for n in self._entries()]
        killed_at(at, partial(add_messages, self.client.folder, entries, NOW))
        add_messages(self.client.folder, entries, NOW)

    @rule()
    def send_all_again(self) -> None:
        """As the watcher does on each of its rounds; what was heard is not handed out again."""
        entries = [an_entry(n, created_ms=n) for n in self.owed]
        add_messages(self.client.folder, entries, NOW)

    @rule(event=st.sampled_from(("PostToolUse", "UserPromptSubmit", "Stop")))
    def work(self, event: str) -> None:
        self.client.step(event=event)

    @rule(at=TOUCHES)
    def work_and_die(self, at: int) -> None:
        self.client.step(partial(arm, at))

    @rule()
    def take_one_back(self) -> None:
        """Only what was not said yet can be taken back."""
        waiting = sorted(self.owed)
        if waiting:
            number = waiting[-1]
            if not take_back(self.client.folder, {f"id-{number}"}) and not self._is_heard(number):
                self.owed.discard(number)
                self.taken_back.add(number)

    def _is_heard(self, number: int) -> bool:
        return self.client.times(an_entry(number)) > 0

    @invariant()
    def nothing_is_given_twice(self) -> None:
        for number in self.owed | self.taken_back:
            assert self.client.times(an_entry(number)) <= (number in self.owed)


@pytest.mark.requirement("A3", "X6")
@pytest.mark.timeout(600)
def test_every_message_is_given_to_the_model_once() -> None:
    play(OutboxMachine, most_examples=12, steps=15)
