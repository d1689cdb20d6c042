"""`holdfast roll`: look for cold segments of a session, and compress them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from holdfast.cli import choose_session
from holdfast.cli.choose_session import Chosen
from holdfast.cli.terminal import say
from holdfast.events import take_checkpoint
from holdfast.segment import formats
from holdfast.segment import roll as rolling
from holdfast.segment.errors import NoTranscript, NotRolled
from holdfast.segment.roll import RollReport
from holdfast.settings import load as settings_load
from holdfast.transcript import Unreadable
from holdfast.window import view


@click.command()
@click.option("--now", is_flag=True, help="Compress now, at any fill.")
@click.option("--session", default="", help="A session's id, or its first characters.")
@click.option("--transcript", type=click.Path(path_type=Path), help="Read this transcript.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def roll(now: bool, session: str, transcript: Path | None, as_json: bool) -> None:
    """Look for cold segments, compress them, archive what is old; as a hook does in passing."""
    chosen = (
        choose_session.by_transcript(transcript) if transcript else choose_session.newest(session)
    )
    report = _rolled(chosen, force=now)
    if as_json:
        click.echo(json.dumps({**formats.plain(report), "line": report.line}))
    else:
        for text in lines(report):
            say(text)
    if report.slips:
        raise NotRolled("; ".join(report.slips), report.exit_code)


def _rolled(chosen: Chosen, *, force: bool) -> RollReport:
    state, now_ms = chosen.state, int(time.time() * 1000)
    settings = settings_load.load(state.project)
    try:
        seen = view.of_transcript(state, settings, now_ms, chosen.folder)
        return rolling.roll(
            state.transcript,
            session_id=state.session_id,
            record=take_checkpoint.read_facts(state, chosen.folder),
            project=state.project,
            used_ratio=seen.verdict.used_ratio,
            now_ms=now_ms,
            force=force,
        )
    except Unreadable as slip:
        raise NoTranscript(f"{state.transcript} cannot be read: {slip}") from None


def lines(report: RollReport) -> list[str]:
    """What was done; what was not, and why."""
    told = [report.line] if report.line else []
    if report.still_pending:
        told.append(f"{report.still_pending} still pending")
    if report.pruned:
        told.append(f"{report.pruned} pruned to their summary")
    if not told:
        nothing = "no topic is old enough to be compressed" if report.looked else report.why_not
        told = [f"{nothing} (step {report.turn})"]
    return told
