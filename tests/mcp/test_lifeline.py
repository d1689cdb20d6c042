"""What ends the server from outside, as the kernel tells it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from holdfast.mcp.lifeline import wait_for_end


@pytest.fixture
def wire() -> Iterator[tuple[int, int]]:
    reads, writes = os.pipe()
    yield reads, writes
    os.close(writes)


def _waiting(parent: int, wire: int) -> threading.Thread:
    thread = threading.Thread(target=wait_for_end, args=(parent, wire), daemon=True)
    thread.start()
    return thread


@pytest.mark.requirement("U6", "X3")
@pytest.mark.parametrize("kernel", [True, False])
def test_it_waits_until_nobody_reads_the_answers(
    wire: tuple[int, int], kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not kernel:
        monkeypatch.delattr(os, "pidfd_open")
    reads, writes = wire
    waiting = _waiting(os.getppid(), writes)
    waiting.join(0.05)
    assert waiting.is_alive()
    os.close(reads)
    waiting.join(20)
    assert not waiting.is_alive()


@pytest.mark.requirement("U6", "X3")
def test_a_client_that_died_while_we_loaded_is_noticed(wire: tuple[int, int]) -> None:
    """Whoever has us now is not who started us."""
    reads, writes = wire
    waiting = _waiting(os.getpid(), writes)
    waiting.join(20)
    assert not waiting.is_alive()
    os.close(reads)
