"""`holdfast brief`: what would be restored now, and why each line is there. `holdfast lost`: how
much of each item the last compaction's summary holds."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from holdfast.brief import summary_coverage as coverage
from holdfast.brief.compose import Brief
from holdfast.brief.item import hook_tokens
from holdfast.brief.roles import ROLES
from holdfast.cli.options import AS_JSON, flag, of_session
from holdfast.cli.sessions import Chosen, NoSuchTranscript, choose, newest_compacted
from holdfast.cli.terminal import draw_table, paint, print_json, say, working
from holdfast.client.agents import session_of
from holdfast.record.reader import read_record
from holdfast.record.secrets import redact_record
from holdfast.session import history as past
from holdfast.session import summary_report, window_brief
from holdfast.text.numbers import counted, short
from holdfast.transcript import Unreadable, lookup
from holdfast.window.state import State
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

KINDS = {  # in the order of what matters
    coverage.REQUEST: "message",
    coverage.ANSWER: "answer",
    coverage.TASK: "open task",
    coverage.FAILING: "failing command",
    coverage.PLAN: "plan",
}
PASSAGE_CHARS = 240
Items = Sequence[coverage.MeasuredItem]


@click.command()
@of_session
@click.option("--max-tokens", type=click.IntRange(1), help="Longest size, in tokens.")
@click.option("--role", type=click.Choice(ROLES), help="As an agent of this role gets it.")
@flag("--explain", help="Show why each line is there, and its source.")
@AS_JSON
def brief(
    session: str, max_tokens: int | None, role: str | None, explain: bool, as_json: bool
) -> None:
    """Show what would be restored if Claude Code compacted now.

    `holdfast budget` shows how its tokens are divided. `holdfast lost` shows what the last
    compaction's summary left out.

    \b
    Examples:
      holdfast brief             as the model would read it
      holdfast brief --explain   each line with its reason and source
    """
    chosen = choose(session)
    with working("reading"):
        composed = _compose(chosen, max_tokens, role or "")
    if as_json:
        lines = [
            {"line": line.text, "reason": line.reason, "op": line.source.op, "at": line.source.at}
            for line in composed.lines
            if line.reason
        ]
        print_json({"brief": composed.text, "role": composed.role, "lines": lines})
    elif explain:
        say(_explain_lines(composed))
    elif composed.lines:
        say(composed.text)
    else:
        most = max_tokens or hook_tokens(chosen.state.project, chosen.state.edge_tokens)
        say(f"nothing to restore within --max-tokens {most}", err=True)


def _compose(chosen: Chosen, max_tokens: int | None, role: str) -> Brief:
    """Compose a brief as the hook would, but from the whole file, and note no reading. Without a
    size, the brief grows as at a compaction."""
    try:
        record = read_record(chosen.state.transcript, sidechain=bool(chosen.state.agent_id))
    except Unreadable as error:
        raise NoSuchTranscript(str(error)) from error
    return window_brief.compose_brief(
        chosen.state, chosen.folder, redact_record(record), max_tokens, role
    )


def _explain_lines(composed: Brief) -> str:
    """Return each line with its reason below it, and its place in the transcript if it has one."""
    rows = [f"role: {composed.role}"]
    for line in composed.lines:
        rows.append(line.text)
        if line.reason:
            op = "" if "step" in line.reason else f", step {line.source.op}"
            where = f"{op}, byte {line.source.offset:,}" if line.source.offset else ""
            rows.append(f"      ↳ {line.reason}{where}")
    return "\n".join(rows)


@click.command()
@of_session
@flag("--all", "show_all", help="Also show what was found.")
@flag("--history", help="Show the last compactions of all sessions.")
@AS_JSON
def lost(session: str, show_all: bool, history: bool, as_json: bool) -> None:
    """Show what was not found in the last compaction's summary.

    It compares your messages and answers, failing commands, open tasks and the plan with the
    summary that Claude Code wrote. The percentage says how much of an item is in it. `holdfast
    brief` shows what would be restored if Claude Code compacted now.

    \b
    Examples:
      holdfast lost            the last compaction of this folder's session
      holdfast lost --history  the last compactions of all sessions
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
        return print_json({**about, "items": [summary_report.plain(item) for item in items]})
    where = f" in {state.project}" if state.project else ""
    when = f", {at[:16].replace('T', ' ')} UTC" if at else ""
    title = f"Session {state.session_id[:8]}{where}: compaction {number}{when}"
    say(paint(inert(title, 4096), "bold"))
    _show_items(items, show_all=show_all)


def _show_history(as_json: bool) -> None:
    """Read what is new in every transcript, then print what the last summaries leave out."""
    with working("reading transcripts") as tell:
        figures = past.update(lambda now: tell(*past.progress(now)))
    compactions = past.last_compactions(figures)
    if as_json:
        plain = [
            {"session_id": session.session_id, "title": session.title, **asdict(counts)}
            for session, counts in compactions
        ]
        return print_json(plain)
    if not compactions:
        return say("No session on this machine has been compacted.")
    say(paint(past.in_words(compactions), "bold"))
    rows = []
    for session, counts in compactions:
        messages = f"{counts.messages_not_found} of {counts.messages}"
        items = f"{counts.not_found} of {counts.items}"
        day, number = counts.at[:10], str(counts.number)
        rows.append((session.session_id[:8], day, number, messages, items, session.title))
    names = ("session", "day", "nr", "messages not in it", "items not in it", "asked first")
    draw_table(names, rows)
    say("what one of them left out: holdfast lost ID", err=True)


def _no_compaction(state: State) -> HoldfastError:
    path = Path(state.transcript)
    name = f"session {inert(state.session_id[:8]) or path}"
    if lookup.compactions(path, sidechain=bool(state.agent_id)).count:
        words = f"{name} was compacted, and the client's summary is encrypted or cannot be read"
        return HoldfastError(words, "`holdfast brief` shows what is restored")
    other = newest_compacted(path)
    hint = "come back after the first compaction; `holdfast brief` shows what it would restore"
    if other:
        hint = f"holdfast lost {session_of(other)[:8]} (the newest session with a compaction)"
    return HoldfastError(f"{name} has not been compacted, so there is no summary", hint)


def _show_items(items: Items, *, show_all: bool) -> None:
    missing = [item for item in items if not item.is_found]
    kinds = f": {in_kinds(missing, items)}" if missing else "."
    say(f"{len(missing):,} of {counted(len(items), 'item')} not found in the summary{kinds}")
    for item in items if show_all else missing:
        say(f"  {item.share:>4.0%}  {KINDS[item.kind]}: {inert(' '.join(item.item.text.split()))}")
        if item.passage:
            how = "nearest in meaning" if item.by_meaning else "nearest"
            say(f"        {how}: {short(inert(' '.join(item.passage.split())), PASSAGE_CHARS)}")
    if not show_all and len(missing) < len(items):
        say(f"{counted(len(items) - len(missing), 'item')} found: holdfast lost --all", err=True)


def in_kinds(some: Items, items: Items = ()) -> str:
    """`5 of your 12 messages with enough words, 2 open tasks`; without all items, `5 messages`."""
    kinds = [item.kind for item in some]
    messages = coverage.count_messages(kinds)
    of_all = coverage.count_messages(item.kind for item in items)
    words = coverage.of_messages(messages, of_all) if items else counted(messages, "message")
    others = [counted(kinds.count(one), KINDS[one]) for one in list(KINDS)[2:] if one in kinds]
    return ", ".join([words, *others] if messages else others)
