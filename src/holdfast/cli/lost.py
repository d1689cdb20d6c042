"""`holdfast lost`: how much of each item the last compaction's summary holds."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast.brief.summary_coverage import ANSWER, FAILING, PLAN, REQUEST, TASK, MeasuredItem
from holdfast.cli import find_transcript
from holdfast.cli.find_transcript import choose_to_read
from holdfast.cli.options import AS_JSON, of_session
from holdfast.cli.terminal import paint, say
from holdfast.client.agents import session_of
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


class NoCompaction(HoldfastError):
    def __init__(self, words: str, hint: str) -> None:
        super().__init__(words)
        self.hint = hint


@click.command()
@of_session
@click.option("--all", "show_all", is_flag=True, help="Show what was found, too.")
@click.option("--history", is_flag=True, help="The last compactions of all sessions instead.")
@AS_JSON
def lost(
    transcript: Path | None, session: str, show_all: bool, history: bool, as_json: bool
) -> None:
    """How much the last compaction's summary holds of your messages and answers, failing commands,
    tasks and the plan: least found first, each beside the nearest passage."""
    if history:
        if transcript or session or show_all:
            raise click.UsageError("--history is about all sessions; give it alone")
        from holdfast.cli import lost_history

        lost_history.show(as_json=as_json)
        return
    state = choose_to_read(transcript, session).state
    if not (transcript or session or as_json):
        find_transcript.say_where(state.project or state.cwd)
    last = summary_report.measure_last(Path(state.transcript), sidechain=bool(state.agent_id))
    if last is None:
        raise _no_compaction(state)
    number, at, items = last
    if as_json:
        about = {"session_id": state.session_id, "compaction": number, "at": at}
        rows = [summary_report.plain(one) for one in items]
        click.echo(json.dumps({**about, "items": rows}, indent=2))
        return
    say(paint(_title(state, number, at), "bold"))
    _show(items, show_all=show_all)


def _no_compaction(state: State) -> NoCompaction:
    path = Path(state.transcript)
    other = find_transcript.newest_compacted(path)
    hint = (
        f"holdfast lost {session_of(other)[:8]} (the newest session with a compaction)"
        if other
        else "come back after the first compaction; `holdfast brief` shows what it would restore"
    )
    name = inert(state.session_id[:8]) or path
    if lookup.compactions(path, sidechain=bool(state.agent_id)).count:
        words = f"session {name} was compacted, and the client's summary cannot be read"
        return NoCompaction(
            f"{words}: nobody can say what it holds", "`holdfast brief` shows what is restored"
        )
    return NoCompaction(f"session {name} has not been compacted, so there is no summary", hint)


def _title(state: State, number: int, at: str) -> str:
    where = f" in {inert(state.project, 4096)}" if state.project else ""
    at = inert(at[:16].replace("T", " "))
    when = f", {at} UTC" if at else ""
    return f"Session {inert(state.session_id[:8])}{where}: compaction {number}{when}"


def _show(items: list[MeasuredItem], *, show_all: bool) -> None:
    not_found = [one for one in items if not one.is_found]
    of = counted(len(items), "item")
    if not not_found:
        say(f"{of} of {len(items):,} found in the summary." if items else "Nothing to look for.")
    else:
        say(f"{len(not_found)} of {of} not found in the summary, least found first:")
    for one in items if show_all else not_found:
        say(f"  {one.share:>4.0%}  {KINDS[one.kind]}: {inert(' '.join(one.item.text.split()))}")
        if one.passage:
            how = "nearest in meaning" if one.by_meaning else "nearest"
            say(f"        {how}: {short(inert(' '.join(one.passage.split())), PASSAGE_CHARS)}")
    if not show_all and 0 < len(not_found) < len(items):
        say(f"{counted(len(items) - len(not_found), 'item')} found: holdfast lost --all")
