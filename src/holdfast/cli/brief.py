"""`holdfast brief`: what would be handed back now, and why each line is there."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast.brief.compose import Brief
from holdfast.brief.item import hook_tokens
from holdfast.brief.roles import ROLES
from holdfast.cli import choose_session
from holdfast.cli.choose_session import Chosen
from holdfast.cli.find_transcript import choose_to_read, say_where
from holdfast.cli.options import AS_JSON, of_session
from holdfast.cli.terminal import say
from holdfast.events import window_brief
from holdfast.record.reader import read_record
from holdfast.record.secrets import redact_record
from holdfast.transcript import Unreadable


@click.command()
@of_session
@click.option("--agent", default="", help="A subagent's id, or its first characters.")
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    help="Size of the brief (default: the setting brief_tokens).",
)
@click.option(
    "--role", type=click.Choice(ROLES), help="Whose point of view (default: by the agent's type)."
)
@click.option("--explain", is_flag=True, help="Show why each line is there, and its source.")
@AS_JSON
def brief(
    transcript: Path | None,
    session: str,
    agent: str,
    max_tokens: int | None,
    role: str | None,
    explain: bool,
    as_json: bool,
) -> None:
    """What would be handed back to the session now."""
    chosen = choose_to_read(transcript, session, agent)
    if not (transcript or session or agent or as_json):
        say_where(chosen.state.project or chosen.state.cwd)
    found = _compose(chosen, max_tokens, role or "")
    if as_json:
        click.echo(json.dumps(plain(found), indent=2))
    elif explain:
        say(explain_lines(found))
    elif found.lines:
        say(found.text)
    else:
        most = max_tokens or hook_tokens(chosen.state.project, chosen.state.edge_tokens)
        say(f"nothing to restore within --max-tokens {most}", err=True)


def _compose(chosen: Chosen, max_tokens: int | None, role: str) -> Brief:
    """Compose a brief as the hook would, but from the whole file, and without recording that it was
    read.

    A given size is kept; without one, the brief grows as at a compaction.
    """
    path = Path(chosen.state.transcript)
    try:
        facts = read_record(path, sidechain=bool(chosen.state.agent_id))
    except Unreadable as error:
        raise choose_session.NoSuchTranscript(str(error)) from error
    return window_brief.compose_brief(
        chosen.state,
        chosen.folder,
        redact_record(facts),
        max_tokens,
        role,
    )


def plain(found: Brief) -> dict[str, object]:
    lines = [
        {"line": one.text, "reason": one.reason, "op": one.source.op, "at": one.source.at}
        for one in found.lines
        if one.reason
    ]
    return {"brief": found.text, "role": found.role, "lines": lines}


def explain_lines(found: Brief) -> str:
    """Return each line with its reason below it, and its place in the transcript if it has one."""
    lines = [f"role: {found.role}"]
    for one in found.lines:
        lines.append(one.text)
        if one.reason:
            place = one.source
            op = "" if "step" in one.reason else f", step {place.op}"
            where = f"{op}, byte {place.offset:,}" if place.offset else ""
            lines.append(f"      ↳ {one.reason}{where}")
    return "\n".join(lines)
