"""`holdfast brief`: what would be handed back now, and why each line is there."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast.brief.compose import DEFAULT_TOKENS, Brief, compose
from holdfast.brief.roles import ROLES
from holdfast.checkpoint.extract import extract
from holdfast.cli import choose
from holdfast.lifecycle.keeping import without_secrets
from holdfast.segment import named
from holdfast.transcript import Unreadable


@click.command()
@click.option("--transcript", type=click.Path(path_type=Path), help="read this file")
@click.option("--session", default="", help="id, or the start of one")
@click.option("--agent", default="", help="a subagent's id, or the start of one")
@click.option("--max-tokens", default=DEFAULT_TOKENS, show_default=True, type=click.IntRange(1))
@click.option("--role", type=click.Choice(ROLES), help="the template; else by the agent's type")
@click.option("--explain", is_flag=True, help="each line with its reason and where it was said")
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
def brief(
    transcript: Path | None,
    session: str,
    agent: str,
    max_tokens: int,
    role: str | None,
    explain: bool,
    as_json: bool,
) -> None:
    """What would be handed back to the session now."""
    path, agent_type = _chosen(transcript, session, agent)
    found = _composed(path, max_tokens, role or "", agent_type)
    if as_json:
        click.echo(json.dumps(plain(found), indent=2, ensure_ascii=False))
    elif explain:
        click.echo(explained(found))
    elif found.lines:
        click.echo(found.text)
    else:
        click.echo(f"nothing to hand back within --max-tokens {max_tokens}", err=True)


def _chosen(transcript: Path | None, session: str, agent: str) -> tuple[Path, str]:
    if transcript is not None:
        choose.must_be_transcript(transcript)
        return transcript, ""
    state = choose.newest(session, agent).state
    return Path(state.transcript), state.agent_type


def _composed(path: Path, max_tokens: int, role: str, agent_type: str) -> Brief:
    try:
        facts = extract(path, sidechain=path.parent.name == "subagents")
    except Unreadable as slip:
        raise choose.NoSuchTranscript(str(slip)) from slip
    shelved = named.archived(facts.session_id)
    return compose(
        without_secrets(facts), max_tokens, role, agent_type=agent_type, archived=shelved
    )


def plain(found: Brief) -> dict[str, object]:
    lines = [
        {"line": one.text, "reason": one.reason, "op": one.source.op, "at": one.source.at}
        for one in found.lines
        if one.reason
    ]
    return {"brief": found.text, "role": found.role, "lines": lines}


def explained(found: Brief) -> str:
    """Line by line; under each its reason, and the place in the transcript where there is one."""
    told = [f"role: {found.role}"]
    for one in found.lines:
        told.append(one.text)
        if one.reason:
            place = one.source
            op = "" if "operation" in one.reason else f", operation {place.op}"
            where = f"{op}, byte {place.offset:,}" if place.offset else ""
            told.append(f"      ↳ {one.reason}{where}")
    return "\n".join(told)
