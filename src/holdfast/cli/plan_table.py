"""A workflow for a person: what room there is, and one table of batches and their tasks."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.plan.room import Room
from holdfast.plan.said import (
    about,
    counted,
    listed,
    named,
    nothing_left,
    short,
    span,
    step_of,
)
from holdfast.plan.split import Piece
from holdfast.plan.workflow import Batch, Workflow
from holdfast.wire.inert import inert

MOST_SHOWN = 200  # batches; the rest is a number
MOST_CHARS = 160  # of a title
MOST_FILES = 3  # of a part; the rest is a number
RIGHT = ("tokens", "80% range")


def show(found: Workflow) -> None:
    console = Console(highlight=False)
    title = Text(named(found.title) or "plan", style="bold")
    said = f"{counted(len(found.batches), 'batch')}, {found.size}"
    console.print(title + Text(f": {said}", style="not bold"))
    bases = _bases(found)
    console.print(_facts(found.room, bases))
    if not found.batches:
        console.print(f"  {nothing_left(len(found.done))}")
        return
    console.print(_table(found, differ=len(bases) > 1))
    if len(found.batches) > MOST_SHOWN:
        console.print(f"  and {len(found.batches) - MOST_SHOWN:,} more batches: --json has all")
    if found.done:
        console.print(Text(f"  done already: {len(found.done):,}", style="dim"))


def _bases(found: Workflow) -> list[str]:
    """What the estimates rest on, those with a range: the others are the plan's own word."""
    pieces = [piece for batch in found.batches for piece in batch.pieces]
    return list(dict.fromkeys(one.estimate.basis for one in pieces if _is_range(one)))


def _facts(room: Room, bases: list[str]) -> Table:
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_row("  room", f"{_room(room)} ({inert(room.basis)})", style="dim")
    if len(bases) == 1:
        facts.add_row("  known by", inert(bases[0]), style="dim")
    return facts


def _room(room: Room) -> str:
    if room.here:
        now = f"{room.now_tokens:,} tokens in this session"
        return f"{now}, {room.fresh_tokens:,} in a fresh window"
    return f"{counted(room.fresh_tokens, 'token')} a batch"


def _table(found: Workflow, differ: bool) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "task", *RIGHT, *(("known by",) if differ else ())):
        right = name in RIGHT  # elsewhere a word wider than its column is folded, not cut
        table.add_column(
            name, justify="right" if right else "left", overflow="ellipsis" if right else "fold"
        )
    for at, batch in enumerate(found.batches[:MOST_SHOWN]):
        if at:
            table.add_row("", Text("checkpoint", style="cyan"))
        _batch(table, at, batch, found.room.here)
        for piece in batch.pieces:
            _task(table, piece, differ)
    return table


def _batch(table: Table, at: int, batch: Batch, here: bool) -> None:
    window = "in a fresh window" if batch.fresh else "in this session"
    where = f" {window}" if here else ""
    share = batch.tokens / max(1, batch.room_tokens)
    used = f"{share:.0%} of the room" if share <= 1 else "larger than the room"
    used = "a session of its own" if batch.is_unknown else used
    side = ", side by side" if batch.parallel else ""
    colour = "yellow" if batch.high_tokens > batch.room_tokens else "green"
    table.add_row(
        Text(str(at + 1), style="bold"),
        Text(f"batch{where}, {used}{side}", style="bold"),
        *_sizes(batch, "bold red" if share > 1 else "bold", colour),
    )


def _sizes(batch: Batch, style: str, colour: str) -> tuple[Text, Text]:
    if batch.is_unknown or len(batch.pieces) == 1:  # stands in the line of its task
        return Text(""), Text("")
    span_ = span(batch.low_tokens, batch.high_tokens)
    return Text(about(batch.tokens), style=style), Text(span_, style=colour)


def _task(table: Table, piece: Piece, differ: bool) -> None:
    tokens, wide = piece.estimate.in_words
    words = Text(short(named(piece.task.shown), MOST_CHARS))
    for line in _beneath(piece):
        words.append(f"\n{line}", style="dim")
    basis = (Text(inert(piece.estimate.basis), style="dim"),) if differ else ()
    table.add_row("", words, tokens, Text(wide, style="dim"), *basis)


def _beneath(piece: Piece) -> Iterator[str]:
    """Whose step it is, and what is in a part and why: who cannot see it cannot overrule it."""
    if piece.of:
        yield step_of(piece.of.title)
    if piece.cut and (piece.task.part or not piece.of):
        yield _cut(piece)


def _cut(piece: Piece) -> str:
    files = piece.task.files
    if len(files) == 1 and piece.task.part:
        return short(named(files[0]), 300)
    which = f"{listed(files, MOST_FILES)}: " if piece.task.part else ""
    return short(named(f"{which}{piece.cut}"), 300)


def _is_range(piece: Piece) -> bool:
    return piece.estimate.low_tokens != piece.estimate.high_tokens
