"""`holdfast search`: find again what was said, decided, saved or written down, and print the whole
of what is behind an id."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from holdfast.cli.options import AS_JSON, flag
from holdfast.cli.terminal import clean, paint, print_json, say, working
from holdfast.memory.item import DECISION, KINDS, MESSAGE, PAGE_CHARS, TURN
from holdfast.wire.log import inert

if TYPE_CHECKING:
    from holdfast.memory.results import FoundItem, SearchAnswer

LABELS = {TURN: "asked", DECISION: "answers", MESSAGE: "message"}  # of a title
LONGER_PAGE_CHARS = 8_000
FILL_SECONDS, PATIENT_SECONDS = 4.0, 15.0  # of making vectors; on a terminal, where it is shown
NO_PROJECT = "nothing to search yet: no project has a session"
NOTHING = "Nothing found. Try other words, --all-projects, or --cold for archived topics."
START, KIND = click.IntRange(0), click.Choice(KINDS)
OFFSET = click.option("--offset", default=0, type=START, help="With --expand: first character.")
FIND = click.option("--find", default="", metavar="WORDS", help="With --expand: lines with WORDS.")
LIMIT = click.IntRange(1, 200)


@click.command()
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@click.option("--limit", "-n", default=10, show_default=True, type=LIMIT, help="Number of results.")
@flag(
    "--all-projects", "everywhere", help="Search every project that has sessions on this machine."
)
@click.option("--kind", "kinds", multiple=True, type=KIND, help="Only this kind; can be repeated.")
@flag("--cold", help="Also search archived topics.")
@click.option("--expand", "item_id", default="", metavar="ID", help="Print a result's full text.")
@OFFSET
@FIND
@AS_JSON
def search(
    words: tuple[str, ...], item_id: str, offset: int, find: str, as_json: bool, **how: Any
) -> None:
    """Find what was said, decided or saved in earlier sessions.

    Each result begins with its id. `--expand ID` prints its full text: the original turns, an
    archived tool output, or a tool result that Claude Code cleared (toolu_…).

    \b
    Examples:
      holdfast search 'rate limit'                  in this project
      holdfast search 'rate limit' --all-projects   in every project
      holdfast search --expand ID --find FAILED     only the lines with this word
    """
    query = " ".join(words)
    if item_id:
        return _expand(item_id, offset, find, LONGER_PAGE_CHARS, as_json)
    from holdfast.memory.recall import recall
    from holdfast.memory.sync import SYNC_SECONDS
    from holdfast.memory.words import parse_query

    if not parse_query(query).terms:
        raise click.UsageError("give a word or a number to search for")
    is_shown = sys.stderr.isatty()
    with working("preparing the search") as tell:
        answer = recall(
            query,
            **how,
            seconds=math.inf if is_shown else SYNC_SECONDS,
            fill_seconds=PATIENT_SECONDS if is_shown else FILL_SECONDS,
            report=lambda done, left: tell("preparing the search", done, done + left),
        )
    print_json(answer.plain()) if as_json else _show(answer, how["everywhere"])
    if not answer.found:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("item_id", metavar="ID")
@OFFSET
@FIND
@click.option("--max-chars", default=PAGE_CHARS, type=click.IntRange(1, 10_000_000), hidden=True)
@AS_JSON
def expand(item_id: str, offset: int, find: str, max_chars: int, as_json: bool) -> None:
    """Print the full text behind an id. `holdfast search --expand ID` is the newer form."""
    _expand(item_id, offset, find, max_chars, as_json)


def _expand(item_id: str, offset: int, find: str, most_chars: int, as_json: bool) -> None:
    from holdfast.memory.expand import expand as read_full

    full = read_full(item_id, offset=offset, most_chars=most_chars, find=find)
    if as_json:
        return print_json(full.plain())
    if full.text:  # an output is printed as it is, so that it can be piped
        is_plain = full.kind == "output" or sys.stdout.isatty()
        click.echo(full.text if is_plain else full.fenced())
    for note in full.notes:
        say(f"note: {inert(note)}", err=True)
    if full.next_offset:
        same = f" --find {shlex.quote(find)}" if find else ""
        more = f"holdfast search --expand {full.id} --offset {full.next_offset}{same}"
        say(f"more: {more}", err=True)


def _show(answer: SearchAnswer, all_projects: bool) -> None:
    from holdfast.memory.recall import NO_ITEMS

    for item in answer.found:
        say("\n  ".join(_lines(item)))
    if NO_ITEMS in answer.notes:
        others = f"{NO_ITEMS}; --all-projects searches the others"
        return say(NO_PROJECT if all_projects else others, err=True)
    if not answer.found:
        say(NOTHING, err=True)
    for note in answer.notes:
        say(f"note: {inert(note)}", err=True)


def _lines(result: FoundItem) -> Iterator[str]:
    """Yield where it was said, what the user asked or a decision answers, then each passage."""
    yield f"{paint(result.id, 'bold')}  {clean(_where(result))}"
    if result.item.title and result.kind in LABELS:
        yield f"{LABELS[result.kind]}: {clean(result.title)}"
    for place in dict.fromkeys(filter(None, result.places)):
        yield clean(place)


def _where(result: FoundItem) -> str:
    item = result.item
    steps = f"step {item.first_turn}" if item.first_turn else ""
    if item.last_turn > item.first_turn:
        steps = f"steps {item.first_turn}-{item.last_turn}"
    session = f"session {item.session[:8]}" if item.session else ""
    title = "" if item.kind in LABELS else item.title
    parts = (item.by, title, steps, session, item.at[:16].replace("T", " "))
    return ", ".join(filter(None, parts))
