"""`holdfast status`: how full the window is, on one screen."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from holdfast.cli import choose_session, terminal
from holdfast.cli.choose_session import Chosen, NoSession
from holdfast.cli.options import AS_JSON, of_session
from holdfast.cli.terminal import paint, say
from holdfast.settings import load as settings_load
from holdfast.text.numbers import counted
from holdfast.transcript import lookup
from holdfast.watcher import loop
from holdfast.watcher.loop import describe_holder
from holdfast.window import alert_texts, health, history, make_mark, view
from holdfast.window.cleared import cleared_results
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


OTHERS = "--session ID or --all for the others"


@click.command()
@of_session
@click.option("--agent", default="", help="A subagent's id, or its first characters.")
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
def status(
    transcript: Path | None,
    session: str,
    agent: str,
    everything: bool,
    as_json: bool,
    forget_limits: bool,
) -> None:
    """How full the window is, and how long it lasts."""
    if forget_limits:
        _forget_limits()
        return
    note = ""
    if transcript is not None:
        reports = [_of_file(transcript)]
    elif everything:
        reports = [_with_stop_guard(one) for one in choose_session.windows(session, agent)]
    else:
        chosen = _chosen(session, agent)
        reports = [_with_stop_guard(chosen)]
        note = "" if session or agent else choose_session.others_note(chosen, OTHERS)
    if as_json:
        click.echo(json.dumps(reports if everything else reports[0], indent=2))
        return
    if not (transcript or everything or session or agent):
        _say_where(reports[0])
    if note:
        say(f"note: {note}", err=True)
    for one in reports:
        show(one)
    if not reports:
        say("No session is running.", err=True)
    if everything and not agent:
        from holdfast.cli import past_sessions

        past_sessions.show({one["session_id"] for one in reports}, session)


def _chosen(session: str, agent: str) -> Chosen:
    """Choose the session. Transcripts and archives are searched only if no hook knows it, because
    that takes longer."""
    from holdfast.cli import find_transcript

    try:
        found = choose_session.newest(session, agent)
    except NoSession:
        found = find_transcript.choose_to_read(None, session, agent, quiet=True)
    return found


def _say_where(found: dict[str, Any]) -> None:
    from holdfast.cli.find_transcript import say_where

    say_where(found["project"] or found["cwd"] or "")


def _forget_limits() -> None:
    from holdfast.window import observed_limits

    count = observed_limits.forget(int(time.time() * 1000))
    say(f"Forgot {counted(count, 'compaction')}. Limits now come from the table and your settings.")


def _with_stop_guard(chosen: Chosen) -> dict[str, Any]:
    """The report, with what only `status` shows: cleared results, and what the stop guard looks
    at, whether it is on or off."""
    from holdfast.events import stop_objections
    from holdfast.files.executable import console_command
    from holdfast.window import stop_guard

    found = report(chosen)
    if found["running"] is None and chosen.state.transcript:
        found["compactions"] = _count_in_file(chosen.state)
    found["microcompactions"] = cleared_results(chosen.state)
    state, now_ms = chosen.state, int(time.time() * 1000)
    against = stop_objections.find_objections(
        state,
        chosen.folder,
        found["used_tokens"],
        now_ms,
        {},
        edge_tokens=found["edge_tokens"],
        estimated=found["estimated"],
    )
    found["stop_guard"] = {
        "on": _is_guarded(state),
        "forced": against.forced,
        "running_subtasks": list(against.running),
        "unresolved_errors": list(against.errors),
        "unsaved_ratio": round(against.unsaved_ratio, 4),
        "reason": stop_guard.judge(against, console_command()) or None,
    }
    return found


def _count_in_file(state: State) -> int:
    """Count the compactions in the transcript, where no hook has recorded them."""
    try:
        return lookup.compactions(Path(state.transcript), sidechain=bool(state.agent_id)).count
    except OSError:  # deleted meanwhile
        return state.compactions


def _is_guarded(state: State) -> bool:
    """Return whether the stop guard is on, as the session's next hook will find it: by the
    session's variable, else by the settings files.

    Variables of this shell are not the session's.
    """
    if state.stop_guard in (make_mark.ON_BY_VARIABLE, make_mark.OFF_BY_VARIABLE):
        return state.stop_guard == make_mark.ON_BY_VARIABLE
    return settings_load.load(state.project, environ={}).word("stop_guard") == "on"


def _of_file(transcript: Path) -> dict[str, Any]:
    """Report on a transcript. Its compactions are counted in the file, because no hook may have
    recorded them."""
    chosen = choose_session.by_transcript(transcript)
    return _with_stop_guard(chosen) | {"compactions": lookup.compactions(transcript).count}


def report(chosen: Chosen) -> dict[str, Any]:
    settings = settings_load.load(chosen.state.project)
    seen = view.of_transcript(chosen.state, settings, int(time.time() * 1000), chosen.folder)
    found = health.describe(seen, chosen.state, settings.share("watch_at"))
    found["heard_ms"] = chosen.state.at_ms or None
    found["ended_ms"] = chosen.state.ended_ms or None
    found["running"] = _is_running(chosen)
    found["settings_slips"] = list(settings.errors)
    found["readings"] = history.spooled_readings(chosen.folder)
    found["watcher"] = loop.holder()
    if settings.word("server"):
        found["server"] = _server()
    return found


def _is_running(chosen: Chosen) -> bool | None:
    """Return whether the session is running; None if neither a hook nor the watcher has seen it."""
    state = chosen.state
    if not state.was_live:
        return None
    return not choose_session.has_ended(chosen)


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


def show(found: dict[str, Any]) -> None:
    """Print one screen for a person. It does without rich, whose import takes as long as two starts
    of an empty Python."""
    zone, alert = str(found["zone"]), found["alert"]
    share = f"{alert_texts.estimate_mark(found['estimated'])}{found['used_ratio']:.1%}"
    level = paint(f"{share} {zone}", "bold", terminal.ZONE_PAINT[zone])
    if alert:
        level += ", " + paint(alert, "bold", terminal.ALERT_PAINT[alert])
    say(f"{paint('context', 'bold')} {terminal.bar(found['used_ratio'], zone)} {level}")
    for label, text in _rows(found):
        say(f"  {paint(f'{label:<12}', 'dim')}{inert(text)}", hang=12)


def _rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    about = alert_texts.estimate_mark(found["estimated"])
    used = f"{about}{found['used_tokens']:,} of {found['edge_tokens']:,} tokens"
    edge = f"{found['edge_tokens']:,} in a window of {found['window_tokens']:,}"
    rows = [
        ("used", f"{used} ({HOW_KNOWN[found['basis']]})"),
        ("limit", f"{edge}: {found['edge_source']}"),
        ("left", _describe_remaining(found)),
        ("forecast", found["forecast_basis"]),
        ("session", _describe_session(found)),
        ("last hook", _when(found)),
        ("model", f"{found['model'] or 'unknown'}, client {found['client_version'] or 'unknown'}"),
    ]
    if len(found["readings"]) > 1:
        rows.insert(3, ("lately", terminal.sparkline(_lately(found), found["edge_tokens"])))
    if found["microcompactions"]["count"]:
        rows[1:1] = _cleared(found["microcompactions"])
    if found["switches"]:
        turned = ", ".join(f"{name}={value}" for name, value in found["switches"].items())
        rows.append(("switches", turned))
    if found["checkpoint_trigger"]:
        rows += _checkpoint(found)
    if found["watcher"]:
        rows.append(("watcher", describe_holder(found["watcher"])))
    if found.get("server"):
        rows.append(("server", _server_words(found["server"])))
    if "stop_guard" in found:
        rows += [("unsaved", _unsaved(found, about)), ("stop guard", _stop_guard(found))]
    return rows + [("settings", error) for error in found["settings_slips"]]


def _lately(found: dict[str, Any]) -> list[int]:
    """Return the last readings of hooks, and that of this moment: right after a compaction no hook
    has read the new window yet."""
    now = found["used_tokens"]
    readings = found["readings"][-MOST_READINGS:]
    return readings if readings[-1] == now else [*readings[1 - MOST_READINGS :], now]


def _describe_remaining(found: dict[str, Any]) -> str:
    """Return what is left. Minutes are given only for a running session; steps also for one that
    may be resumed."""
    if found["running"]:
        left = in_words(found["ops_left_low"], found["ops_left_high"], found["pace_ms"])
        return left or "unknown"
    steps = in_words(found["ops_left_low"], found["ops_left_high"])
    if found["running"] is None:
        return f"{steps}, if the session is still running or is resumed" if steps else "unknown"
    return f"not running; {steps} if it is resumed" if steps else "not running"


def _cleared(found: dict[str, Any]) -> list[tuple[str, str]]:
    """List the newest cleared results by name; --json has all of them."""
    results = counted(len(found["cleared_tool_use_ids"]), "tool result")
    times = counted(found["count"], "microcompaction")
    words = f"{results}, about {counted(found['saved_tokens'], 'token')}, by {times} of Claude Code"
    if not found["cleared"]:
        return [("cleared", words)]
    rows = [("", f"{one['id']} {one['call']}") for one in found["cleared"][-MOST_CLEARED:]]
    return [("cleared", f"{words}; `holdfast expand ID` prints one"), *rows]


def _checkpoint(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the checkpoint with its id on a separate line, as `resume` takes it: a path may be
    wrapped anywhere."""
    kept = f"{_ago(found['checkpoint_ms'])} ({found['checkpoint_trigger']})"
    path = found["checkpoint_path"]
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


def _unsaved(found: dict[str, Any], about: str) -> str:
    used = f"{about}{found['stop_guard']['unsaved_ratio']:.0%} of the limit"
    saved = bool(found["checkpoint_ms"])
    return f"{used} since the last checkpoint" if saved else f"{used}: no checkpoint yet"


def _stop_guard(found: dict[str, Any]) -> str:
    guard = found["stop_guard"]
    against = [f"{one} runs" for one in guard["running_subtasks"]]
    against += [f"unresolved: {one}" for one in guard["unresolved_errors"]]
    forced = ["stops are forced"] if guard["forced"] else []
    return "; ".join(["on" if guard["on"] else "off", *forced, *against])


def _when(found: dict[str, Any]) -> str:
    """Say how old the last report is, and whether the session has ended."""
    if found["ended_ms"]:
        return f"the session ended {_ago(found['ended_ms'])}"
    return (
        _ago(found["heard_ms"])
        if found["heard_ms"]
        else "none has run in this session; read from its transcript"
    )


def _ago(ms: int) -> str:
    minutes = (time.time() * 1000 - ms) / 60_000
    return "just now" if minutes < 1 else f"{terminal.duration(minutes)} ago"


def _describe_session(found: dict[str, Any]) -> str:
    agent = f", agent {found['agent_id']}" if found["agent_id"] else ""
    return f"{found['session_id']}{agent} in {found['cwd'] or 'an unknown folder'}"
