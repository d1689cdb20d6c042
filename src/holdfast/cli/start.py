"""Where `holdfast` begins: open whichever standard stream is closed, then read the command line."""

from __future__ import annotations

import os
import sys

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
