"""What the fitted numbers of a brief are worth on repositories they were not chosen on.

    python -m benchmarks.left_out CORPUS_DIR EVALUATE_FILE

Each number is tried with a few values. For each repository the value is chosen that does best on
all the others, and its score on the one left out counts. Where that is no worse than the value in
the code does on all, the number does not lean on any one repository.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

Row = tuple[str, str, str]
# Numbers of `brief/files_and_commands`. The first value is the one in the code.
FITTED: dict[str, tuple[float, ...]] = {
    "FILE_WORTH": (0.06, 0.04, 0.09),
    "COMMAND_WORTH": (0.06, 0.04, 0.09),
    "ASIDE": (0.5, 0.25, 1.0),
    "EVEN_SHARE": (0.08, 0.04, 0.16),
}
FITTED_SMALL: dict[str, tuple[float, ...]] = {}
_last: tuple[str, Any] = ("", None)


def __getattr__(name: str) -> Callable[[str, int], str]:
    """The brief with one number changed: `brief__RAN__2` takes its third value."""
    prefix, *number, at = name.split("__")
    if prefix != "brief" or len(number) != 1 or not at.isdecimal():
        raise AttributeError(name)
    return partial(_brief, number[0], int(at))


def _brief(number: str, at: int, path: str, budget: int) -> str:
    from holdfast.brief import files_and_commands
    from holdfast.brief.compose import compose

    values = (FITTED | FITTED_SMALL)[number]
    setattr(files_and_commands, number, values[at])
    try:
        return compose(_record(path), budget).text
    finally:
        setattr(files_and_commands, number, values[0])


def _record(path: str) -> Any:
    """Read once for all values: the evaluator asks for them one after the other."""
    from holdfast.record.reader import read_record

    global _last
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if _last[0] != digest:
        _last = digest, read_record(path)
    return _last[1]


def rows(corpus: Path, evaluate: Path) -> Iterator[Row]:
    for numbers, budget in ((FITTED, 2000), (FITTED_SMALL, 500)):
        scored = _scored(corpus, evaluate, numbers, budget)
        for number, values in numbers.items():
            yield _row(number, values, scored, budget)


def _scored(
    corpus: Path, evaluate: Path, numbers: dict[str, tuple[float, ...]], budget: int
) -> list[dict[str, Any]]:
    """Every real compaction of the corpus, with the score of each value of each number."""
    command = [sys.executable, evaluate, corpus, "--only", "real", "--fast", "--budget", budget]
    for number, values in numbers.items():
        for at in range(len(values)):
            name = _name(number, at)
            command += ["--python", f"{name.rpartition('__')[0][7:]}.{at}::{__file__}:{name}"]
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        kept = Path(folder) / "rows.json"
        command += ["--json", kept]
        subprocess.run([*map(str, command)], capture_output=True, check=True)
        found: list[dict[str, Any]] = json.loads(kept.read_text())
        return found


def _name(number: str, at: int) -> str:
    return f"brief__{number}__{at}"


def _row(number: str, values: tuple[float, ...], scored: list[dict[str, Any]], budget: int) -> Row:
    """The value in the code on all; and on each repository the value that the others choose."""
    systems = [f"{number}.{at}" for at in range(len(values))]
    left: list[float] = []
    chosen: Counter[float] = Counter()
    for repository in sorted({one["repo"] for one in scored}):
        others = [one for one in scored if one["repo"] != repository]
        best = max(range(len(values)), key=lambda at: (_mean(others, systems[at]), -at))
        chosen[values[best]] += 1
        left += [_score(one, systems[best]) for one in scored if one["repo"] == repository]
    picks = ", ".join(f"{value} by {count}" for value, count in chosen.most_common())
    ours, out = _mean(scored, systems[0]), sum(left) / len(left)
    figure = f"{out:.3f} (with {values[0]}: {ours:.3f}; chosen: {picks})"
    return f"R at {budget:,}, one repository left out, {number}", figure, ""


def _mean(scored: list[dict[str, Any]], system: str) -> float:
    return sum(_score(one, system) for one in scored) / max(1, len(scored))


def _score(one: dict[str, Any], system: str) -> float:
    found = one["sys"][system]
    if found["fault"]:
        raise RuntimeError(found["fault"])
    return float(found["R"])


if __name__ == "__main__":
    for row in rows(*map(Path, sys.argv[1:3])):
        print(*row[:2], sep="  ", flush=True)
