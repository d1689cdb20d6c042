"""What taking secrets out costs, and how it compares with the maintained detector.

    python -m benchmarks.redact [--corpus DIR] [PYTHON_WITH_DETECT_SECRETS]

Times are CPU of whole processes, as ratios to a bare interpreter start that took turns with them;
with a corpus of transcripts also the megabytes of their texts that are searched in a second.
The comparison runs over the samples of our own tests, so it says what each detector was built to
find rather than which is better; it is skipped where `detect-secrets` is not installed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median

from tests.redact.samples import INNOCENT, SECRETS, STAND_INS

import holdfast
from benchmarks.unseen_secrets import texts
from holdfast.redact.find import find

Row = tuple[str, str, str]
ROUNDS = 20
SEEDS = 20
TEXT_BYTES = 100_000
SOURCE = str(Path(holdfast.__file__).parents[1])
_HEAD = f"import sys; sys.path.insert(0, {SOURCE!r}); import "
_THEIRS = """
import json, pathlib, sys, tempfile
from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings
path = pathlib.Path(tempfile.mkdtemp(), "notes.txt")
with default_settings():
    for text in json.load(sys.stdin):
        path.write_text(text + "\\n")
        print(int(any(scan_file(str(path)))))
path.unlink()
path.parent.rmdir()
"""


def rows(theirs: str = sys.executable, corpus: Path | None = None) -> Iterator[Row]:
    """(measure, figure, what to reach) for each figure."""
    if corpus is not None:
        yield "searching the texts of real transcripts", _speed(list(texts(corpus))), "≥ 15 MB/s"
    bare, with_re, imported, plain, planted = _costs()
    of = "of a bare `python -I -S -c pass`"
    yield "importing `re`, which any woken hook has", f"{with_re / bare:.2f}x {of}", ""
    yield "importing `redact.find` after it", f"+{(imported - with_re) / bare:.2f}x", "≤ 0.5x"
    yield "100 KB of prose and code, no secrets", f"+{(plain - imported) / bare:.2f}x", "≤ 1.5x"
    yield "100 KB with one secret of each kind", f"+{(planted - imported) / bare:.2f}x", "≤ 4x"
    yield from _judged("ours", [bool(find(text)) for text in _texts()])
    answer = _asked(theirs)
    if answer is None:
        yield "detect-secrets", "not measured: not installed in the interpreter given", ""
    else:
        yield from _judged("detect-secrets", answer)


def _speed(items: list[str]) -> str:
    began = time.process_time()
    for text in items:
        find(text)
    chars = sum(map(len, items))
    return f"{chars / 1e6 / (time.process_time() - began):.1f} MB/s of {chars / 1e6:,.0f} MB"


def _costs() -> list[float]:
    calls = [
        ("pass", ""),
        ("import re", ""),
        (_HEAD + "holdfast.redact.find", ""),
        (_HEAD + "holdfast.redact.find as r; r.redact(sys.stdin.read())", _plain()),
        (_HEAD + "holdfast.redact.find as r; r.redact(sys.stdin.read())", _planted()),
    ]
    spent: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for times, (code, text) in zip(spent, calls, strict=True):
            times.append(_cpu(code, text))
    return [median(times) for times in spent]


def _cpu(code: str, text: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-ISc", code], input=text.encode(), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _plain() -> str:
    """Our own sources: they speak of tokens and passwords all day and hold none."""
    files = sorted(Path(SOURCE).rglob("*.py"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return (text * (TEXT_BYTES // len(text) + 1))[:TEXT_BYTES]


def _planted() -> str:
    random = Random(1)
    secrets = [make(random)[0] for make in SECRETS.values()]
    plain = _plain()
    step = len(plain) // len(secrets)
    return "\n".join(plain[n * step : (n + 1) * step] + "\n" + s for n, s in enumerate(secrets))


def _texts() -> list[str]:
    """First those with a secret, then those without."""
    draws = [Random(seed) for seed in range(SEEDS)]
    with_secret = [make(draw)[0] for make in SECRETS.values() for draw in draws]
    return [*with_secret, *(make(draw) for make in INNOCENT.values() for draw in draws), *STAND_INS]


def _judged(who: str, verdicts: list[bool]) -> Iterator[Row]:
    count = len(SECRETS) * SEEDS
    hits, alarms = verdicts[:count], verdicts[count:]
    wanted = ("≥ 99 %", "≤ 1 %") if who == "ours" else ("", "")
    yield f"secrets found, {who}", f"{sum(hits) / count:.1%} of {count}", wanted[0]
    figure = f"{sum(alarms) / len(alarms):.1%} of {len(alarms)} texts without one"
    yield f"false alarms, {who}", figure, wanted[1]


def _asked(python: str) -> list[bool] | None:
    command = [python, "-c", _THEIRS]
    run = subprocess.run(command, input=json.dumps(_texts()), capture_output=True, text=True)
    return [line == "1" for line in run.stdout.split()] if run.returncode == 0 else None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a folder of transcripts")
    parser.add_argument("python", nargs="?", default=sys.executable)
    given = parser.parse_args()
    for row in rows(given.python, given.corpus):
        print(*row, sep=" | ")
