"""Where `holdfast` begins: the command line, but for the one question that is asked often.

Loading the kit behind the commands costs four bare starts of the interpreter. `search QUERY` is
asked by people, scripts and other tools, and answers in eight all in all without it.
"""

from __future__ import annotations

import os
import sys


def _open_closed() -> None:
    """Started with one of the three closed (`2>&-`), the next file opened would take its place: a
    lock would hear our errors, and a client its prompt from nowhere."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            if os.open(os.devnull, os.O_RDWR) != descriptor:
                return  # it was open all the same: none of ours to name
            setattr(sys, name, os.fdopen(descriptor, "r" if descriptor == 0 else "w"))


def main() -> None:
    _open_closed()
    if sys.argv[1:2] == ["search"]:
        from holdfast.cli import quick

        code = quick.answered(sys.argv[2:])
        if code:
            sys.exit(code)
        if code == 0:
            return
    from holdfast.cli.main import main as whole

    whole()
