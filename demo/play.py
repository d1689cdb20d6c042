"""`make demo`: a recorded session through the real hooks: what happened, and what we said.

The transcript grows line by line as it did then, and each hook runs as the client runs it: a
process of its own with the recorded payload on stdin. Nothing outside a temporary folder is used.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

import holdfast
from holdfast.cli import colours, picture
from holdfast.cli.replay import play
from holdfast.wire import spool

HERE = Path(__file__).parent
ENTRY = Path(holdfast.__file__).parent / "hook" / "__main__.py"
HOOK = [sys.executable, "-I", "-S", str(ENTRY)]
CLI = [sys.executable, "-m", "holdfast.cli"]


def main() -> None:
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        _demo(console, Path(folder))


def _demo(console: Console, folder: Path) -> None:
    os.environ["HOLDFAST_HOME"] = str(folder / "holdfast")
    source = (HERE / "session.jsonl").read_bytes()
    transcript = folder / "session.jsonl"
    console.print(
        "[bold]A recorded Claude Code session[/], played through the real hooks. "
        "Each row is one hook process."
    )
    begun, count, session = time.perf_counter(), 0, ""
    for raw in (HERE / "payloads.jsonl").read_text(encoding="utf-8").splitlines():
        payload = json.loads(raw)
        transcript.write_bytes(source[: payload.pop("_transcript_bytes")])
        payload["transcript_path"] = str(transcript)
        session = payload["session_id"]
        said = _fire(payload)
        _row(console, payload, said, session)
        count += 1
    seconds = time.perf_counter() - begun
    transcript.write_bytes(source)
    console.print(f"\n{count} hooks in {seconds:.1f} s; every one ended by itself.\n", style="dim")
    console.rule("holdfast replay")
    replay, _ = play(transcript)
    for row in picture.columns(replay, min(console.width - 8, 100)):
        console.print(row)
    console.print("      ▲ the compaction\n", style="dim")
    for title, *arguments in (
        ("holdfast status", "status", "--session", session),
        ("holdfast log", "log", "--level", "ALERT"),
    ):
        console.rule(title)
        sys.stdout.flush()
        subprocess.run([*CLI, *arguments], check=True)
    console.print(
        "\nWhat a compaction lost is given back once checkpoints are kept; this version reads, "
        "warns and remembers.\nTry it on a session of yours, nothing to install: "
        "[bold].venv/bin/holdfast replay ~/.claude/projects/…/….jsonl[/]"
    )


def _fire(payload: dict[str, Any]) -> dict[str, Any]:
    run = subprocess.run(HOOK, input=json.dumps(payload).encode(), capture_output=True, check=True)
    if run.stderr:
        raise SystemExit(run.stderr.decode())
    said: dict[str, Any] = json.loads(run.stdout) if run.stdout else {}
    return said


def _row(console: Console, payload: dict[str, Any], said: dict[str, Any], session: str) -> None:
    folder = Path(os.environ["HOLDFAST_HOME"], "windows", session, "main")
    kept = spool.lines(str(folder))
    used = kept[-1].used if kept else 0
    ratio = used / 167_000
    zone = ("green", "yellow", "orange", "red")[sum(ratio >= mark for mark in (0.5, 0.75, 0.9))]
    event, tool = payload["hook_event_name"], payload.get("tool_name", payload.get("source", ""))
    line = Text(f"{event:<18} {tool or '':<8} ", style="dim")
    if event.startswith(("PostToolUse", "UserPrompt")):
        line.append_text(colours.bar(ratio, zone, 24))
        line.append(f" {used:>7,}")
    elif "compact" in event.lower() or tool == "compact":
        line.append("the client compacts; the old number means nothing now", style="cyan")
    console.print(line)
    to_model = said.get("hookSpecificOutput", {}).get("additionalContext")
    for label, text in (("to the model", to_model), ("to the user", said.get("systemMessage"))):
        if text:
            console.print(Text(f"    {label}: {text}", style=colours.ZONE_STYLE[zone]))


if __name__ == "__main__":
    main()
