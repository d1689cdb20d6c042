"""What a plan of 3,000 tasks costs: read, estimated, batched and shown."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory

TASKS = 3_000
COMMANDS = (("plan", "plan.md"), ("plan", "plan.md", "--json"), ("run", "plan.md", "--dry-run"))
Row = tuple[str, str, str]


def write_plan(path: Path) -> None:
    """Below 150 headings, each task with two files and a text or a dependency."""
    lines = ["# A large plan"]
    for at in range(TASKS):
        if at % 20 == 0:
            lines += ["", f"## Part {at // 20}", ""]
        lines += [
            f"- [ ] T{at:04} Add thing {at}",
            f"  files: src/f{at % 700}.py, src/g{at % 500}.py",
        ]
        lines.append(f"  depends: T{at - 1:04}" if at % 3 else "  Some words about it.")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def rows() -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_plan(folder / "plan.md")
        environ = {**os.environ, "HOME": name, "HOLDFAST_HOME": f"{name}/.holdfast"}
        for words in COMMANDS:
            before = getrusage(RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "holdfast.cli", *words]
            subprocess.run(command, cwd=folder, env=environ, check=True, capture_output=True)
            after = getrusage(RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            yield f"{TASKS:,} tasks, `{' '.join(words)}`", f"{seconds:.1f} s of CPU", "≤ 3 s"
