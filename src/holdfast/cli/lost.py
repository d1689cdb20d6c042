"""`holdfast lost`: how much of each item the last compaction's summary holds."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import click

from holdfast.brief.summary_coverage import ANSWER, FAILING, PLAN, REQUEST, TASK, MeasuredItem
from holdfast.cli.options import AS_JSON, of_session
from holdfast.cli.sessions import choose, newest_compacted
from holdfast.cli.terminal import paint, say, working
from holdfast.client.agents import session_of
from holdfast.events import history as past
from holdfast.events import summary_report
from holdfast.text.numbers import counted, short
from holdfast.transcript import lookup
from holdfast.window.state import State
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

KINDS = {
    REQUEST: "your message",
    ANSWER: "your answer",
    FAILING: "failing command",
    TASK: "task",
    PLAN: "plan",
}
PASSAGE_CHARS = 240


@click.command()
@of_session
@click.option("--all", "show_all", is_flag=True, help="Show what was found, too.")
@click.option("--history", is_flag=True, help="The last compactions of all sessions instead.")
@AS_JSON
def lost(session: str, show_all: bool, history: bool, as_json: bool) -> None:
    """Show how much the last compaction's summary holds.

    Your messages and answers, failing commands, tasks and the plan: least found first, each beside
    the nearest passage. This looks back: it compares Claude Code's summary with the session.
    `holdfast brief` looks ahead: it shows what would be restored if Claude Code compacted now.

    \b
    Examples:
      holdfast lost         what was not found, least found first
      holdfast lost --all   every item
    """
    if history:
        if session or show_all:
            raise click.UsageError("--history is about all sessions; give it alone")
        return _show_history(as_json)
    state = choose(session).state
    with working("comparing"):
        last = summary_report.measure_last(Path(state.transcript), sidechain=bool(state.agent_id))
    if last is None:
        raise _no_compaction(state)
    number, at, items = last
    if as_json:
        about = {"session_id": state.session_id, "compaction": number, "at": at}
        rows = [summary_report.plain(item) for item in items]
        click.echo(json.dumps({**about, "items": rows}, indent=2))
        return
    say(paint(_title(state, number, at), "bold"))
    _show(items, show_all=show_all)


def _no_compaction(state: State) -> HoldfastError:
    path = Path(state.transcript)
    other = newest_compacted(path)
    hint = (
        f"holdfast lost {session_of(other)[:8]} (the newest session with a compaction)"
        if other
        else "come back after the first compaction; `holdfast brief` shows what it would restore"
    )
    name = inert(state.session_id[:8]) or path
    if lookup.compactions(path, sidechain=bool(state.agent_id)).count:
        words = f"session {name} was compacted, and the client's summary cannot be read"
        return HoldfastError(
            f"{words}: nobody can say what it holds", "`holdfast brief` shows what is restored"
        )
    return HoldfastError(f"session {name} has not been compacted, so there is no summary", hint)


def _title(state: State, number: int, at: str) -> str:
    where = f" in {inert(state.project, 4096)}" if state.project else ""
    at = inert(at[:16].replace("T", " "))
    when = f", {at} UTC" if at else ""
    return f"Session {inert(state.session_id[:8])}{where}: compaction {number}{when}"


def _show(items: list[MeasuredItem], *, show_all: bool) -> None:
    missing = [item for item in items if not item.is_found]
    total = counted(len(items), "item")
    if not missing:
        say(f"{total} of {len(items):,} found in the summary." if items else "Nothing to look for.")
    else:
        say(f"{len(missing)} of {total} not found in the summary, least found first:")
    for item in items if show_all else missing:
        say(f"  {item.share:>4.0%}  {KINDS[item.kind]}: {inert(' '.join(item.item.text.split()))}")
        if item.passage:
            how = "nearest in meaning" if item.by_meaning else "nearest"
            say(f"        {how}: {short(inert(' '.join(item.passage.split())), PASSAGE_CHARS)}")
    if not show_all and 0 < len(missing) < len(items):
        say(f"{counted(len(items) - len(missing), 'item')} found: holdfast lost --all")


def _show_history(as_json: bool) -> None:
    """Read what is new in every transcript, then print what the last summaries leave out."""
    with working("reading past sessions") as tell:
        figures = past.update(lambda now: tell("reading past sessions", *past.progress(now)))
    compactions = past.last_compactions(figures)
    if as_json:
        rows = [
            {"session_id": of.session_id, "title": of.title, **asdict(compaction)}
            for of, compaction in compactions
        ]
        click.echo(json.dumps(rows, indent=2))
        return
    if not compactions:
        say("No session on this machine has been compacted, as far as Claude Code still has it.")
        return
    say(paint(past.in_words(compactions), "bold"))
    say(f"{'session':<8}  {'day':<10}  no  not in it  asked first", err=True)
    width = shutil.get_terminal_size((120, 24)).columns
    for of, compaction in compactions:
        count = f"{compaction.not_found} of {compaction.items}"
        head = f"{inert(of.session_id[:8])}  {inert(compaction.at[:10]):<10}"
        say(short(f"{head}  {compaction.number:>2}  {count:<9}  {inert(of.title)}", width))
    say("what one of them left out: holdfast lost ID", err=True)
