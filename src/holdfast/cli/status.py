"""`holdfast status`: how full a window is, on one screen; `holdfast watch`: every window, live."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli import sessions, terminal
from holdfast.cli.options import AS_JSON, flag, of_session
from holdfast.cli.sessions import Chosen
from holdfast.cli.terminal import paint, print_json, say, unfiltered
from holdfast.client.agents import by_time, modified_at, session_of
from holdfast.client.claude_folder import project_of
from holdfast.record.user_input import first_words
from holdfast.redact.find import redact
from holdfast.settings import load as settings_load
from holdfast.text import fence
from holdfast.text.numbers import counted, short
from holdfast.text.sentences import title_of
from holdfast.transcript import Unreadable, lookup
from holdfast.watcher import loop
from holdfast.watcher.loop import describe_holder
from holdfast.window import health, history, make_mark, measurement, observed_limits
from holdfast.window.guard import estimate_mark
from holdfast.window.health import read_compactions
from holdfast.window.live_windows import is_live
from holdfast.window.state import State
from holdfast.window.velocity import in_words
from holdfast.wire.log import inert

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_CLEARED = 8
# How the used tokens are known, in words, by `basis` of a reading.
HOW_KNOWN = {
    "usage": "as the last answer reports",
    "boundary": "as the last compaction reports",
    "compacting": "during a compaction",
    "earlier": "from an earlier reading",
    "status-line": "from Claude Code's status line",
    "bytes": "estimated from the size of the transcript",
    "weights": "estimated from the tool calls",
    "none": "no answer yet",
}


@click.command()
@of_session
@flag("--all", "everything", help="Show every running session, and list the newest others.")
@AS_JSON
@flag("--forget-limits", help="Forget the compaction limits learned on this machine.")
def status(session: str, everything: bool, as_json: bool, forget_limits: bool) -> None:
    """Show how full the window is and how many steps are left.

    SESSION is an id, its first characters, or a transcript file; without it, the newest session of
    this folder is shown, else the newest of all. Percentages are shares of the compaction limit,
    the token count at which Claude Code compacts. The zone says how much is used: green,
    yellow from 50%, orange from 75%, red from 90%. The alert says how little is left: warning at
    30%, advisory at 15%, urgent at 7%, critical at 3%, and one level earlier if the window fills
    fast. `holdfast watch` shows every session, live.

    \b
    Examples:
      holdfast status            this folder's session
      holdfast status --all      every session, and the ids of past ones
      holdfast status 752b636e   a session by the start of its id
    """
    if forget_limits:
        count = counted(observed_limits.forget(int(time.time() * 1000)), "compaction")
        return say(f"Forgot {count}. Limits now come from the table and your settings.")
    if everything:
        return _show_all(session, as_json)
    chosen = sessions.choose(session, quiet=True)
    report = _with_stop_guard(chosen)
    if as_json:
        return print_json(report)
    if not session:
        sessions.say_where(chosen)
        sessions.say_others(chosen, "status")
    show(report)


def _show_all(start: str, as_json: bool) -> None:
    reports = [_with_stop_guard(window) for window in sessions.windows(start)]
    if as_json:
        return print_json(reports)
    for report in reports:
        show(report)
    if not reports:
        say("No session is running.", err=True)
    _show_past({report["session_id"] for report in reports}, start)


def _with_stop_guard(chosen: Chosen) -> dict[str, Any]:
    """The report, with what only `status` shows: cleared results, and what the stop guard looks
    at, whether it is on or off."""
    from holdfast.events import stop_guard
    from holdfast.files.executable import console_command

    values = report(chosen)
    values["compactions"], values["microcompactions"] = read_compactions(chosen.state)
    state, now_ms = chosen.state, int(time.time() * 1000)
    measured = {name: values[name] for name in ("edge_tokens", "estimated")}
    against = stop_guard.find_objections(
        state, chosen.folder, values["used_tokens"], now_ms, {}, **measured
    )
    # On as the session's next hook will find it; variables of this shell are not the session's.
    by_files = settings_load.load(state.project, environ={}).word("stop_guard") == "on"
    by_variable = {make_mark.ON_BY_VARIABLE: True, make_mark.OFF_BY_VARIABLE: False}
    values["stop_guard"] = {
        "on": by_variable.get(state.stop_guard, by_files),
        "forced": against.forced,
        "running_subtasks": list(against.running),
        "unresolved_errors": list(against.errors),
        "unsaved_ratio": round(against.unsaved_ratio, 4),
        "reason": stop_guard.judge(against, console_command()) or None,
    }
    return values


def report(chosen: Chosen) -> dict[str, Any]:
    settings = settings_load.load(chosen.state.project)
    seen = measurement.of_transcript(chosen.state, settings, int(time.time() * 1000), chosen.folder)
    values = health.describe(seen, chosen.state, settings.share("watch_at"))
    return values | {
        "heard_ms": chosen.state.at_ms or None,
        "ended_ms": chosen.state.ended_ms or None,
        # None: neither a hook nor the watcher has seen it
        "running": not sessions.has_ended(chosen) if chosen.state.was_live else None,
        "settings_slips": list(settings.errors),
        "readings": history.spooled_readings(chosen.folder),
        "watcher": loop.holder(),
        **({"server": _server()} if settings.word("server") else {}),
    }


def _server() -> dict[str, Any]:
    from holdfast.hub.team import connection

    url = connection.address()
    known = connection.health(url)
    return {
        "url": url,
        "answered_ms": known.answered_ms or None,
        "down": known.is_down(int(time.time() * 1000)),
        "words": known.words,
        "batches": known.sent,
        "refused": sorted(known.refused),
    }


def show(report: dict[str, Any]) -> None:
    """Print one screen for a person. It does without rich, whose import takes as long as two starts
    of an empty Python."""
    zone, alert = str(report["zone"]), report["alert"]
    share = f"{estimate_mark(report['estimated'])}{report['used_ratio']:.1%}"
    level = paint(f"{share} {zone}", "bold", zone)
    if alert:
        level += ", " + paint(alert, "bold", terminal.ALERT_PAINT[alert])
    say(f"{paint('context', 'bold')} {terminal.bar(report['used_ratio'], zone)} {level}")
    for label, text in _rows(report):
        say(f"  {paint(f'{label:<12}', 'dim')}{inert(text)}", hang=12)


def _rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    about = estimate_mark(report["estimated"])
    used = f"{about}{report['used_tokens']:,} of {report['edge_tokens']:,} tokens"
    edge = f"{report['edge_tokens']:,} in a window of {report['window_tokens']:,}"
    agent = f", agent {report['agent_id']}" if report["agent_id"] else ""
    client = f"client {report['client_version'] or 'unknown'}"
    removed, guard = report["checkpoint_removed"], report["stop_guard"]
    path = report["checkpoint_path"] or removed or ""
    # its id, as `resume` takes it
    saved = f"{Path(path).stem}, {'its file is gone' if removed else ''}" if path else ""
    if report["checkpoint_trigger"]:
        saved += f"{_ago(report['checkpoint_ms'])} ({report['checkpoint_trigger']})"
    heard = "none in this session; these figures are from its transcript"
    heard = _ago(report["heard_ms"]) if report["heard_ms"] else heard
    heard = f"the session ended {_ago(report['ended_ms'])}" if report["ended_ms"] else heard
    since = " since the last checkpoint" if report["checkpoint_ms"] else ": no checkpoint"
    against = ["stops are forced"] * guard["forced"]
    against += [f"{task} runs" for task in guard["running_subtasks"]]
    against += [f"unresolved: {error}" for error in guard["unresolved_errors"]]
    rows = [
        ("used", f"{used} ({HOW_KNOWN[report['basis']]})"),
        *_cleared(report),
        ("limit", f"{edge}; source: {report['edge_source']}"),
        ("left", _describe_remaining(report)),
        ("forecast", report["forecast_basis"]),
        ("session", f"{report['session_id']}{agent} in {report['cwd'] or 'an unknown folder'}"),
        ("last hook", heard),
        ("model", f"{report['model'] or 'unknown'}, {client}"),
        ("switches", ", ".join(f"{name}={value}" for name, value in report["switches"].items())),
        ("checkpoint", saved),
        ("", path),  # on a line of its own: it may be wrapped anywhere
        ("watcher", describe_holder(report["watcher"]) if report["watcher"] else ""),
        ("server", _server_words(report["server"]) if "server" in report else ""),
        ("unsaved", f"{about}{guard['unsaved_ratio']:.0%} of the limit{since}"),
        ("stop guard", "; ".join(["on" if guard["on"] else "off", *against])),
        *(("settings", error) for error in report["settings_slips"]),
    ]
    return [row for row in rows if row[1]]


def _describe_remaining(report: dict[str, Any]) -> str:
    """Return what is left. Minutes are given only for a running session; steps also for one that
    may be resumed."""
    if report["running"]:
        return in_words(report["ops_left"], report["pace_ms"]) or "unknown"
    steps = in_words(report["ops_left"]) or "unknown"
    if report["running"] is None:
        return f"{steps}; it is not known whether the session runs"
    return f"{steps} if the session is resumed; it is not running"


def _cleared(report: dict[str, Any]) -> list[tuple[str, str]]:
    """List the newest cleared results by name; --json has all of them."""
    cleared = report["microcompactions"]
    results = counted(len(cleared["cleared_tool_use_ids"]), "tool result")
    times = counted(cleared["count"], "microcompaction")
    words = f"{results}, about {counted(cleared['saved_tokens'], 'token')}, by {times}"
    rows = [("", f"{row['id']} {row['call']}") for row in cleared["cleared"][-MOST_CLEARED:]]
    how = "; `holdfast search --expand ID` prints one" if rows else ""
    return [("cleared", f"{words} of Claude Code{how}"), *rows] if cleared["count"] else []


def _server_words(server: dict[str, Any]) -> str:
    answered = _ago(server["answered_ms"]) if server["answered_ms"] else "never"
    sent = counted(server["batches"], "batch")
    refused = f"refused: {', '.join(server['refused'])}" if server["refused"] else ""
    parts = (f"{server['url']}, answered {answered}, {sent} sent", server["words"], refused)
    return "; ".join(filter(None, parts))


def _ago(ms: int) -> str:
    seconds = time.time() - ms / 1000
    return "just now" if seconds < 60 else f"{terminal.age(seconds)} ago"


PAST_SESSIONS = 10


def _show_past(running: Collection[str], start: str) -> None:
    """List the newest transcripts, also those before an install, without the running sessions."""
    named = ((session_of(path), path) for path in by_time())
    wanted = (pair for pair in named if pair[0].startswith(start) and pair[0] not in running)
    rows = []
    for name, path in islice(wanted, PAST_SESSIONS):
        with suppress(OSError, Unreadable):  # deleted meanwhile
            count = str(lookup.compactions(path).count)
            age = terminal.age(time.time() - modified_at(path))
            asked = fence.clean(short(title_of(redact(first_words(path))), TITLE_CHARS))
            rows.append((name[:8], age, count, short(Path(project_of(path)).name, 16), asked))
    if rows:
        say("Not running, newest first; `holdfast replay ID` shows what happened in one:", err=True)
        terminal.draw_table(("session", "age", "compactions", "folder", "asked first"), rows)


WATCH_SECONDS = 2.0
BAR, TITLE_CHARS, MOST_PATH = 10, 120, 4_096


@click.command()
def watch() -> None:
    """Show every session on this machine, live.

    One row for each session and subagent, refreshed every two seconds, until Ctrl-C. In a pipe it
    prints them once.
    """
    from rich.console import Console
    from rich.live import Live

    from holdfast.cli.start import until_signalled

    console = Console(file=unfiltered(sys.stdout))
    if not sys.stdout.isatty():
        terminal.draw(_live_table())
        return
    say(f"Refreshed every {WATCH_SECONDS:g} seconds; Ctrl-C ends it.", err=True)
    # a signal in the middle of a frame would show its head twice
    with (
        until_signalled(signal.SIGINT) as ended,
        Live(_live_table(), console=console, auto_refresh=False) as live,
    ):
        while not ended.wait(WATCH_SECONDS):
            live.update(_live_table(), refresh=True)
    raise click.Abort


def _live_windows() -> list[dict[str, Any]]:
    """The live windows, as the dashboard counts them: what compacts next first, agents under their
    session."""
    now_ms = int(time.time() * 1000)
    known = sessions.windows()
    live = (window for window in known if is_live(window.folder, window.state, now_ms))
    rows = sorted((report(one) | {"title": _title(one.state)} for one in live), key=_urgency)
    first = {row["session_id"]: at for at, row in reversed(list(enumerate(rows)))}
    return sorted(rows, key=lambda row: (first[row["session_id"]], bool(row["agent_id"])))


def _urgency(row: dict[str, Any]) -> tuple[float, ...]:
    """Red and orange first, then by the steps that are shown, then by how full it is."""
    zone = {"red": 0, "orange": 1}.get(row["zone"], 2)
    is_unknown = row["ops_left"] is None or row["compacting"]
    return zone, float("inf") if is_unknown else row["ops_left"], -row["used_ratio"]


def _title(state: State) -> str:
    if state.agent_id:
        return f"└ {inert(state.agent_type or state.agent_id, TITLE_CHARS)}"
    with suppress(OSError, Unreadable):
        return title_of(redact(first_words(state.transcript)))
    return ""


def _live_table() -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    rows = _live_windows()
    table = Table(box=None, pad_edge=False, expand=True)  # else rich cuts the narrow columns too
    for heading in ("session", "context", "", "left", "alert", "folder", "asked first"):
        ratio = {"folder": 1, "asked first": 2}.get(heading)
        table.add_column(heading, no_wrap=True, ratio=ratio)
    for row in rows:
        about = estimate_mark(row["estimated"])
        table.add_row(
            inert("" if row["agent_id"] else row["session_id"][:8]),
            Text.from_ansi(terminal.bar(row["used_ratio"], row["zone"], BAR)),
            "compacting" if row["compacting"] else f"{about}{row['used_ratio']:.0%}",
            in_words(row["ops_left"]) or "unknown",
            row["alert"] or "",
            Text(inert(Path(row["cwd"] or "").name, MOST_PATH)),
            Text(inert(row["title"], TITLE_CHARS)),
        )
    return table if rows else Text("No session is running. Start Claude Code in a project.")
