"""`holdfast expand`: the whole of an archived tool output, of a segment, of a search result."""

from __future__ import annotations

import json
import shlex
import time

import click

from holdfast.cli.terminal import say
from holdfast.memory.full_text import USUAL_CHARS, FullText, whole
from holdfast.text import fence
from holdfast.wire.log import inert


@click.command()
@click.argument("word", metavar="ID")
@click.option(
    "--offset",
    default=0,
    show_default=True,
    type=click.IntRange(0),
    help="Start at this character.",
)
@click.option(
    "--max-chars",
    default=USUAL_CHARS,
    show_default=True,
    type=click.IntRange(1, 10_000_000),
    help="Print at most this many characters.",
)
@click.option(
    "--find", default="", metavar="WORDS", help="Print only lines that contain all these words."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def expand(word: str, offset: int, max_chars: int, find: str, as_json: bool) -> None:
    """Print what is behind ID, or the start of one: the name of a shortened tool output, of a
    tool call whose result was cleared, of a segment, or of what a search found."""
    now_ms = int(time.time() * 1000)
    found = whole(word, now_ms=now_ms, offset=offset, most_chars=max_chars, find=find)
    if as_json:
        click.echo(json.dumps(found._asdict()))
        return
    if found.text:
        click.echo(found.text if found.kind == "output" else _fenced(found))
    for note in found.notes:
        say(f"note: {inert(note)}", err=True)
    if found.next_offset:
        going_on = f"--offset {found.next_offset}" + (
            f" --find {shlex.quote(find)}" if find else ""
        )
        say(f"more: holdfast expand {found.id} {going_on}", err=True)


def _fenced(found: FullText) -> str:
    """Words of a session; an output is what a tool printed, to be piped on, and comes bare."""
    return "\n".join([fence.opening(found.origin), found.text, fence.closing()])
