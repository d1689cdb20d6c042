"""At 60 % the watcher saves by itself, says so on the board, and one after the other."""

import os
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.checkpoint.write import SavedCheckpoint
from holdfast.hub.board import messages
from holdfast.hub.store.store import Store
from holdfast.session import take_checkpoint
from holdfast.watcher.watch import RETRY_SECONDS, Watch
from holdfast.window import outbox
from holdfast.window import state as states
from holdfast.window.state import State, lock_state
from holdfast.wire import log, places
from tests.builders import EDGE
from tests.watcher.machine import FULL, Machine, kept, looked


def _posted(store: Store) -> list[tuple[str, str]]:
    found = store.read(lambda c: messages.list_page(c, 50, 0)).rows
    assert {row["topic"] for row in found} <= {"checkpoint_trigger"}
    return [(row["to_agent"], row["content"]["reason"]) for row in reversed(found)]


def _logged(words: str) -> int:
    return Path(log.path()).read_text().count(words)


@pytest.mark.requirement("A5", "C4", "G6")
def test_a_window_over_60_percent_gets_a_verified_checkpoint_once(
    watch: Watch, machine: Machine, store: Store
) -> None:
    path = machine.session("s1", FULL)
    machine.session("s2")
    for _ in range(3):
        looked(watch, machine, 300)
        machine.answer(path, FULL + 10)
    assert kept() == ["s1 watcher"]
    assert _posted(store) == [("s1", "context_60_percent")]
    assert states.load(places.window("s1")).checkpoint_trigger == "watcher"


@pytest.mark.requirement("A5")
def test_after_a_compaction_the_next_crossing_is_saved_again(
    watch: Watch, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_WATCH_APART_SECONDS", "0")
    path = machine.session("s1", FULL)
    looked(watch, machine)
    machine.answer(path, 20_000)
    looked(watch, machine, 200)
    machine.prompt(path, "Now write the second parser.")
    machine.answer(path, FULL)
    looked(watch, machine, 200)
    assert kept() == ["s1 watcher", "s1 watcher"]


@pytest.mark.requirement("A5", "W5")
def test_a_subagent_has_a_checkpoint_of_its_own(
    watch: Watch, machine: Machine, store: Store
) -> None:
    machine.agent(machine.session("s1"), "a1", FULL)
    looked(watch, machine)
    assert kept() == ["a1 watcher"]
    assert _posted(store) == [("a1", "context_60_percent")]


@pytest.mark.requirement("A5", "C9", "G6")
def test_a_checkpoint_a_hook_just_took_is_not_doubled(watch: Watch, machine: Machine) -> None:
    path = machine.session("s1", FULL)
    with lock_state(places.window("s1")) as state:
        state.session_id, state.transcript = "s1", str(path)
        state.project = str(machine.places / "p")
        state.checkpoint_ms, state.checkpoint_tokens = machine.now_ms, 10
    looked(watch, machine, 60)
    assert kept() == []
    machine.answer(path, FULL + 10)
    looked(watch, machine, 61)
    assert kept() == ["s1 watcher"], "once it is 120 s old, and the window was not so full then"


@pytest.mark.requirement("A5", "C9")
def test_a_hook_that_saves_while_the_watcher_reads_is_enough(
    watch: Watch, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.watcher import watch as module

    def hook_saves(seen: object) -> None:
        with lock_state(places.window("s1")) as state:
            state.checkpoint_ms, state.checkpoint_tokens = machine.now_ms, FULL

    monkeypatch.setattr(module, "read_ahead", hook_saves)
    machine.session("s1", FULL)
    looked(watch, machine)
    assert kept() == []


@pytest.mark.requirement("A5", "G6")
def test_half_an_hour_of_work_without_a_checkpoint_gets_one(
    watch: Watch, machine: Machine, store: Store
) -> None:
    path = machine.session("s1")
    for n in range(16):
        machine.answer(path, 50_000 + n)
        looked(watch, machine, 120)
    assert kept() == ["s1 watcher"]
    assert _posted(store) == [("s1", "active_30_minutes")]


@pytest.mark.requirement("A5", "X6")
def test_one_that_cannot_be_read_or_saved_keeps_no_other_waiting(
    watch: Watch, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open
    bad = machine.session("bad", FULL)

    def denied(path: object, *given: object, **named: object) -> int:
        if str(path) == str(bad):
            raise PermissionError(13, "Permission denied")
        return real(path, *given, **named)  # type: ignore[arg-type]

    machine.session("s1", FULL, project="q")
    monkeypatch.setattr(os, "open", denied)
    looked(watch, machine)
    machine.date(bad)
    looked(watch, machine)
    assert kept() == ["s1 watcher"]
    assert _logged("bad.jsonl cannot be read") == 1


@pytest.mark.requirement("A5", "X6", "S4")
def test_without_a_board_checkpoints_are_kept_all_the_same(machine: Machine) -> None:
    watch = Watch(lambda: Store.open("postgresql://nobody@127.0.0.1:1/none"))
    machine.session("s1", FULL)
    looked(watch, machine)
    looked(watch, machine)
    assert kept() == ["s1 watcher"]
    assert _logged("ERROR watcher the board") == 1


def _known(machine: Machine, name: str) -> str:
    """A session whose hooks were heard of."""
    path = machine.session(name)
    with lock_state(places.window(name)) as state:
        state.session_id, state.transcript = name, str(path)
        state.project, state.at_ms = str(machine.places / "p"), machine.now_ms
    return places.window(name)


@pytest.mark.requirement("A3", "A5")
def test_what_was_posted_elsewhere_is_handed_out_at_the_next_look(
    watch: Watch, machine: Machine, store: Store
) -> None:
    folder = _known(machine, "s1")
    for n, name in enumerate(("before the first look", "between two looks")):
        row = messages.draft("a", "task.failed", name, machine.now_ms, to_agent="s1")
        store.write(partial(messages.post, row=row))
        looked(watch, machine)
        assert len(outbox.load(folder).entries) == n + 1


@pytest.mark.requirement("A3", "A5", "X6")
def test_a_window_that_was_busy_is_handed_its_messages_later(
    watch: Watch, machine: Machine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "PATIENCE_SECONDS", 0.0)
    folder = _known(machine, "s1")
    row = messages.draft("a", "task.failed", "hello", machine.now_ms, to_agent="s1")
    store.write(lambda c: messages.post(c, row))
    with lock_state(folder):
        looked(watch, machine)
    assert outbox.load(folder).entries == []
    looked(watch, machine)
    assert len(outbox.load(folder).entries) == 1


@pytest.mark.requirement("A5", "X6")
def test_a_name_that_is_no_text_keeps_no_other_waiting(
    watch: Watch, machine: Machine, store: Store
) -> None:
    odd = machine.session("odd", int(EDGE * 0.9), project="odd")
    odd.rename(odd.parent / os.fsdecode(b"\xff\xfe.jsonl"))
    machine.session("s1", FULL)
    looked(watch, machine)
    assert _posted(store) == [("s1", "context_60_percent")]
    machine.session("s2", FULL, project="q")
    again = Watch(lambda: store)
    looked(again, machine, 1)
    assert ("s2", "context_60_percent") in _posted(store), "the next watcher, too"


@pytest.mark.requirement("A5", "G6")
def test_a_clock_set_back_keeps_no_window_from_its_checkpoint(
    watch: Watch, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_WATCH_APART_SECONDS", "0")
    path = machine.session("s1", FULL)
    looked(watch, machine)
    machine.answer(path, FULL // 2)
    looked(watch, machine)
    machine.now_ms -= 86_400_000
    machine.prompt(path, "and now the lighthouse")
    machine.answer(path, FULL)
    looked(watch, machine)
    assert kept() == ["s1 watcher"] * 2


@pytest.mark.requirement("A5", "X6")
def test_one_that_cannot_be_kept_does_not_take_every_turn_of_its_project(
    watch: Watch, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    real = take_checkpoint.take

    def refuses(state: State, *given: Any) -> SavedCheckpoint | None:
        tried.append(state.session_id)
        return None if state.session_id == "bad" else real(state, *given)

    monkeypatch.setattr(take_checkpoint, "take", refuses)
    machine.session("bad", int(EDGE * 0.9))
    machine.session("s1", FULL)
    for _ in range(4):
        looked(watch, machine)
    assert (tried, kept()) == (["bad", "s1"], ["s1 watcher"])
    later = time.monotonic() + RETRY_SECONDS
    monkeypatch.setattr("holdfast.watcher.watch.time.monotonic", lambda: later)
    looked(watch, machine)
    assert tried[2:] == ["bad"], "it is tried again"


@pytest.mark.requirement("A5", "X6", "S4")
def test_a_board_that_hangs_holds_up_no_checkpoint(
    machine: Machine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.watcher.board.PATIENCE_SECONDS", 0.0)
    answers = threading.Event()

    def hangs() -> Store:
        answers.wait()
        return store

    watch = Watch(hangs)
    machine.session("s1", FULL)
    looked(watch, machine)
    machine.session("s2", FULL, project="q")
    looked(watch, machine)
    assert sorted(kept()) == ["s1 watcher", "s2 watcher"]
    assert _logged("ERROR watcher the board: it does not answer") == 1
    answers.set()


@pytest.mark.requirement("A5", "X6")
@pytest.mark.parametrize("part", ["glance", "take"])
def test_one_that_stopped_growing_is_saved_once_the_trouble_is_over(
    watch: Watch, machine: Machine, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    machine.session("s1", FULL)
    with monkeypatch.context() as trouble:
        trouble.setattr(f"holdfast.watcher.watch.{part}", full)
        looked(watch, machine)
        looked(watch, machine)
    assert kept() == []
    later = time.monotonic() + RETRY_SECONDS
    monkeypatch.setattr("holdfast.watcher.watch.time.monotonic", lambda: later)
    looked(watch, machine)
    assert kept() == ["s1 watcher"]
    assert _logged("No space left on device") == 1
