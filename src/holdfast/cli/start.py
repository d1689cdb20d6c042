"""Where `holdfast` begins: the command line, but for the one question that is asked often.

Loading the kit behind the commands costs four bare starts of the interpreter. `search QUERY` is
asked by people, scripts and other tools, and answers in eight all in all without it.
"""

from __future__ import annotations

import sys


def main() -> None:
    if sys.argv[1:2] == ["search"]:
        from holdfast.cli import quick

        if quick.answered(sys.argv[2:]):
            return
    from holdfast.cli.main import main as whole

    whole()
