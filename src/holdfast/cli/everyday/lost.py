"""`holdfast lost`: what the last compaction's summary left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from holdfast.brief.item import BriefItem
from holdfast.cli import find_transcript
from holdfast.cli.arguments import AS_JSON, of_session
from holdfast.cli.find_transcript import choose_to_read
from holdfast.cli.terminal import paint, say
from holdfast.client.agents import session_of
from holdfast.events import summary_losses as lifecycle_lost
from holdfast.events.summary_losses import LastLoss
from holdfast.text.numbers import counted
from holdfast.window.state import State
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

OTHERS = {
    "files": ("file", "files"),
    "commands": ("command", "commands"),
    "references": ("reference", "references"),
    "fixed": ("fixed failure", "fixed failures"),
    "flight": ("last step", "last steps"),
    "archived": ("archived topic", "archived topics"),
    "messages": ("message", "messages"),
    "about": ("note on the project", "notes on the project"),
    "decisions": ("note of the model", "notes of the model"),
    "agents": ("subagent's report", "subagents' reports"),
}


HEADINGS = {
    "failing": "Commands that failed when they were last run:",
    "tasks": "Open tasks:",
    "questions": "Open questions:",
    "said": "Your messages, in order:",
}
SHORTENED = "Your messages that the summary shortens or tells in other words"
MOST_SHOWN = 8  # of each kind


class NoCompaction(HoldfastError):
    def __init__(self, words: str, hint: str) -> None:
        super().__init__(words)
        self.hint = hint


@click.command()
@of_session
@click.option(
    "--max-tokens",
    default=2_000,
    show_default=True,
    type=click.IntRange(100, 2_800),
    help="With --all, list at most this many tokens of files and commands.",
)
@click.option("--all", "show_all", is_flag=True, help="Show every item, also files and commands.")
@AS_JSON
def lost(
    transcript: Path | None, session: str, max_tokens: int, show_all: bool, as_json: bool
) -> None:
    """What the last compaction lost."""
    state = choose_to_read(transcript, session).state
    if not (transcript or session or as_json):
        find_transcript.say_where(state.project or state.cwd)
    found = lifecycle_lost.after_last_compaction(
        Path(state.transcript), sidechain=bool(state.agent_id), max_tokens=max_tokens
    )
    if found is None:
        raise _no_compaction(state)
    if as_json:
        click.echo(json.dumps({"session_id": state.session_id, **_values(found)}, indent=2))
        return
    say(paint(_title(state, found), "bold"))
    _show(found, show_all=show_all)


def _no_compaction(state: State) -> NoCompaction:
    path = Path(state.transcript)
    other = find_transcript.newest_compacted(path)
    hint = (
        f"holdfast lost {session_of(other)[:8]} (the newest session with a compaction)"
        if other
        else "come back after the first compaction; `holdfast brief` shows what it would restore"
    )
    name = inert(state.session_id[:8]) or path
    return NoCompaction(f"session {name} has not been compacted, so nothing was lost", hint)


def _title(state: State, found: LastLoss) -> str:
    where = f" in {inert(state.project, 4096)}" if state.project else ""
    at = inert(found.at[:16].replace("T", " "))
    when = f", {at} UTC" if at else ""
    return f"Session {inert(state.session_id[:8])}{where}: compaction {found.number}{when}"


def _show(found: LastLoss, *, show_all: bool) -> None:
    """Print what was lost, in order of importance: open work, then the user's words."""
    most = None if show_all else MOST_SHOWN
    lost, shortened = found.contents.lost, found.contents.shortened
    if lost:
        say(f"The summary lost {counted(len(lost), 'thing')}:")
    for kind, heading in HEADINGS.items():
        items = [one for one in lost if one.section == kind]
        of = f" ({len(items):,} of {found.messages:,})" if kind == "said" else ""
        _list(f"{paint(heading.rstrip(':'), 'red')}{of}, not in the summary:", items, most)
    _list(f"{SHORTENED} ({len(shortened):,}):", shortened, most)
    if found.rest and show_all:
        _show_rest(found)
    elif found.rest:
        kinds = (_counted(kind, count) for kind, count in found.rest.items())
        say(f"Also not in the summary, and easy to find again: {', '.join(kinds)} (--all)")
    if not (lost or shortened or found.rest):
        say("The summary lost nothing that Holdfast knows of.")


def _list(heading: str, items: list[BriefItem], most: int | None) -> None:
    if items:
        say(heading)
    for one in items[:most]:
        say(f"  - {inert(' '.join(one.text.split()))}")
    if most is not None and len(items) > most:
        say(f"  and {len(items) - most:,} more: holdfast lost --all")


def _show_rest(found: LastLoss) -> None:
    say("Also not in the summary, and easy to find again:")
    for line in found.rest_lines:
        for part in line.split("\n"):
            say(f"  {inert(part)}")


def _counted(kind: str, count: int) -> str:
    one, many = OTHERS.get(kind, (kind, kind))
    return f"{count} {one if count == 1 else many}"


def _values(found: LastLoss) -> dict[str, Any]:
    lines = [{"text": one.text, "reason": one.reason} for one in found.brief.lines]
    return {
        "compaction": found.number,
        "at": found.at,
        "messages": found.messages,
        "lost": [{"kind": one.section, "text": one.text} for one in found.contents.lost],
        "shortened": [one.text for one in found.contents.shortened],
        "left_out": lines,
    }
