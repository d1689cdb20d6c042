"""`holdfast lost`: what the last compaction's summary left out, and what it claims too much."""

from __future__ import annotations

import json
from pathlib import Path

import click

from holdfast.cli import choose
from holdfast.lifecycle import lost as lifecycle_lost
from holdfast.wire.errors import HoldfastError
from holdfast.wire.inert import inert


class NoCompaction(HoldfastError):
    hint = "name a transcript that was compacted: --transcript FILE"


@click.command()
@click.option("--transcript", type=click.Path(path_type=Path), help="read this file")
@click.option("--session", default="", help="id, or the start of one")
@click.option("--max-tokens", default=2_000, show_default=True, type=click.IntRange(100, 2_800))
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
def lost(transcript: Path | None, session: str, max_tokens: int, as_json: bool) -> None:
    """What the last compaction lost."""
    if transcript is not None:
        choose.must_be_transcript(transcript)
    chosen = choose.by_transcript(transcript) if transcript else choose.newest(session)
    state = chosen.state
    found = lifecycle_lost.after_last_compaction(
        Path(state.transcript), sidechain=bool(state.agent_id), max_tokens=max_tokens
    )
    if found is None:
        raise NoCompaction(f"{state.transcript} holds no compaction")
    if as_json:
        claims = [{"sentence": one.sentence, "evidence": one.evidence} for one in found.claims]
        lines = [{"text": one.text, "reason": one.reason} for one in found.brief.lines]
        click.echo(json.dumps({"left_out": lines, "contradicted": claims}, indent=2))
        return
    click.echo("Not in the client's summary, nor brought back by the client itself:")
    for line in found.brief.lines:
        for part in line.text.split("\n"):
            click.echo(f"  {inert(part)}")
    if found.claims:
        click.echo("Called done, although the transcript says otherwise:")
    for claim in found.claims:
        click.echo(f"  “{inert(claim.sentence)}”\n    but {inert(claim.evidence)}")
