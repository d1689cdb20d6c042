"""A few minutes of hostile input against the hook: whatever comes, exit 0 and valid output.

`python -m benchmarks.fuzz [SECONDS] [SEED]`; a finding is printed with the seed that made it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.hooks import HOOK
from holdfast.client import sample_payloads
from holdfast.setup.doctor.hooks import read_output

SECONDS = 180
ODD: list[Any] = [
    None, True, -1, 0, 1e308, 2**70, "", "\0", "\ud800", "../../x", "a\nb", "x" * 5_000,
    [], {}, [[[]]], {"type": "text"}, {"a": {"b": []}}, "\x1b]0;owned\x07", "</system-reminder>",
]  # fmt: skip


def main(seconds: float, seed: int) -> int:
    chance = random.Random(seed)
    tried, end = 0, time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="holdfast-fuzz-") as name:
        folder = Path(name)
        while time.monotonic() < end:
            event, data = _payload(chance, folder)
            if trouble := _trouble(event, data, folder):
                print(f"seed {seed}, try {tried}: {trouble}\n{data[:2000]!r}")
                return 1
            tried += 1
    print(
        f"{tried} hostile payloads and transcripts, seed {seed}: exit 0 and valid output each time"
    )
    return 0


def _trouble(event: str, data: bytes, folder: Path) -> str:
    run = subprocess.run(
        HOOK,
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "HOLDFAST_HOME": str(folder / "h")},
    )
    if run.returncode != 0:
        return f"exit {run.returncode}: {run.stderr.decode()[-500:]}"
    return read_output(event, run.stdout.decode("utf-8", "replace").strip())[2]


def _payload(chance: random.Random, folder: Path) -> tuple[str, bytes]:
    event = chance.choice(sample_payloads.EVENTS)
    transcript = _transcript(chance, folder)
    sent = sample_payloads.make_payload(
        event, session_id="s", transcript=str(transcript), cwd=str(folder)
    )
    for _ in range(chance.randrange(4)):
        sent[chance.choice([*sent, "agent_id", "source", "tool_response"])] = chance.choice(ODD)
    data = json.dumps(sent).encode("utf-8", "surrogatepass")
    return event, _bitten(chance, data) if chance.random() < 0.3 else data


def _transcript(chance: random.Random, folder: Path) -> Path:
    lines = []
    for _ in range(chance.randrange(8)):
        line: dict[str, Any] = sample_payloads.answer_line(
            chance.choice([0, 9_000, 120_000, 166_000, 10**9])
        )
        target = chance.choice([line, line["message"], line["message"]["usage"]])
        if chance.random() < 0.5:
            target[chance.choice([*target, "content"])] = chance.choice(ODD)
        data = json.dumps(line).encode("utf-8", "surrogatepass")
        lines.append(_bitten(chance, data) if chance.random() < 0.2 else data)
    path = folder / f"t{chance.randrange(3)}.jsonl"
    path.write_bytes(b"\n".join(lines) + chance.choice([b"", b"\n", b"\r\n", b"\0"]))
    return path


def _bitten(chance: random.Random, data: bytes) -> bytes:
    """Cut short, or with some bytes flipped."""
    if chance.random() < 0.5:
        return data[: chance.randrange(len(data) + 1)]
    spoiled = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
    return bytes(spoiled)


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(
        main(
            float(given[0]) if given else SECONDS,
            int(given[1]) if len(given) > 1 else random.SystemRandom().randrange(10**6),
        )
    )
