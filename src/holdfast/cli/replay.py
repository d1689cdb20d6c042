"""`holdfast replay`: what Holdfast would have done in any past session; nothing to install."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from holdfast.cli.choose_session import NoSuchTranscript
from holdfast.cli.terminal import own_drawing
from holdfast.client import limit_settings
from holdfast.settings import load as settings_load
from holdfast.transcript import Reader, operations
from holdfast.window.replay import Replay, Replayer
from holdfast.wire.errors import HoldfastError
from holdfast.wire.inert import inert


class NothingToReplay(HoldfastError):
    hint = "name a session's .jsonl file under ~/.claude/projects"


class NotADrawing(HoldfastError):
    exit_code = 3
    hint = "name a new file ending in .svg"


class NotDrawn(HoldfastError):
    exit_code = 2
    hint = "name a file in a folder that is there and yours"


BAR_FROM_BYTES = 20 << 20


@click.command()
@click.argument("transcript", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="plain values for programs")
@click.option("--svg", type=click.Path(path_type=Path), help="draw into this file as well")
def replay(transcript: Path, as_json: bool, svg: Path | None) -> None:
    """What Holdfast would have done in a past session."""
    if not transcript.is_file():
        raise NoSuchTranscript(f"{transcript} is not a file")
    found, counts = play(transcript, progress=not as_json)
    if not found.points:
        raise NothingToReplay(f"{transcript} holds no answer of a model")
    if svg is not None:
        _draw(found, svg)
    if as_json:
        click.echo(json.dumps(plain(found, counts), indent=2))
    else:
        show(found, counts)


def _draw(found: Replay, svg: Path) -> None:
    from holdfast.cli import replay_picture

    write_drawing(replay_picture.svg(found), svg)


def write_drawing(drawing: str, svg: Path) -> None:
    """Into a new file, or over a drawing; never over anything else."""
    try:
        if svg.exists() and not svg.read_bytes().startswith(b"<svg"):
            raise NotADrawing(f"{svg} is there already, and is no drawing")
        svg.write_text(drawing, encoding="utf-8")
    except OSError as slip:
        raise NotDrawn(f"{svg} cannot be written: {slip.strerror}") from None
    click.echo(f"drawn into {svg}", err=True)


def play(transcript: Path, *, progress: bool = False) -> tuple[Replay, dict[str, int]]:
    """Run the whole file through the guard, with a bar when it is long and somebody looks."""
    project = limit_settings.project_of(transcript)
    settings = settings_load.load(project)
    sidechain = transcript.parent.name == "subagents"
    player = Replayer(settings, limit_settings.read(project))
    reader = Reader(transcript)
    if progress and transcript.stat().st_size > BAR_FROM_BYTES and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(file=own_drawing(sys.stderr)), transient=True) as bar:
            task = bar.add_task("reading", total=transcript.stat().st_size)
            reader = Reader(transcript, on_bytes=lambda done: bar.update(task, completed=done))
            player.feed(operations(reader, sidechain=sidechain))
    else:
        player.feed(operations(reader, sidechain=sidechain))
    return player.replay, reader.tally.as_dict()


def plain(found: Replay, counts: dict[str, int]) -> dict[str, Any]:
    errors = [c.error_ratio for c in found.compactions if c.error_ratio is not None]
    return {
        "session_id": found.session_id,
        "model": found.model or None,
        "client_version": found.client_version or None,
        "operations": len(found.points),
        "window_tokens": found.edge.window_tokens if found.edge else None,
        "edge_tokens": found.edge.edge_tokens if found.edge else None,
        "readings": [asdict(point) for point in found.points],
        "alerts": [asdict(one) for one in found.raised],
        "compactions": [
            {**asdict(one), "error_ratio": one.error_ratio} for one in found.compactions
        ],
        "checkpoints": [
            {"index": one.index, "trigger": one.checkpoint}
            for one in found.raised
            if one.checkpoint
        ],
        "median_error_ratio": sorted(errors)[len(errors) // 2] if errors else None,
        "lines": counts,
    }


def show(found: Replay, counts: dict[str, int]) -> None:
    from rich.console import Console
    from rich.text import Text

    from holdfast.cli import replay_picture

    console = Console(highlight=False)
    edge = f"{found.edge.edge_tokens:,}" if found.edge else "unknown"
    console.print(
        Text(inert(found.session_id or "session"), style="bold"),
        Text(f" {inert(found.model)}, {len(found.points):,} operations, edge {edge} tokens"),
    )
    for row in replay_picture.columns(found, max(20, min(console.width - 8, 120))):
        console.print(row)
    for one in found.raised:
        what = " and ".join(filter(None, (one.zone, one.alert)))
        saved = f", checkpoint due ({one.checkpoint})" if one.checkpoint else ""
        logged = "" if one.heard else " (in the log only)"
        console.print(f"  op {one.index:>5}  {one.used_ratio:>6.1%}  {what}{saved}{logged}")
    for hit in found.compactions:
        compared = f"compaction ({inert(hit.trigger)}), {_compared(hit)}"
        console.print(Text(f"  op {hit.index:>5}  {compared}"))
        ahead = ", ".join(f"{level} {count}" for level, count in hit.ops_ahead.items())
        console.print(f"            operations ahead of it: {ahead or 'no alert'}", style="dim")
    console.print("  " + words_for(counts), style="dim")


def words_for(counts: dict[str, int]) -> str:
    """What was read, what was left alone, and what could not be understood."""
    told = [f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    return "transcript: " + ", ".join(told)


def _compared(hit: Any) -> str:
    if hit.error_ratio is None:
        return f"read {hit.read_tokens:,}; the client stated no count"
    return (
        f"read {hit.read_tokens:,}, the client said {hit.pre_tokens:,} "
        f"({hit.error_ratio:.2%} apart)"
    )
