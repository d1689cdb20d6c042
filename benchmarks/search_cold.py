"""What a search costs from a shell, and the embedding of one question with the real model, warm."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

BARE = [sys.executable, "-I", "-S", "-c", "pass"]


def query_ms() -> float:
    """Embedding one question with the real model, warm."""
    from holdfast.memory.onnx import minilm

    model = minilm()
    texts = [f"why did we change the {word} of the staging server" for word in "abcdefghij"]
    spent = []
    for text in texts:
        began = time.perf_counter()
        model.embed([text])
        spent.append((time.perf_counter() - began) * 1000)
    return median(spent[2:])


class Starts(NamedTuple):
    """Multiples of a bare start: `holdfast search` in a project with a session, by keyword."""

    as_json: float
    for_people: float
    first: float  # 5 MB of a session are read first


def cold(rounds: int = 15) -> Starts:
    from benchmarks import made_up
    from holdfast.client.memory_folder import slug

    with tempfile.TemporaryDirectory(prefix="holdfast-cold-") as folder:
        project = Path(folder, "p")
        project.mkdir()
        home = Path(folder, "home")
        sessions = home / ".claude" / "projects" / slug(str(project.resolve()))
        sessions.mkdir(parents=True)
        made_up.write(sessions / "s.jsonl", 5 << 20)
        environ = {**os.environ, "HOME": str(home), "HOLDFAST_HOME": str(home / ".holdfast")}
        holdfast = str(Path(sys.executable).with_name("holdfast"))
        search = [holdfast, "search", "low tide heights", "--limit", "5"]
        first = _spent([*search, "--json"], project, environ)
        commands = (BARE, [*search, "--json"], search)
        spent = [[_spent(one, project, environ) for one in commands] for _ in range(rounds)]
    bare, as_json, for_people = (median(some) for some in zip(*spent, strict=True))
    return Starts(as_json / bare, for_people / bare, first / bare)


def _spent(command: list[str], folder: Path, environ: dict[str, str]) -> float:
    """CPU of one process: the machine may be busy with others."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
