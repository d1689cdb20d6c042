"""`holdfast doctor`: fire every installed hook, and say what reached the client."""

from pathlib import Path
from typing import Any

import click

from holdfast.cli.options import AS_JSON
from holdfast.cli.terminal import paint, print_json, say, working
from holdfast.cli.transcripts import in_words as transcripts_in_words
from holdfast.setup.doctor import examine
from holdfast.setup.wiring import prints_second_half
from holdfast.text.numbers import short

SHOWN_CHARS = 90
TEXT_COLUMN = 37  # right of mark, name and time


@click.command()
@AS_JSON
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Run every installed hook once and report what works.

    It plays a compaction through the hooks and starts the MCP server, as Claude Code would. If
    something is wrong, it says how to fix it, and the exit code is 1.
    """
    with working("running each hook"):
        report = examine(Path.cwd())
    report["ok"] = not report["troubles"]
    print_json(report) if as_json else _show(report)
    context.exit(0 if report["ok"] else 1)


def _show(report: dict[str, Any]) -> None:
    for install in report["installs"]:
        say(f"installed: {install['scope']}, {install['path']}")
    if report["hooks"]:
        say("Each hook runs once, in a made-up session whose window is 99% full:")
    line = [report["status_line"]] if report["status_line"] else []
    for hook in [*report["hooks"], *line]:
        name = f"{hook['event']}, 2nd" if prints_second_half(hook["command"]) else hook["event"]
        _say_row(hook["ok"], name, hook["milliseconds"], _reached(hook))
    if report["compaction"]:
        say("Then a made-up session is compacted:")
    for step in report["compaction"]:
        _say_row(step["ok"], step["name"], step["milliseconds"], step["words"])
    for server in report["servers"]:
        outcome = f"tools: {', '.join(server['tools'])}" if server["ok"] else "see below"
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
        words = "The errors above were logged in the last two days; `holdfast log` shows more."
        say(f"{paint('All checks passed.', 'green')} {words}")
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
    """Describe a tally of lines; those that were not understood are named only if there are any."""
    always = {"lines": "lines", "understood": "understood", "left_alone": "not needed"}
    odd = {name: name for name in ("unknown", "torn", "oversized", "misfit") if tally[name]}
    return ", ".join(f"{tally[name]:,} {words}" for name, words in (always | odd).items())


def _reached(hook: dict[str, Any]) -> str:
    """Say what reached the model or the user. The reason for a failure is printed below."""
    whom = {"to the model": hook["reached_model"], "to the user": hook["reached_user"]}
    parts = (
        f"{reader}: {short(' '.join(text.split()), SHOWN_CHARS)}"  # --json has all of it
        for reader, text in whom.items()
        if text
    )
    return "; ".join(parts) or ("silent, as it should be" if hook["ok"] else "see below")
