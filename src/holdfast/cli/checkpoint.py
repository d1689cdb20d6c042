"""`holdfast checkpoint`: save what a session knows, now, and prove that it is there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from holdfast.checkpoint.errors import NotKept
from holdfast.cli import choose
from holdfast.lifecycle import keeping
from holdfast.window import state as window_state


@click.command()
@click.option("--transcript", type=click.Path(path_type=Path), help="read this file")
@click.option("--project", type=click.Path(path_type=Path), help="keep it in this folder")
@click.option("--session", default="", help="id, or the start of one")
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
def checkpoint(transcript: Path | None, project: Path | None, session: str, as_json: bool) -> None:
    """Save a verified checkpoint now."""
    chosen = choose.by_transcript(transcript) if transcript else choose.newest(session)
    with window_state.held_if_can_be(chosen.folder) as state:
        _fill(state, chosen.state, project)
        kept = keeping.take(state, chosen.folder, "manual", int(time.time() * 1000))
    if kept is None:
        raise NotKept("no checkpoint could be kept; `holdfast log` says why")
    if as_json:
        told = {"id": kept.id, "path": kept.path, "content_hash": kept.content_hash}
        click.echo(json.dumps(told | {"reused": kept.reused}, indent=2))
        return
    click.echo(kept.path)
    again = "the same state was kept already" if kept.reused else "verified by reading it back"
    click.echo(f"{again}; `holdfast resume {kept.id}` shows it", err=True)


def _fill(state: window_state.State, chosen: window_state.State, project: Path | None) -> None:
    """A window no hook has noted is known by its transcript alone."""
    state.session_id = state.session_id or chosen.session_id
    state.agent_id = state.agent_id or chosen.agent_id
    state.transcript = chosen.transcript
    state.cwd = state.cwd or chosen.cwd
    state.project = str(project.resolve()) if project else state.project or chosen.project
