"""What the hook costs: CPU of the whole process, as a ratio to a bare interpreter start."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import holdfast
from holdfast.cli.install import ARCHIVE_CHARS
from holdfast.client import sample_payloads
from holdfast.hub import projection_file
from holdfast.setup import wiring
from holdfast.wire import mark, places, spool

ENTRY = Path(holdfast.__file__).parent / "hook" / "__main__.py"
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
HOOK = [sys.executable, "-I", "-S", str(ENTRY)]
ARCHIVES = [*HOOK, "archive", str(ARCHIVE_CHARS)]
ROOT = Path(__file__).resolve().parents[1]
THROUGH_PLUGIN = "PostToolUse through the plugin's launcher and its shell"
ROUNDS = 60
SESSION, GUARDED = "bench", "guarded"
BLOCK_LINES = 300


def measure() -> dict[str, float]:
    """Every figure in one run, each hook taking turns with the bare start."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        os.environ["HOLDFAST_HOME"] = folder
        small, large = Path(folder, "1mb.jsonl"), Path(folder, "1gb.jsonl")
        write_transcript(small, 1 << 20)
        write_transcript(large, 1 << 30)
        _arm()
        calls = {
            "PostToolUse, 1 KB payload": _sent("PostToolUse", small, 1_000),
            "PostToolUse, 100 KB payload": _sent("PostToolUse", small, 100_000),
            "PostToolUse, 1 GB transcript": _sent("PostToolUse", large, 1_000),
            "PostToolUseFailure": _sent("PostToolUseFailure", small, 0),
            "UserPromptSubmit": _sent("UserPromptSubmit", small, 0),
            "Stop": _sent("Stop", small, 0),
            "Stop, the stop guard on": _sent("Stop", small, 0, GUARDED),
            "SubagentStart": _sent("SubagentStart", small, 0),
            "SubagentStop": _sent("SubagentStop", small, 0),
        }
        others = {
            f"PostToolUse that archives, {size:,} characters": (
                ARCHIVES,
                _sent("PostToolUse", small, size),
            )
            for size in (1_000, ARCHIVE_CHARS - 500)
        }
        others["PostToolUse that archives, 100 KB sent"] = ARCHIVES, _written(small)
        others[THROUGH_PLUGIN] = _launcher(Path(folder)), _sent("PostToolUse", small, 1_000)
        found = _take_turns(calls, others)
    found["1 GB against 1 MB"] = (
        found["PostToolUse, 1 GB transcript"] / found["PostToolUse, 1 KB payload"]
    )
    return found


def growth(sizes: Sequence[int]) -> list[float]:
    """The hook after a tool call against a bare start, with so many bytes of transcript."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        os.environ["HOLDFAST_HOME"] = folder
        _arm()
        calls = {}
        for size in sizes:
            transcript = Path(folder, f"{size}.jsonl")
            write_transcript(transcript, size)
            calls[str(size)] = _sent("PostToolUse", transcript, 1_000)
        return list(_take_turns(calls, {}).values())


def on_the_clock() -> dict[str, tuple[float, float]]:
    """Milliseconds from start to end of a process, median and p95: what a user's clock shows.

    A busy machine makes these longer; the ratios above it hardly change.
    """
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        os.environ["HOLDFAST_HOME"] = folder
        transcript = Path(folder, "1mb.jsonl")
        write_transcript(transcript, 1 << 20)
        _arm()
        lines = {
            "a bare `python -I -S -c pass`, on the clock": (BARE, b""),
            "PostToolUse, 1 KB payload, on the clock": (
                HOOK,
                _sent("PostToolUse", transcript, 1_000),
            ),
            "the status line, on the clock": ([*HOOK, "statusline"], _status(transcript)),
        }
        spent: dict[str, list[float]] = {name: [] for name in lines}
        for _ in range(ROUNDS):
            for name, (command, data) in lines.items():
                began = time.perf_counter()
                subprocess.run(command, input=data, capture_output=True, check=True)
                spent[name].append((time.perf_counter() - began) * 1e3)
    return {name: (median(some), quantiles(some, n=20)[-1]) for name, some in spent.items()}


def _status(transcript: Path) -> bytes:
    """What Claude Code sends to a status line, as far as ours reads it."""
    sent = {"session_id": SESSION, "transcript_path": str(transcript), "cwd": "/"}
    return json.dumps(sent).encode()


def _launcher(folder: Path) -> list[str]:
    """The command line of the plugin's hooks, as a client's shell runs it, in a plugin whose
    environment is built."""
    root, data = folder / "a plugin", folder / "data"
    (root / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "plugin" / "bin" / "holdfast", root / "bin")
    (root / "lib").symlink_to(ENTRY.parents[2])
    (root / "environment").write_text("env-1\n")
    (data / "env-1" / "bin").mkdir(parents=True)
    (data / "env-1" / "ready").touch()
    (data / "env-1" / "bin" / "python").symlink_to(sys.executable)
    os.environ |= {"CLAUDE_PLUGIN_ROOT": str(root), "CLAUDE_PLUGIN_DATA": str(data)}
    hooks = wiring.plugin_table()["PostToolUse"][0]["hooks"]
    return ["/bin/sh", "-c", hooks[0]["command"]]


def _take_turns(
    calls: dict[str, bytes], others: dict[str, tuple[list[str], bytes]]
) -> dict[str, float]:
    lines = {"bare": (BARE, b"")} | {name: (HOOK, data) for name, data in calls.items()} | others
    spent: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(ROUNDS):
        for name, (command, data) in lines.items():
            spent[name].append(_cpu(command, data))
    bare = median(spent.pop("bare"))
    return {name: median(times) / bare for name, times in spent.items()}


def _cpu(command: list[str], data: bytes) -> float:
    """CPU seconds of one process, children of ours only."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, input=data, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.stdout or run.stderr:
        raise RuntimeError(f"the hook was not asleep: {run.stdout + run.stderr!r}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _arm() -> None:
    """A machine with settings and a store: an agent came and went, and a call failed long ago."""
    Path(places.home(), "settings.toml").write_text("zone_red = 0.9\n", encoding="utf-8")
    for session, stop in ((SESSION, 0), (GUARDED, 150_000)):
        folder = places.window(session)
        Path(folder).mkdir(parents=True)
        mark.arm(folder, mark.Mark(above=150_000, stop=stop))
    guarded = places.window(GUARDED)
    projection_file.write(guarded, {"version": 1, "at_ms": 1, "hierarchy": {}})
    for event in ("SubagentStart", "SubagentStop", "PostToolUseFailure"):
        spool.append(guarded, spool.SpoolLine(1, event, 0, "agent", "a1", "writer", 0, "m"))
    for number in range(1_000):  # a spool as long as an afternoon
        told = (f"t{number}", "Bash", 9, f"m{number}")
        spool.append(guarded, spool.SpoolLine(number, "PostToolUse", 60_000, "usage", *told))


def _sent(event: str, transcript: Path, size: int, session: str = SESSION) -> bytes:
    sent = sample_payloads.make_payload(
        event, session_id=session, transcript=str(transcript), cwd=str(transcript.parent)
    )
    if size:
        code = 'def tide(hour: int) -> float:\n    return heights["low"] + hour * 0.1\n'
        sent["tool_response"] = {"stdout": (code * (size // len(code) + 1))[:size], "stderr": ""}
    return json.dumps(sent).encode()


def _written(transcript: Path) -> bytes:
    """A large file was written: a long payload whose result is short."""
    sent = json.loads(_sent("PostToolUse", transcript, 1_000))
    return json.dumps(sent | {"tool_input": {"content": "x" * 100_000}}).encode()


def write_transcript(path: Path, size: int) -> None:
    """Plausible rounds, an answer and its result each, until the file is so large."""
    text = "".join(_round(n) for n in range(BLOCK_LINES)).encode()
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(text)
        file.write(_line(sample_payloads.answer_line(60_000)).encode())


def _round(number: int) -> str:
    answer = sample_payloads.answer_line(50_000 + number)
    block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x" * 1500}
    result: dict[str, Any] = {
        "type": "user",
        "isSidechain": False,
        "message": {
            "role": "user",
            "content": [block],
        },
        "toolUseResult": {"stdout": "x" * 1500},
    }
    return _line(answer) + _line(result)


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    for name, ratio in measure().items():
        print(f"{name:48} {ratio:.2f}x")
    for name, (middle, p95) in on_the_clock().items():
        print(f"{name:48} {middle:.1f} ms, p95 {p95:.1f} ms")
