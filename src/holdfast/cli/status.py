"""`holdfast status`: how full the window is, on one screen."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import click

from holdfast.cli import sessions, terminal
from holdfast.cli.options import AS_JSON, of_session
from holdfast.cli.sessions import Chosen
from holdfast.cli.terminal import paint, say
from holdfast.client.agents import by_time, modified_at, session_of
from holdfast.client.limit_settings import project_of
from holdfast.record.user_input import first_words
from holdfast.redact import redact
from holdfast.settings import load as settings_load
from holdfast.text import fence
from holdfast.text.fence import shown
from holdfast.text.numbers import counted, short
from holdfast.transcript import Unreadable, lookup
from holdfast.watcher import loop
from holdfast.watcher.loop import describe_holder
from holdfast.window import alert_texts, health, history, make_mark, view
from holdfast.window.health import read_compactions
from holdfast.window.state import State
from holdfast.window.velocity import in_words
from holdfast.wire.log import inert

MOST_CLEARED = 8
MOST_READINGS = 40  # drawn beside `lately`
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


OTHERS = "holdfast status ID or --all for the others"


@click.command()
@of_session
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show every session that has not ended, and list the newest past ones.",
)
@AS_JSON
@click.option(
    "--forget-limits", is_flag=True, help="Forget the compaction limits learned on this machine."
)
def status(session: str, everything: bool, as_json: bool, forget_limits: bool) -> None:
    """Show how full the window is and how many steps are left.

    Without SESSION it shows the session of this folder's project, else the newest one. SESSION is
    an id, its first characters, or a transcript file. Percentages are shares of the compaction
    limit, the token count at which Claude Code compacts. The zone says how much is used: green,
    yellow from 50 %, orange from 75 %, red from 90 %. The alert says how little is left: warning at
    30 %, advisory at 15 %, urgent at 7 %, critical at 3 %, and one level earlier if the window
    fills fast. `holdfast watch` shows every session, live.

    \b
    Examples:
      holdfast status            this project's session
      holdfast status --all      every session, and the ids of past ones
      holdfast status 752b636e   a session by the start of its id
    """
    if forget_limits:
        return _forget_limits()
    if everything:
        return _show_all(session, as_json)
    chosen = sessions.choose(session, quiet=True)
    report = _with_stop_guard(chosen)
    if as_json:
        click.echo(json.dumps(report, indent=2))
        return
    if not session:
        sessions.say_where(chosen)
    if not session and (note := sessions.others_note(chosen, OTHERS)):
        say(f"note: {note}", err=True)
    show(report)


def _show_all(start: str, as_json: bool) -> None:
    reports = [_with_stop_guard(window) for window in sessions.windows(start)]
    if as_json:
        click.echo(json.dumps(reports, indent=2))
        return
    for report in reports:
        show(report)
    if not reports:
        say("No session is running.", err=True)
    _show_past({report["session_id"] for report in reports}, start)


def _forget_limits() -> None:
    from holdfast.window import observed_limits

    count = observed_limits.forget(int(time.time() * 1000))
    say(f"Forgot {counted(count, 'compaction')}. Limits now come from the table and your settings.")


def _with_stop_guard(chosen: Chosen) -> dict[str, Any]:
    """The report, with what only `status` shows: cleared results, and what the stop guard looks
    at, whether it is on or off."""
    from holdfast.events import stop_guard
    from holdfast.files.executable import console_command

    values = report(chosen)
    values["compactions"], values["microcompactions"] = read_compactions(chosen.state)
    state, now_ms = chosen.state, int(time.time() * 1000)
    against = stop_guard.find_objections(
        state,
        chosen.folder,
        values["used_tokens"],
        now_ms,
        {},
        edge_tokens=values["edge_tokens"],
        estimated=values["estimated"],
    )
    values["stop_guard"] = {
        "on": _is_guarded(state),
        "forced": against.forced,
        "running_subtasks": list(against.running),
        "unresolved_errors": list(against.errors),
        "unsaved_ratio": round(against.unsaved_ratio, 4),
        "reason": stop_guard.judge(against, console_command()) or None,
    }
    return values


def _is_guarded(state: State) -> bool:
    """Return whether the stop guard is on, as the session's next hook will find it: by the
    session's variable, else by the settings files.

    Variables of this shell are not the session's.
    """
    if state.stop_guard in (make_mark.ON_BY_VARIABLE, make_mark.OFF_BY_VARIABLE):
        return state.stop_guard == make_mark.ON_BY_VARIABLE
    return settings_load.load(state.project, environ={}).word("stop_guard") == "on"


def report(chosen: Chosen) -> dict[str, Any]:
    """Return what is known about a window, as values for JSON."""
    settings = settings_load.load(chosen.state.project)
    seen = view.of_transcript(chosen.state, settings, int(time.time() * 1000), chosen.folder)
    values = health.describe(seen, chosen.state, settings.share("watch_at"))
    return values | {
        "heard_ms": chosen.state.at_ms or None,
        "ended_ms": chosen.state.ended_ms or None,
        "running": _is_running(chosen),
        "settings_slips": list(settings.errors),
        "readings": history.spooled_readings(chosen.folder),
        "watcher": loop.holder(),
        **({"server": _server()} if settings.word("server") else {}),
    }


def _is_running(chosen: Chosen) -> bool | None:
    """Return whether the session is running; None if neither a hook nor the watcher has seen it."""
    state = chosen.state
    if not state.was_live:
        return None
    return not sessions.has_ended(chosen)


def _server() -> dict[str, Any]:
    """Return the state of the team's server at the last contact."""
    from holdfast.hub.team import connection

    url = connection.address()
    known = connection.health(url)
    down = known.is_down(int(time.time() * 1000))
    return {
        "url": url,
        "answered_ms": known.answered_ms or None,
        "down": down,
        "words": known.words,
        "batches": known.sent,
        "refused": sorted(known.refused),
    }


def show(report: dict[str, Any]) -> None:
    """Print one screen for a person. It does without rich, whose import takes as long as two starts
    of an empty Python."""
    zone, alert = str(report["zone"]), report["alert"]
    share = f"{alert_texts.estimate_mark(report['estimated'])}{report['used_ratio']:.1%}"
    level = paint(f"{share} {zone}", "bold", terminal.ZONE_PAINT[zone])
    if alert:
        level += ", " + paint(alert, "bold", terminal.ALERT_PAINT[alert])
    say(f"{paint('context', 'bold')} {terminal.bar(report['used_ratio'], zone)} {level}")
    for label, text in _rows(report):
        say(f"  {paint(f'{label:<12}', 'dim')}{inert(text)}", hang=12)


def _rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    about = alert_texts.estimate_mark(report["estimated"])
    used = f"{about}{report['used_tokens']:,} of {report['edge_tokens']:,} tokens"
    edge = f"{report['edge_tokens']:,} in a window of {report['window_tokens']:,}"
    rows = [
        ("used", f"{used} ({HOW_KNOWN[report['basis']]})"),
        ("limit", f"{edge}: {report['edge_source']}"),
        ("left", _describe_remaining(report)),
        ("forecast", report["forecast_basis"]),
        ("session", _describe_session(report)),
        ("last hook", _when(report)),
        (
            "model",
            f"{report['model'] or 'unknown'}, client {report['client_version'] or 'unknown'}",
        ),
    ]
    if len(report["readings"]) > 1:
        rows.insert(3, ("lately", terminal.sparkline(_lately(report), report["edge_tokens"])))
    if report["microcompactions"]["count"]:
        rows[1:1] = _cleared(report["microcompactions"])
    if report["switches"]:
        turned = ", ".join(f"{name}={value}" for name, value in report["switches"].items())
        rows.append(("switches", turned))
    if report["checkpoint_trigger"]:
        rows += _checkpoint(report)
    if report["watcher"]:
        rows.append(("watcher", describe_holder(report["watcher"])))
    if report.get("server"):
        rows.append(("server", _server_words(report["server"])))
    if "stop_guard" in report:
        rows += [("unsaved", _unsaved(report, about)), ("stop guard", _stop_guard(report))]
    return rows + [("settings", error) for error in report["settings_slips"]]


def _lately(report: dict[str, Any]) -> list[int]:
    """Return the last readings of hooks, and that of this moment: right after a compaction no hook
    has read the new window yet."""
    now = report["used_tokens"]
    readings = report["readings"][-MOST_READINGS:]
    return readings if readings[-1] == now else [*readings[1 - MOST_READINGS :], now]


def _describe_remaining(report: dict[str, Any]) -> str:
    """Return what is left. Minutes are given only for a running session; steps also for one that
    may be resumed."""
    if report["running"]:
        left = in_words(report["ops_left"], report["pace_ms"])
        return left or "unknown"
    steps = in_words(report["ops_left"])
    if report["running"] is None:
        return f"{steps}, if the session is still running or is resumed" if steps else "unknown"
    return f"not running; {steps} if it is resumed" if steps else "not running"


def _cleared(report: dict[str, Any]) -> list[tuple[str, str]]:
    """List the newest cleared results by name; --json has all of them."""
    results = counted(len(report["cleared_tool_use_ids"]), "tool result")
    times = counted(report["count"], "microcompaction")
    words = (
        f"{results}, about {counted(report['saved_tokens'], 'token')}, by {times} of Claude Code"
    )
    if not report["cleared"]:
        return [("cleared", words)]
    rows = [("", f"{row['id']} {row['call']}") for row in report["cleared"][-MOST_CLEARED:]]
    return [("cleared", f"{words}; `holdfast search --expand ID` prints one"), *rows]


def _checkpoint(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the checkpoint with its id on a separate line, as `resume` takes it: a path may be
    wrapped anywhere."""
    kept = f"{_ago(report['checkpoint_ms'])} ({report['checkpoint_trigger']})"
    path = report["checkpoint_path"]
    if not path:
        return [("checkpoint", f"{kept}: its path is unknown")]
    return [("checkpoint", f"{Path(path).stem}, {kept}"), ("", path)]


def _server_words(server: dict[str, Any]) -> str:
    answered = _ago(server["answered_ms"]) if server["answered_ms"] else "never"
    sent = counted(server["batches"], "batch")
    parts = [f"{server['url']}, answered {answered}, {sent} sent"]
    parts += [server["words"]] if server["words"] else []
    parts += [f"refused: {', '.join(server['refused'])}"] if server["refused"] else []
    return "; ".join(parts)


def _unsaved(report: dict[str, Any], about: str) -> str:
    used = f"{about}{report['stop_guard']['unsaved_ratio']:.0%} of the limit"
    saved = bool(report["checkpoint_ms"])
    return f"{used} since the last checkpoint" if saved else f"{used}: no checkpoint yet"


def _stop_guard(report: dict[str, Any]) -> str:
    guard = report["stop_guard"]
    against = [f"{task} runs" for task in guard["running_subtasks"]]
    against += [f"unresolved: {error}" for error in guard["unresolved_errors"]]
    forced = ["stops are forced"] if guard["forced"] else []
    return "; ".join(["on" if guard["on"] else "off", *forced, *against])


def _when(report: dict[str, Any]) -> str:
    """Say how old the last report is, and whether the session has ended."""
    if report["ended_ms"]:
        return f"the session ended {_ago(report['ended_ms'])}"
    return (
        _ago(report["heard_ms"])
        if report["heard_ms"]
        else "none has run in this session; read from its transcript"
    )


def _ago(ms: int) -> str:
    minutes = (time.time() * 1000 - ms) / 60_000
    return "just now" if minutes < 1 else f"{terminal.duration(minutes)} ago"


def _describe_session(report: dict[str, Any]) -> str:
    agent = f", agent {report['agent_id']}" if report["agent_id"] else ""
    return f"{report['session_id']}{agent} in {report['cwd'] or 'an unknown folder'}"


PAST_SESSIONS = 10
COUNTED_BYTES = 100 << 20  # a gigabyte takes a second
MOST_ASKED = 1_000
FOLDER_CHARS = 24
NARROW = 80  # columns; below, half of that


class PastSession(NamedTuple):
    """A session that is not running, according to its transcript."""

    session_id: str
    written: float
    folder: str
    asked: str
    compactions: int | None  # None: the file is too large to count in a moment


def _past_sessions(running: Collection[str], start: str) -> Iterator[PastSession]:
    """List the newest transcripts, also those before an install, without the running sessions."""
    named = ((session_of(path), path) for path in by_time())
    wanted = (pair for pair in named if pair[0].startswith(start) and pair[0] not in running)
    for name, path in islice(wanted, PAST_SESSIONS):
        try:
            is_small = path.stat().st_size <= COUNTED_BYTES
            count = lookup.compactions(path).count if is_small else None
            asked = redact(" ".join(first_words(path).split())[:MOST_ASKED])
        except (OSError, Unreadable):  # deleted meanwhile
            continue
        yield PastSession(name, modified_at(path), project_of(path), asked, count)


def _show_past(running: Collection[str], start: str) -> None:
    width = shutil.get_terminal_size((120, 24)).columns
    folder_chars = FOLDER_CHARS if width >= NARROW else FOLDER_CHARS // 2
    past = list(_past_sessions(running, start))
    if past:
        say("Not running, newest first; `holdfast replay ID` shows what happened in one:", err=True)
        heads = f"{'session':<8} {'age':>8} compactions {'folder':<{folder_chars}} asked first"
        say(short(heads, width), err=True)
    for session in past:
        say(short(_past_line(session, folder_chars), width))


def _past_line(session: PastSession, folder_chars: int) -> str:
    folder = shown(session.folder or "unknown")
    if len(folder) > folder_chars:
        folder = f"…{folder[1 - folder_chars :]}"  # the folders of one machine begin alike
    count = "?" if session.compactions is None else f"{session.compactions}"
    age = terminal.age(time.time() - session.written)
    head = f"{shown(session.session_id[:8]):<8} {age:>8} {count:>11} "
    return f"{head}{folder:<{folder_chars}} {shown(fence.clean(session.asked))}"
