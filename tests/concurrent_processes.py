"""Several processes at once, at one signal."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def processes(code: str, arguments: Sequence[Sequence[str]]) -> list[str]:
    """`code` says "ready", waits for a line, and prints its answer."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, *own],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for own in arguments
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    answers = []
    for child in children:
        out, _ = child.communicate(timeout=60)
        assert child.returncode == 0
        answers.append(out.strip())
    return answers
