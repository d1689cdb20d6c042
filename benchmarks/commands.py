"""What a command costs from a shell: CPU of whole processes, in starts of an empty Python.

python -m benchmarks.commands
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

Row = tuple[str, str, str]
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
USUAL = [sys.executable, "-c", "pass"]  # with site-packages, as a command starts
HOLDFAST = str(Path(sys.executable).with_name("holdfast"))
DEMO = str(Path(__file__).parents[1] / "demo" / "session.jsonl")
COMMANDS = {
    "`holdfast status`": [HOLDFAST, "status", "--transcript", DEMO],
    "`holdfast status --json`": [HOLDFAST, "status", "--transcript", DEMO, "--json"],
    "`holdfast --help`": [HOLDFAST, "--help"],
    "a Tab in the shell": [HOLDFAST],  # with the variables below
}
TAB = {"_HOLDFAST_COMPLETE": "bash_complete", "COMP_WORDS": "holdfast st", "COMP_CWORD": "1"}
TO_REACH = {"`holdfast status`": "≤ 10x"}
ROUNDS = 15


def rows() -> Iterator[Row]:
    """All take turns in one run: the machine may be busy with others."""
    with tempfile.TemporaryDirectory(prefix="holdfast-commands-") as home:
        environ = {**os.environ, "HOME": home, "HOLDFAST_HOME": f"{home}/.holdfast"}
        environ.pop("PYTHONDONTWRITEBYTECODE", None)  # nobody runs it without its bytecode
        lines = {"bare": BARE, "usual": USUAL, **COMMANDS}
        spent: dict[str, list[float]] = {name: [] for name in lines}
        for _ in range(ROUNDS + 1):
            for name, line in lines.items():
                extra = TAB if line == [HOLDFAST] else {}
                spent[name].append(_cpu_s(line, home, {**environ, **extra}))
    cost = {name: median(some[1:]) for name, some in spent.items()}  # the first fills caches
    for name in COMMANDS:
        of_bare, of_usual = cost[name] / cost["bare"], cost[name] / cost["usual"]
        figure = f"{of_bare:.1f}x of `python -I -S -c pass`, {of_usual:.1f}x of `python -c pass`"
        yield name, figure, TO_REACH.get(name, "")


def _cpu_s(line: list[str], folder: str, environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, cwd=folder, env=environ, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row))
