"""The start of `holdfast`: open standard streams that are closed, then read the command line.

Signals that end a command take effect between two steps of work, never in the middle of one.
"""

import os
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.wire import bytecode


def main() -> None:
    """Run the command line. Ctrl-C ends it without a traceback, also while it is imported."""
    try:
        bytecode.survive_cut_files()
        from holdfast.cli.main import main as run_command
        from holdfast.files.lock import hold_environment

        _open_closed_streams()
        hold_environment()
        run_command()
    except KeyboardInterrupt:
        sys.exit(130)


def _open_closed_streams() -> None:
    """Keep descriptors 0 to 2 for the standard streams.

    Started with one of them closed (`2>&-`), the next file that is opened would get its number: a
    lock file would receive our error messages.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            if os.open(os.devnull, os.O_RDWR) != descriptor:
                return  # the descriptor is in use after all
            setattr(sys, name, os.fdopen(descriptor, "r" if descriptor == 0 else "w"))


class SignalFlag:
    """A flag that a signal sets, used like a `threading.Event`.

    A handler must not set a real event: if the signal comes while the same thread is about to wait
    for it, both wait forever.
    """

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def is_set(self) -> bool:
        return self.wait(0)

    def wait(self, seconds: float) -> bool:
        return bool(select.select([self._pipe], [], [], seconds)[0])


@contextmanager
def until_signalled(*signals: signal.Signals) -> Iterator[SignalFlag]:
    """Yield a flag that these signals set. Python writes to its pipe at once: a handler would run
    only after a wait that had just begun."""
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
