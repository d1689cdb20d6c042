"""`holdfast checkpoint`: save what a session knows, now, and prove that it is there."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from holdfast.checkpoint.errors import CheckpointNotSaved
from holdfast.checkpoint.write import SavedCheckpoint
from holdfast.cli import choose_session
from holdfast.cli.terminal import say
from holdfast.events import take_checkpoint
from holdfast.settings import load as settings_load
from holdfast.text.escape import shown
from holdfast.window import state as window_state
from holdfast.window import view


@click.command()
@click.option("--transcript", type=click.Path(path_type=Path), help="Read this transcript.")
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Save it in this folder's project.",
)
@click.option("--session", default="", help="A session's id, or its first characters.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def checkpoint(transcript: Path | None, project: Path | None, session: str, as_json: bool) -> None:
    """Save a verified checkpoint now."""
    chosen = _chosen(transcript, session, project)
    now_ms = int(time.time() * 1000)
    with window_state.held_if_can_be(chosen.folder) as state:
        _fill(state, chosen.state)
        view.measure(state, settings_load.load(state.project), now_ms, chosen.folder)
        own, state.project = state.project, str(project.resolve()) if project else state.project
        kept = take_checkpoint.take(state, chosen.folder, "manual", now_ms)
        state.project = own
    if kept is None:
        raise CheckpointNotSaved("no checkpoint could be saved; `holdfast log` says why")
    if as_json:
        click.echo(json.dumps(plain(kept), indent=2))
        return
    say(kept.path)
    for said in filter(None, (_elsewhere(kept), *kept.notes)):
        say(f"note: {shown(said)}", err=True)
    again = "the same state was saved already" if kept.reused else "verified by reading it back"
    say(f"{again}; `holdfast resume {kept.id}` shows it", err=True)


def plain(kept: SavedCheckpoint) -> dict[str, object]:
    return {
        "id": kept.id,
        "path": kept.path,
        "content_hash": kept.content_hash,
        "reused": kept.reused,
        "why_elsewhere": kept.why_elsewhere or None,
    }


def _elsewhere(kept: SavedCheckpoint) -> str:
    return f"not in the project: {kept.why_elsewhere}" if kept.why_elsewhere else ""


def _chosen(transcript: Path | None, session: str, project: Path | None) -> choose_session.Chosen:
    """Without a word on where to keep it, never a session of another project."""
    if transcript is not None:
        return choose_session.by_transcript(transcript)
    return choose_session.newest(session) if project else choose_session.of_this_folder(session)


def _fill(state: window_state.State, chosen: window_state.State) -> None:
    """A window no hook has noted is known by its transcript alone."""
    state.session_id = state.session_id or chosen.session_id
    state.agent_id = state.agent_id or chosen.agent_id
    state.transcript = chosen.transcript
    state.cwd = state.cwd or chosen.cwd
    state.project = state.project or chosen.project
