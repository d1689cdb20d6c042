"""`holdfast search`: find again what was said, decided, saved or written down; `holdfast expand`:
the whole of a result, a segment or an archived tool output.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from holdfast.cli.options import AS_JSON, must_be_folder
from holdfast.cli.terminal import paint, say
from holdfast.memory.item import DECISION, KINDS, MESSAGE, PAGE_CHARS, TURN
from holdfast.text import fence
from holdfast.text.numbers import short
from holdfast.wire.log import inert

if TYPE_CHECKING:
    from holdfast.memory.results import FoundItem, SearchAnswer
    from holdfast.memory.sync import IndexStatus

ASKED_CHARS = 160
LONGER_PAGE_CHARS = 8_000
FILL_SECONDS, PATIENT_SECONDS = 4.0, 15.0  # of making vectors; on a terminal, where it is shown
ORIGINS = {
    "memory": "memory",
    "checkpoint": "checkpoints",
    "segment": "compressed topics",
    "decision": "decisions",
    "message": "messages",
    "turn": "turns",
}
OTHERS = "--all-projects searches the others"
NO_PROJECT = "nothing to search yet: no project has a session"
NOTHING_ANYWHERE = "Nothing found. Try other words, or --cold for archived topics."
NOTHING = "Nothing found. Try other words, --all-projects, or --cold for archived topics."


@click.command()
@click.argument("words", nargs=-1, metavar="[QUERY]...")
@click.option(
    "--limit",
    "-n",
    default=10,
    show_default=True,
    type=click.IntRange(1, 200),
    help="Number of results.",
)
@click.option(
    "--project",
    default="",
    type=click.Path(),
    metavar="DIR",
    help="The project's folder (default: this folder).",
)
@click.option(
    "--all-projects",
    is_flag=True,
    help="Search every project that has sessions on this machine.",
)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(KINDS),
    help="Only this kind of result; can be repeated.",
)
@click.option("--cold", is_flag=True, help="Also search archived topics.")
@click.option(
    "--expand", "item_id", default="", metavar="ID", help="Print the turns that a result came from."
)
@click.option(
    "--offset", default=0, type=click.IntRange(0), help="With --expand: start at this character."
)
@click.option("--keyword", "by_keyword", is_flag=True, help="Search by words only, not by meaning.")
@click.option("--status", "asked_status", is_flag=True, help="Show how complete the index is.")
@click.option("--fill", "filling", is_flag=True, help="Prepare the search by meaning now.")
@AS_JSON
def search(
    words: tuple[str, ...],
    limit: int,
    project: str,
    all_projects: bool,
    kinds: tuple[str, ...],
    cold: bool,
    item_id: str,
    offset: int,
    by_keyword: bool,
    asked_status: bool,
    filling: bool,
    as_json: bool,
) -> None:
    """Find QUERY in what this project's sessions said, decided, kept and wrote down."""
    query = " ".join(words)
    must_be_folder(project, "name a project's folder, or use --all-projects")
    from holdfast.memory.recall import recall
    from holdfast.memory.sync import SYNC_SECONDS
    from holdfast.memory.words import parse_query

    if item_id:
        return _expand(item_id, project, offset, LONGER_PAGE_CHARS, "", as_json)
    if filling:
        _fill(project)
    if asked_status or (filling and not query):
        from holdfast.memory.sync import index_status

        return _show_standing(index_status(project), as_json)
    if not parse_query(query).terms:
        raise click.UsageError("say what to search for: a word or a number")
    is_shown = sys.stderr.isatty()
    found = recall(
        query,
        project=project,
        limit=limit,
        kinds=kinds,
        cold=cold,
        everywhere=all_projects,
        by_keyword=by_keyword,
        seconds=math.inf if is_shown else SYNC_SECONDS,
        fill_seconds=PATIENT_SECONDS if is_shown else FILL_SECONDS,
        report=_show_progress,
    )
    _end_progress()
    _show(found, as_json, all_projects)
    if not found.found:
        raise click.exceptions.Exit(1)


def _fill(project: str) -> None:
    from holdfast.memory import embedders, engines, locations, sync

    index = engines.open_index(locations.resolve(project))
    sync.sync_index(index, report=_show_progress)
    sync.fill_vectors(index, embedders.current_embedder(), report=_show_progress)
    _end_progress()


def _show_progress(done: int, left: int) -> None:
    """Count on one line of a terminal: the first search reads a whole history."""
    if sys.stderr.isatty():
        click.echo(
            f"\rpreparing the search: {done:,} done, {left:,} to go \x1b[K", nl=False, err=True
        )


def _end_progress() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)


def _show_standing(found: IndexStatus, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found.plain()))
        return
    kinds = ", ".join(f"{n:,} from {ORIGINS.get(kind, kind)}" for kind, n in found.kinds.items())
    of = f" ({kinds})" if kinds else ""
    many = f"{found.items:,} {'entry' if found.items == 1 else 'entries'}"
    say(f"{inert(found.project)}: {many} to search in{of}")
    say(f"found by words: {found.items:,}")
    made = f"found by meaning too: {found.vectors:,}"
    by = f" ({inert(found.embedder)})" if found.embedder else ""
    say(f"{made}{by}; `holdfast search --fill` adds the rest" if found.missing else made + by)
    if found.left:
        say(f"{found.left:,} sources are not read yet; search again to continue")


def _show(answer: SearchAnswer, as_json: bool, all_projects: bool) -> None:
    if as_json:
        click.echo(json.dumps(answer.plain()))
        return
    found, notes = lines(answer, all_projects)
    for line in found:
        say(line)
    for line in notes:
        say(line, err=True)


def lines(answer: SearchAnswer, all_projects: bool = False) -> tuple[list[str], list[str]]:
    """Return the lines for stdout, and those for stderr."""
    from holdfast.memory.recall import NO_ITEMS
    from holdfast.memory.words import stem

    found = ["\n  ".join(_lines(one, list(map(stem, answer.terms)))) for one in answer.found]
    if not found and NO_ITEMS in answer.notes:
        return [], [NO_PROJECT if all_projects else f"{NO_ITEMS}; {OTHERS}"]
    notes = [] if found else [NOTHING_ANYWHERE if all_projects else NOTHING]
    return found, notes + [f"note: {inert(note)}" for note in answer.notes]


def _lines(one: FoundItem, words: list[str]) -> Iterator[str]:
    """Yield where it was said, what was asked there or the question it answers, then each
    passage."""
    yield f"{paint(one.id, 'bold')}  {_clean(_where(one))}"
    if one.item.kind == MESSAGE:
        yield f"message: {_clean(one.item.title)}"
    elif one.item.title and one.kind in (TURN, DECISION):
        yield f"asked: {_marked(short(_clean(one.title), ASKED_CHARS), words)}"
    for place in dict.fromkeys(filter(None, one.places)):
        yield _marked(_clean(place), words)


def _marked(text: str, words: list[str]) -> str:
    """Colour the words that were searched for, whatever their ending."""
    if not words:
        return text
    begin = "|".join(re.escape(one) for one in sorted(words, key=len, reverse=True))
    pattern = re.compile(rf"(?<![^\W_])(?:{begin})\w*", re.IGNORECASE)
    return pattern.sub(lambda found: paint(found[0], "bold", "yellow"), text)


def _clean(text: str) -> str:
    """Make text safe: anyone may have written it, and a model may read it, so no tag in it may
    work."""
    return inert(fence.clean(text))


def _where(one: FoundItem) -> str:
    item = one.item
    steps = f"step {item.first_turn}" if item.first_turn else ""
    if item.last_turn > item.first_turn:
        steps = f"steps {item.first_turn}-{item.last_turn}"
    session = f"session {item.session[:8]}" if item.session else ""
    title = "" if item.kind in (TURN, DECISION, MESSAGE) else item.title
    parts = (item.by, title, steps, session, item.at[:16].replace("T", " "))
    return ", ".join(filter(None, parts))


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
    default=PAGE_CHARS,
    show_default=True,
    type=click.IntRange(1, 10_000_000),
    help="Print at most this many characters.",
)
@click.option(
    "--find", default="", metavar="WORDS", help="Print only lines that contain all these words."
)
@AS_JSON
def expand(word: str, offset: int, max_chars: int, find: str, as_json: bool) -> None:
    """Print what is behind ID, or the start of one: the name of a shortened tool output, of a
    tool call whose result was cleared, of a segment, or of what a search found."""
    _expand(word, "", offset, max_chars, find, as_json)


def _expand(
    word: str, project: str, offset: int, most_chars: int, find: str, as_json: bool
) -> None:
    from holdfast.memory.expand import expand as read_full

    found = read_full(word, project=project, offset=offset, most_chars=most_chars, find=find)
    if as_json:
        click.echo(json.dumps(found.plain()))
        return
    if found.text:  # an output is printed as it is, so that it can be piped
        is_plain = found.kind == "output" or sys.stdout.isatty()
        click.echo(found.text if is_plain else found.fenced())
    for note in found.notes:
        say(f"note: {inert(note)}", err=True)
    if found.next_offset:
        going_on = f"--offset {found.next_offset}" + (
            f" --find {shlex.quote(find)}" if find else ""
        )
        say(f"more: holdfast expand {found.id} {going_on}", err=True)
