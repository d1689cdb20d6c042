"""Whether the time to read a session grows with its length and no faster.

    python -m benchmarks.long_sessions

The record of a made-up session with very many prompts and queue lines is read in CPU time, the best
of three, and so is one of four times the length. Reading that looks back over all it has read would
take sixteen times as long.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from holdfast.record.reader import read_record

Row = tuple[str, str, str]
PROMPTS, QUEUED_EACH, TIMES, ROUNDS = 5_000, 5, 4, 3


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        short, long = (_written(Path(name), count) for count in (PROMPTS, TIMES * PROMPTS))
        ratio = seconds(long) / seconds(short)
    prompts, lines = TIMES * PROMPTS, TIMES * PROMPTS * QUEUED_EACH
    told = f"reading {prompts:,} prompts and {lines:,} queue lines, against a quarter of them"
    yield told, f"{ratio:.1f}x", f"≤ {TIMES + 1}x"


def _written(folder: Path, prompts: int) -> Path:
    path = folder / f"{prompts}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(prompts):
            for line in _lines(number):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
    return path


def _lines(number: int) -> Iterator[dict[str, object]]:
    """One prompt, and words queued behind it: handed over, dropped or taken back."""
    words = f"Prompt {number}: please look at gauge {number} and tell me what it reads today."
    yield {"type": "user", "message": {"role": "user", "content": words}}
    for operation in ("enqueue", "dequeue", "enqueue", "enqueue", "popAll"):
        content = {"content": f"And {number} {operation}."} if operation == "enqueue" else {}
        yield {"type": "queue-operation", "operation": operation, **content}


def seconds(path: Path) -> float:
    """CPU time of reading the record of one session, the best of three."""
    return min(_once(path) for _ in range(ROUNDS))


def _once(path: Path) -> float:
    began = time.process_time()
    read_record(path)
    return time.process_time() - began


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")
