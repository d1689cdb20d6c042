"""`holdfast brief`: what would be restored now, and why each line is there."""

from __future__ import annotations

import json

import click

from holdfast.brief.compose import Brief
from holdfast.brief.item import hook_tokens
from holdfast.brief.roles import ROLES
from holdfast.cli.options import AS_JSON, of_session
from holdfast.cli.sessions import Chosen, NoSuchTranscript, choose
from holdfast.cli.terminal import say, working
from holdfast.events import window_brief
from holdfast.record.reader import read_record
from holdfast.record.secrets import redact_record
from holdfast.transcript import Unreadable


@click.command()
@of_session
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
    session: str, max_tokens: int | None, role: str | None, explain: bool, as_json: bool
) -> None:
    """Show what would be restored if Claude Code compacted now.

    `holdfast budget` shows how the room of the brief is divided, and changes that. `holdfast lost`
    shows what was not found in the last summary.

    \b
    Examples:
      holdfast brief             as the model would read it
      holdfast brief --explain   each line with its reason and source
    """
    chosen = choose(session)
    with working("reading"):
        composed = _compose(chosen, max_tokens, role or "")
    if as_json:
        click.echo(json.dumps(_plain(composed), indent=2))
    elif explain:
        say(explain_lines(composed))
    elif composed.lines:
        say(composed.text)
    else:
        most = max_tokens or hook_tokens(chosen.state.project, chosen.state.edge_tokens)
        say(f"nothing to restore within --max-tokens {most}", err=True)


def _compose(chosen: Chosen, max_tokens: int | None, role: str) -> Brief:
    """Compose a brief as the hook would, but from the whole file, and without recording that it was
    read.

    A given size is kept; without one, the brief grows as at a compaction.
    """
    try:
        record = read_record(chosen.state.transcript, sidechain=bool(chosen.state.agent_id))
    except Unreadable as error:
        raise NoSuchTranscript(str(error)) from error
    return window_brief.compose_brief(
        chosen.state, chosen.folder, redact_record(record), max_tokens, role
    )


def _plain(composed: Brief) -> dict[str, object]:
    lines = [
        {"line": line.text, "reason": line.reason, "op": line.source.op, "at": line.source.at}
        for line in composed.lines
        if line.reason
    ]
    return {"brief": composed.text, "role": composed.role, "lines": lines}


def explain_lines(composed: Brief) -> str:
    """Return each line with its reason below it, and its place in the transcript if it has one."""
    rows = [f"role: {composed.role}"]
    for line in composed.lines:
        rows.append(line.text)
        if line.reason:
            op = "" if "step" in line.reason else f", step {line.source.op}"
            where = f"{op}, byte {line.source.offset:,}" if line.source.offset else ""
            rows.append(f"      ↳ {line.reason}{where}")
    return "\n".join(rows)
