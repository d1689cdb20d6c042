"""`holdfast log`: what the guard did, every alert as an audit event, and decisions made in a nearly
full window.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from holdfast.cli.options import AS_JSON
from holdfast.cli.terminal import paint, say
from holdfast.hub import row_times
from holdfast.record import model as known
from holdfast.record.open_items import find_decisions
from holdfast.record.reader import RecordReader
from holdfast.redact import redact
from holdfast.window import audit
from holdfast.window import state as states
from holdfast.window.audit import FREED, PRESSURE, ZONES, LogLine, under_pressure
from holdfast.wire import log as guard_log
from holdfast.wire import places
from holdfast.wire.errors import describe
from holdfast.wire.log import add as add_to_log
from holdfast.wire.log import inert

LOOK_EVERY_SECONDS = 0.5
COLOURS = {"WARN": "yellow", "ALERT": "orange", "ERROR": "red"}
EMPTY = "Nothing is logged yet. Hooks write here while Claude Code runs, after `holdfast install`."


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Wait for more.")
@click.option(
    "--lines", "-n", default=40, show_default=True, type=click.IntRange(0), help="Number of lines."
)
@click.option("--level", type=click.Choice(guard_log.LEVELS), help="This level and above.")
@click.option(
    "--audit", "as_audit", is_flag=True, help="Show every alert and compaction as a JSON line."
)
@click.option("--decisions", is_flag=True, help="Show what was decided in an orange or red window.")
@AS_JSON
def log(
    follow: bool,
    lines: int,
    level: str | None,
    as_audit: bool,
    decisions: bool,
    as_json: bool,
) -> None:
    """Show what Holdfast did, line by line.

    Errors of hooks are only here: a hook that fails never stops Claude Code.

    \b
    Examples:
      holdfast log --follow       wait for more
      holdfast log --level WARN   warnings and worse
    """
    if decisions:
        return _show_decisions(lines, as_json)
    if as_audit:
        for event in audit.events():
            click.echo(json.dumps(event))
        return
    wanted = [line for line in audit.log_lines() if line.fits(level)]
    for line in wanted[-lines:] if lines else []:
        _print(line, as_json)
    if not wanted and not follow:
        say("Nothing of that kind is in the log." if level else EMPTY, err=True)
    if follow:
        for text in _following(Path(guard_log.path())):
            new = audit.parse_log_line(text)
            if new and new.fits(level):
                _print(new, as_json)


def _print(line: LogLine, as_json: bool) -> None:
    if as_json:
        return click.echo(json.dumps(line._asdict()))
    at, level, place, message = line
    say(f"{at} {paint(level, COLOURS.get(level, 'dim'))} {place} {message}", hang=4)


def _show_decisions(lines: int, as_json: bool) -> None:
    """Print for review the decisions made in a nearly full window, each with its question and
    turn."""
    decisions = of_machine()
    for row in decisions[-lines:] if lines else []:
        if as_json:
            click.echo(json.dumps(row))
        else:
            say(_decision(row), hang=4)
    if not decisions:
        say("No decision was made in an orange or red window.", err=True)


def _decision(row: dict[str, Any]) -> str:
    window = f"{row['at']} {row['zone']} {row['used_ratio'] or 0:.0%} {row['session_id'][:8]}"
    question = f"{inert(row['question'], 300)} → " if row["question"] else ""
    return f"{window} turn {row['turn']}, {row['by']}: {question}{inert(row['decision'], 300)}"


def _following(path: Path) -> Iterator[str]:
    """Yield new lines as they come; after a rotation, the new file from its start."""
    file, held = _opened(path, at_end=True)
    while True:
        line = file.readline() if file else b""
        if line.endswith(b"\n"):
            yield line.decode("utf-8", "replace").rstrip("\n")
            continue
        if file and line:
            file.seek(-len(line), os.SEEK_CUR)
        time.sleep(LOOK_EVERY_SECONDS)
        if _inode(path) not in (held, 0):
            file, held = _opened(path, at_end=False)


def _opened(path: Path, *, at_end: bool) -> tuple[BinaryIO | None, int]:
    if not path.is_file():
        return None, 0
    file = path.open("rb")
    file.seek(0, os.SEEK_END if at_end else os.SEEK_SET)
    return file, os.fstat(file.fileno()).st_ino


def _inode(path: Path) -> int:
    return path.stat().st_ino if path.is_file() else 0


MOST_RECORD_BYTES = 32 << 20
MOST_ASKED = 300


def of_machine() -> list[dict[str, Any]]:
    """List the decisions of all sessions, oldest first. Nothing is written."""
    windows: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for event in audit.events():
        name, agent = str(event.get("session_id", "")), str(event.get("agent_id", ""))
        if event.get("event") in (PRESSURE, FREED):
            windows.setdefault((name, agent), []).append(event)
    rows = [
        {"session_id": name, "agent_id": agent, "at": row_times.to_iso(row["at_ms"]), **row}
        for (name, agent), events in windows.items()
        if any(event.get("zone") in ZONES for event in events)
        for row in under_pressure(_decided(name, agent), events)
    ]
    return sorted(rows, key=lambda row: (row["at_ms"], row["turn"]))


def _decided(session: str, agent: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each decision with its turn: the request, and the question that it answers."""
    folder = places.window(session, agent)
    record = known.load(places.read_small(f"{folder}/record.json", MOST_RECORD_BYTES))
    transcript = states.load(folder).transcript
    try:
        record = RecordReader(record, sidechain=bool(agent)).read(transcript)
    except Exception as error:  # the client deletes transcripts after 30 days: what was read stays
        add_to_log("INFO", session[:8], f"its transcript was not read: {describe(error)}")
    for decision in find_decisions(record) if record is not None else ():
        if (at_ms := row_times.from_iso(decision.place.at)) is not None:
            fields = {
                "turn": decision.turn,
                "asked": redact(decision.asked)[:MOST_ASKED],
                "by": decision.by,
                "question": redact(decision.question),
                "decision": redact(decision.text),
            }
            yield at_ms, fields
