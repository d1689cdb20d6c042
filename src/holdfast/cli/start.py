"""Where `holdfast` begins: open whichever standard stream is closed, then read the command line.
Signals that end a command are heard between two steps of work, never in the middle of one.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.cli.main import main as run_command


def main() -> None:
    _open_closed_streams()
    run_command()


def _open_closed_streams() -> None:
    """Keep descriptors 0 to 2 for the standard streams.

    Started with one of them closed (`2>&-`), the next file that is opened would get its number: a
    lock file would receive our error messages.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            if os.open(os.devnull, os.O_RDWR) != descriptor:
                return  # the number is in use after all
            setattr(sys, name, os.fdopen(descriptor, "r" if descriptor == 0 else "w"))


class SignalFlag:
    """As a `threading.Event` that a signal sets. A real one must not be set by a handler: where the
    signal comes while the same thread is about to wait for it, both wait for ever."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def is_set(self) -> bool:
        return self.wait(0)

    def wait(self, seconds: float) -> bool:
        return bool(select.select([self._pipe], [], [], seconds)[0])


@contextmanager
def until_signalled(*signals: signal.Signals) -> Iterator[SignalFlag]:
    """The system itself writes it where it is read: a handler of ours would run only after a wait
    that had just begun."""
    reading_end, writing_end = os.pipe()
    os.set_blocking(writing_end, False)
    before = {one: signal.signal(one, lambda *_: None) for one in signals}
    signal.set_wakeup_fd(writing_end, warn_on_full_buffer=False)
    try:
        yield SignalFlag(reading_end)
    finally:
        signal.set_wakeup_fd(-1)
        for one, handler in before.items():
            signal.signal(one, handler)
        os.close(reading_end)
        os.close(writing_end)
