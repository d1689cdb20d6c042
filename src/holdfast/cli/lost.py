"""`holdfast lost`: what the last compaction's summary left out, and what it claims too much."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from holdfast.brief.item import FalseClaim
from holdfast.brief.summary_check import shown
from holdfast.cli.archived_sessions import chosen_to_read
from holdfast.cli.terminal import say
from holdfast.events import lost as lifecycle_lost
from holdfast.events.lost import Lost
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

OTHERS = {
    "files": ("file", "files"),
    "commands": ("command", "commands"),
    "names": ("name", "names"),
    "references": ("reference", "references"),
    "fixed": ("fixed failure", "fixed failures"),
    "flight": ("last step", "last steps"),
    "archived": ("archived topic", "archived topics"),
    "messages": ("message", "messages"),
    "about": ("note on the project", "notes on the project"),
}


class NoCompaction(HoldfastError):
    hint = "name a transcript that was compacted: --transcript FILE"


@click.command()
@click.option("--transcript", type=click.Path(path_type=Path), help="Read this transcript.")
@click.option("--session", default="", help="A session's id, or its first characters.")
@click.option(
    "--max-tokens",
    default=2_000,
    show_default=True,
    type=click.IntRange(100, 2_800),
    help="Print at most this many tokens.",
)
@click.option("--all", "show_all", is_flag=True, help="Also show files, commands and names.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def lost(
    transcript: Path | None, session: str, max_tokens: int, show_all: bool, as_json: bool
) -> None:
    """What the last compaction lost."""
    state = chosen_to_read(transcript, session).state
    found = lifecycle_lost.after_last_compaction(
        Path(state.transcript), sidechain=bool(state.agent_id), max_tokens=max_tokens
    )
    if found is None:
        raise NoCompaction(f"{state.transcript} holds no compaction")
    if as_json:
        click.echo(json.dumps(_values(found), indent=2))
        return
    _say(found.checked.in_users_name, "Said in your name, although you did not say it:")
    _say(found.checked.called_done, "Called done, although it is open:")
    lines = found.brief.lines if show_all else found.main
    if lines:
        say("Not in the summary, nor brought back by Claude Code itself:")
    for line in lines:
        for part in line.text.split("\n"):
            say(f"  {inert(part)}")
    if not show_all and found.rest:
        kinds = (_counted(kind, count) for kind, count in found.rest.items())
        say(f"Also lost, and easy to find again: {', '.join(kinds)} (--all shows them)")
    if not (lines or found.rest or found.checked.told):
        say("The summary of the last compaction lost nothing that Holdfast knows of.")


def _counted(kind: str, count: int) -> str:
    one, many = OTHERS.get(kind, (kind, kind))
    return f"{count} {one if count == 1 else many}"


def _say(claims: list[FalseClaim], heading: str) -> None:
    if claims:
        say(heading)
    for claim in claims:
        say(f"  “{inert(claim.sentence)}”\n    but {inert(claim.evidence)}")


def _values(found: Lost) -> dict[str, Any]:
    lines = [{"text": one.text, "reason": one.reason} for one in found.brief.lines]
    return {
        "left_out": lines,
        "contradicted": shown(found.checked.called_done),
        "in_users_name": shown(found.checked.in_users_name),
    }
