"""Several at once, at one signal: threads with a database connection each, or processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from sqlalchemy.engine import Connection

from holdfast.store.store import Store

T = TypeVar("T")
ROOT = Path(__file__).parents[2]


def threads(url: str, changes: Sequence[Callable[[Connection], T]]) -> list[T | Exception]:
    """Each in a store of its own, as if in a process of its own; a refusal is an answer."""
    start = threading.Barrier(len(changes))

    def run(change: Callable[[Connection], T]) -> T | Exception:
        store = Store.open(url)
        try:
            store.read(lambda c: c.exec_driver_sql("SELECT 1"))
            start.wait(30)
            return store.write(change)
        except Exception as slip:
            return slip
        finally:
            store.close()

    with ThreadPoolExecutor(len(changes)) as pool:
        return list(pool.map(run, changes))


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
