"""`make demo`: a recorded session through the real hooks: what happened, and what we said.

The transcript grows line by line as it did then, and each hook runs as the client runs it: a
process of its own with the recorded payload on stdin. Nothing outside a temporary folder is used.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

import holdfast
from holdfast.cli import replay as replaying
from holdfast.cli import terminal
from holdfast.settings import load as settings_load
from holdfast.window import guard
from holdfast.wire import spool

HERE = Path(__file__).parent
ENTRY = Path(holdfast.__file__).parent / "hook" / "__main__.py"
HOOK = [sys.executable, "-I", "-S", str(ENTRY)]
EDGE = 167_000  # claude-sonnet-4-6, no switch turned
ZONE_STYLE = {"green": "green", "yellow": "yellow", "orange": "dark_orange", "red": "bold red"}
CLI = [sys.executable, "-m", "holdfast.cli"]


def main() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        _demo(console, Path(folder))


def _demo(console: Console, folder: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("HOLDFAST_", "CLAUDE_"))]:
        del os.environ[name]  # the demo is the same everywhere
    os.environ["HOLDFAST_HOME"] = str(folder / "holdfast")
    source = (HERE / "session.jsonl").read_bytes()
    transcript, project = folder / "session.jsonl", folder / "tide-tables"
    project.mkdir()
    console.print(
        "[bold]A recorded Claude Code session[/], played through the real hooks. One row per hook; "
        f"the bar ends at the compaction limit ({EDGE:,} tokens), where the client compacts.\n"
    )
    begun, count, session = time.perf_counter(), 0, ""
    for raw in (HERE / "payloads.jsonl").read_text(encoding="utf-8").splitlines():
        payload = json.loads(raw)
        transcript.write_bytes(source[: payload.pop("_transcript_bytes")])
        payload["transcript_path"] = str(transcript)
        os.environ["CLAUDE_PROJECT_DIR"] = str(project)
        session = payload["session_id"]
        said = _fire(payload)
        _row(console, payload, said, session)
        count += 1
    seconds = time.perf_counter() - begun
    transcript.write_bytes(source)
    replay, _ = replaying.play(transcript)
    [hit] = replay.compactions
    first = next(one for one in replay.raised if one.is_delivered)
    console.print(
        f"\n[bold]{count} hooks, {seconds:.1f} s together[/], each ended by itself. "
        f"First told {hit.index - first.index} steps ahead of the compaction, at "
        f"{first.alert or first.zone}; {hit.ops_ahead['advisory']} ahead at advisory, "
        f"{hit.ops_ahead['urgent']} at urgent.\nRead {hit.read_tokens:,} tokens there; the client "
        f"itself counted {hit.pre_tokens or 0:,} ({hit.error_ratio or 0:.2%} apart).\n"
    )
    console.rule("holdfast replay")
    for row in replaying.columns(replay, min(console.width - 8, 100)):
        console.print(Text.from_ansi(row))
    console.print("      ▲ the compaction\n", style="dim")
    _status(console, session)
    for title, *arguments in (
        ("holdfast log", "log", "--level", "ALERT"),
        ("holdfast resume", "resume"),
        ("holdfast lost: what the summary does not hold", "lost", "--transcript", str(transcript)),
    ):
        console.rule(title)
        sys.stdout.flush()
        wide = os.environ | {"COLUMNS": str(console.width)}
        subprocess.run([*CLI, *arguments], check=True, env=wide, cwd=project)
    console.print(
        "\nThe summary of this recording is written by hand. What is listed above does not stand "
        "in it whole;\n[bold]the brief restored it[/] in the model's next request.\n"
        "Try it on a session of yours, nothing to install: "
        "[bold].venv/bin/holdfast replay[/]"
    )


def _status(console: Console, session: str) -> None:
    """Without minutes: in a recording of scripted answers an operation takes no time."""
    console.rule("holdfast status")
    line = [*CLI, "status", session]
    run = subprocess.run(line, capture_output=True, text=True, check=True)
    console.print(Text(re.sub(r", (one in )?under (a minute|1 s)", "", run.stdout)), end="")


def _your_line(payload: dict[str, Any]) -> str:
    """The status line at this moment, as the client shows it under the prompt."""
    sent = {name: payload[name] for name in ("session_id", "transcript_path", "cwd")}
    quiet = os.environ | {"NO_COLOR": "1"}
    run = subprocess.run(
        [*HOOK, "statusline"],
        input=json.dumps(sent).encode(),
        capture_output=True,
        check=True,
        env=quiet,
    )
    return run.stdout.decode().strip()


def _fire(payload: dict[str, Any]) -> dict[str, Any]:
    run = subprocess.run(HOOK, input=json.dumps(payload).encode(), capture_output=True, check=True)
    if run.stderr:
        raise SystemExit(run.stderr.decode())
    if payload["hook_event_name"] == "PreCompact":  # plain words, for the client's summariser
        return {"steers": run.stdout.decode()}
    said: dict[str, Any] = json.loads(run.stdout) if run.stdout else {}
    return said


def _row(console: Console, payload: dict[str, Any], said: dict[str, Any], session: str) -> None:
    event = payload["hook_event_name"]
    tool = str(payload.get("tool_name") or payload.get("source") or payload.get("trigger") or "")
    line = Text(f"{event:<18} {tool:<8} ", style="dim")
    zone = "green"
    if event.startswith(("PostToolUse", "UserPrompt")):
        used = spool.lines(f"{os.environ['HOLDFAST_HOME']}/windows/{session}/main")[-1].used
        ratio = used / EDGE
        zone = guard.place(
            ratio, guard.Thresholds.of(settings_load.load(environ={})).zones
        ).name.lower()
        line.append_text(Text.from_ansi(terminal.bar(ratio, zone, 24)))
        line.append(f" {ratio:>4.0%} {used:>8,}  ")
        line.append(zone, style=ZONE_STYLE[zone])
    elif event == "PreCompact":
        line.append("Claude Code compacts; the next count comes after it", style="cyan")
    console.print(line)
    to_model = said.get("hookSpecificOutput", {}).get("additionalContext")
    alert = bool(to_model) and "\n" not in to_model
    to_you = said.get("systemMessage") or (_your_line(payload) if alert else "")
    heard = (("to the model", to_model), ("to you", to_you))
    for label, text in (*heard, ("to the summariser", said.get("steers"))):
        if text:
            style = "cyan" if "\n" in text else ZONE_STYLE[zone]
            console.print(Text(f"    {label}: {text}", style=style))


if __name__ == "__main__":
    main()
