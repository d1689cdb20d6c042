"""The inner loop, `make quick`: one pytest per core, each with its share of the test files.

These are processes of their own, not workers of xdist: there every worker collects every test, and
sends five messages about each test it runs, which took 2.7 ms of CPU time (a test takes 6).
The first process writes to the terminal; what the others wrote follows when they are done.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from tests.marks import is_wholly_marked
from tests.stores import is_about_stores

TESTS = Path(__file__).parent
LEFT_OUT = ("nightly", "real_client", "slow", "store")
PLUGINS = ("-p", "no:schemathesis", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:cov")
OPTIONS = ("-q", *PLUGINS, "-m", " and ".join(f"not {mark}" for mark in LEFT_OUT))


def find_files() -> list[Path]:
    """Find the files in which at least one test may be quick. The others are not even imported."""
    found = sorted(TESTS.rglob("test_*.py"))
    return [
        path for path in found if not is_about_stores(path) and not is_wholly_marked(path, LEFT_OUT)
    ]


def deal(files: list[Path], parts: int) -> list[list[Path]]:
    """Deal the files out by size, so that each part has large ones and small ones."""
    by_size = sorted(files, key=lambda path: path.stat().st_size, reverse=True)
    return [sorted(by_size[n::parts]) for n in range(parts)]


def run(parts: int) -> int:
    """Run all parts at once. Return the exit code of one that failed, or 0."""
    first, *others = deal(find_files(), parts)
    with ExitStack() as stack:
        texts = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in others]
        running = [_start(first, None), *map(_start, others, texts)]
        codes = [one.wait() for one in running]
        for text in texts:
            text.seek(0)
            print(text.read(), end="")
    return max(codes)


def _start(files: list[Path], text: IO[str] | None) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pytest", *OPTIONS, *map(str, files)]
    return subprocess.Popen(command, cwd=TESTS.parent, stdout=text)


if __name__ == "__main__":
    sys.exit(run(len(os.sched_getaffinity(0))))
