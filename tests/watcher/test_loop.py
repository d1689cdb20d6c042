"""One watcher per machine: it begins, ends, dies, and another takes its place."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.hub.store.store import Store
from holdfast.watcher import loop
from holdfast.watcher.loop import Watcher, run, take_lock
from holdfast.wire.errors import HoldfastError
from tests.waiting import until
from tests.watcher.machine import FULL, Machine, kept

LONG = 60.0  # seconds nobody waits for unless something is broken


@pytest.fixture
def alone() -> Iterator[subprocess.Popen[str]]:
    """`holdfast serve --watch-only`, watching."""
    command = [sys.executable, "-m", "holdfast.cli", "serve", "--watch-only"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "watching" in process.stderr.readline()
        yield process
        if process.poll() is None:
            process.kill()


@pytest.mark.slow
@pytest.mark.requirement("A5", "X3")
@pytest.mark.parametrize("signal_", [signal.SIGTERM, signal.SIGINT])
def test_alone_it_ends_well_when_told(alone: subprocess.Popen[str], signal_: int) -> None:
    assert loop.holder() is not None
    alone.send_signal(signal_)
    _, said = alone.communicate(timeout=LONG)
    assert alone.returncode == 0
    assert "ended" in said
    assert loop.holder() is None


@pytest.mark.requirement("A5", "X6")
def test_one_that_waits_takes_over_when_the_other_is_killed(
    alone: subprocess.Popen[str], store: Store, machine: Machine
) -> None:
    stop, started = threading.Event(), threading.Event()
    given = {"inside": "mcp", "wait_seconds": 0.05, "tell_started": started.set}
    thread = threading.Thread(target=run, args=(stop, lambda: store), kwargs=given)
    thread.start()
    try:
        assert not started.wait(0.3)
        alone.kill()
        assert started.wait(LONG)
        held = loop.holder()
        assert held is not None
        assert held["inside"] == "mcp"
    finally:
        stop.set()
        thread.join(LONG)
    assert not thread.is_alive()
    assert loop.holder() is None


@pytest.mark.requirement("A5", "X3")
def test_a_thread_of_its_own_watches_and_leaves_nothing_behind(
    store: Store, machine: Machine
) -> None:
    machine.session("s1", FULL)
    before = set(threading.enumerate())
    watcher = Watcher(lambda: store, inside="serve", clock=lambda: machine.now_ms)
    watcher.start()
    until(lambda: kept() == ["s1 watcher"])
    watcher.stop()
    assert set(threading.enumerate()) == before
    assert loop.holder() is None


@pytest.mark.requirement("A5", "X6")
def test_a_place_that_cannot_be_locked_is_an_error_in_words(own_home: Path) -> None:
    Path(loop.path()).mkdir(parents=True)
    with pytest.raises(HoldfastError, match="cannot be opened"):
        take_lock("alone", 1)
    watcher = Watcher(lambda: None, inside="mcp")
    watcher.start()
    watcher.stop()
    assert "not watching" in (own_home / ".holdfast" / "guard.log").read_text()


@pytest.mark.requirement("A5", "X6")
def test_a_place_that_can_be_locked_later_is_taken_then(store: Store, own_home: Path) -> None:
    Path(loop.path()).mkdir(parents=True)
    watcher = Watcher(lambda: store, inside="mcp", wait_seconds=0.05)
    watcher.start()
    until(lambda: (own_home / ".holdfast" / "guard.log").exists())
    Path(loop.path()).rmdir()
    assert watcher.started.wait(LONG)
    watcher.stop()
