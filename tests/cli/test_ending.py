"""A signal that ends a command is heard by whoever waits for it, and by nobody after."""

from __future__ import annotations

import os
import signal

import pytest

from holdfast.cli.start import until_signalled


@pytest.mark.requirement("U3", "X3")
def test_a_signal_is_heard_before_a_wait_and_during_one_and_stays_heard() -> None:
    def ours(*_: object) -> None: ...

    before = signal.signal(signal.SIGUSR1, ours)
    try:
        with until_signalled(signal.SIGUSR1) as told:
            assert not told.is_set()
            os.kill(os.getpid(), signal.SIGUSR1)
            assert told.wait(60) and told.is_set()
        assert signal.getsignal(signal.SIGUSR1) is ours
    finally:
        signal.signal(signal.SIGUSR1, before)
