"""`holdfast doctor`: fire every installed hook, and say what reached the client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from holdfast.cli.options import AS_JSON
from holdfast.cli.terminal import paint, say
from holdfast.cli.transcripts import in_words as transcripts_in_words
from holdfast.setup.doctor.checks import examine
from holdfast.text.numbers import short

SHOWN_CHARS = 90
ERRORS_BEFORE = (
    "The errors above were logged in the last two days: `holdfast log` shows what came before them."
)
TEXT_COLUMN = 37  # right of mark, name and time


@click.command()
@AS_JSON
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path.cwd,
    help="Check this project's settings too.",
)
@click.pass_context
def doctor(
    ctx: click.Context,
    as_json: bool,
    project: Path,
) -> None:
    """Fire every installed hook, start the MCP server; exit 1 when something is wrong."""
    found = examine(project)
    found["ok"] = not found["troubles"]
    if as_json:
        click.echo(json.dumps(found, indent=2))
    else:
        _show(found)
    ctx.exit(0 if found["ok"] else 1)


def _show(found: dict[str, Any]) -> None:
    for install in found["installs"]:
        say(f"installed: {install['scope']}, {install['path']}")
    if found["hooks"]:
        say("Each hook runs once, in a made-up session whose window is 99% full:")
    line = [found["status_line"]] if found["status_line"] else []
    for hook in [*found["hooks"], *line]:
        _say_row(hook["ok"], hook["event"], hook["milliseconds"], _reached(hook))
    if found["compaction"]:
        say("Then a made-up session is compacted:")
    for step in found["compaction"]:
        _say_row(step["ok"], step["name"], step["milliseconds"], step["words"])
    for server in found["servers"]:
        outcome = f"tools: {', '.join(server['tools'])}; ended" if server["ok"] else "see below"
        _say_row(server["ok"], "MCP server", server["milliseconds"], outcome)
    for limit in found["limits"]:
        say(f"  {_limit(limit)}")
    for words in transcripts_in_words(found["transcripts"]):
        say(f"  {words}")
    for error in found["recent_errors"]:
        say(f"  logged: {error}")
    if found["transcript_lines"]:
        say(f"  newest transcript: {_in_words(found['transcript_lines'])}")
    for note in found["notes"]:
        say(f"note: {note}", err=True)
    for trouble in found["troubles"]:
        say(f"{paint('trouble:', 'red', err=True)} {trouble}", err=True)
    if found["ok"] and found["recent_errors"]:
        say(f"{paint('All checks passed.', 'green')} {ERRORS_BEFORE}")
    elif found["ok"]:
        say(paint("All is well.", "green"))
    else:
        say(paint("Something is wrong; every trouble above says what to do.", "red"))


def _say_row(is_ok: bool, name: str, milliseconds: float, words: str) -> None:
    mark = paint("ok ", "green") if is_ok else paint("BAD", "red")
    say(f"  {mark} {name:<19} {milliseconds:>6.0f} ms  {words}", hang=TEXT_COLUMN - 2)


def _limit(one: dict[str, Any]) -> str:
    words = f"compaction limit {one['tokens']:,}: {one['source']}"
    if "session_id" in one:
        return f"{words} (session {one['session_id'][:8]})"
    return f"{words}; forget it with `holdfast status --forget-limits`"


def _in_words(tally: dict[str, int]) -> str:
    """Describe a tally of lines: all, understood, not needed, then those that were not understood,
    if any."""
    odd = {
        "unknown": "of an unknown kind",
        "torn": "torn",
        "oversized": "too long to be read",
        "misfit": "not as expected",
    }
    counts = [f"{tally[name]:,} {words}" for name, words in odd.items() if tally[name]]
    known = f"{tally['lines']:,} lines, {tally['understood']:,} understood, "
    return ", ".join([known + f"{tally['left_alone']:,} not needed", *counts])


def _reached(hook: dict[str, Any]) -> str:
    """Say what reached the model or the user. The reason for a failure is printed below, with what
    to do."""
    parts = []
    if hook["reached_model"]:
        parts.append(f"to the model: {_start(hook['reached_model'])}")
    if hook["reached_user"]:
        parts.append(f"to the user: {_start(hook['reached_user'])}")
    return "; ".join(parts) or ("silent, as it should be" if hook["ok"] else "see below")


def _start(text: str) -> str:
    """Return the start of a text, enough to recognise it; --json has all of it."""
    return short(" ".join(text.split()), SHOWN_CHARS)
