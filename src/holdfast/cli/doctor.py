"""`holdfast doctor`: fire every installed hook, and say what reached the client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from holdfast.cli.options import AS_JSON
from holdfast.cli.terminal import paint, print_json, say, working
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
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Run every installed hook once and report what works.

    It plays a compaction through the hooks and starts the MCP server, as Claude Code would. Ends
    with 1 if something is wrong, and says how to fix it.
    """
    with working("running each hook"):
        report = examine(Path.cwd())
    report["ok"] = not report["troubles"]
    if as_json:
        print_json(report)
    else:
        _show(report)
    context.exit(0 if report["ok"] else 1)


def _show(report: dict[str, Any]) -> None:
    for install in report["installs"]:
        say(f"installed: {install['scope']}, {install['path']}")
    if report["hooks"]:
        say("Each hook runs once, in a made-up session whose window is 99% full:")
    line = [report["status_line"]] if report["status_line"] else []
    for hook in [*report["hooks"], *line]:
        _say_row(hook["ok"], hook["event"], hook["milliseconds"], _reached(hook))
    if report["compaction"]:
        say("Then a made-up session is compacted:")
    for step in report["compaction"]:
        _say_row(step["ok"], step["name"], step["milliseconds"], step["words"])
    for server in report["servers"]:
        outcome = f"tools: {', '.join(server['tools'])}; ended" if server["ok"] else "see below"
        _say_row(server["ok"], "MCP server", server["milliseconds"], outcome)
    for limit in report["limits"]:
        say(f"  {_limit(limit)}")
    for words in transcripts_in_words(report["transcripts"]):
        say(f"  {words}")
    for error in report["recent_errors"]:
        say(f"  logged: {error}")
    if report["transcript_lines"]:
        say(f"  newest transcript: {_in_words(report['transcript_lines'])}")
    for note in report["notes"]:
        say(f"note: {note}", err=True)
    for trouble in report["troubles"]:
        say(f"{paint('trouble:', 'red', err=True)} {trouble}", err=True)
    if report["ok"] and report["recent_errors"]:
        say(f"{paint('All checks passed.', 'green')} {ERRORS_BEFORE}")
    elif report["ok"]:
        say(paint("All is well.", "green"))
    else:
        say(paint("Something is wrong; every trouble above says what to do.", "red"))


def _say_row(is_ok: bool, name: str, milliseconds: float, words: str) -> None:
    mark = paint("ok ", "green") if is_ok else paint("BAD", "red")
    say(f"  {mark} {name:<19} {milliseconds:>6.0f} ms  {words}", hang=TEXT_COLUMN - 2)


def _limit(limit: dict[str, Any]) -> str:
    words = f"compaction limit {limit['tokens']:,}: {limit['source']}"
    if "session_id" in limit:
        return f"{words} (session {limit['session_id'][:8]})"
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
