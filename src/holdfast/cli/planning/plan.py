"""`holdfast plan`: a list of tasks as batches that fit the room left."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from holdfast.cli import terminal
from holdfast.cli.everyday.replay import write_drawing
from holdfast.cli.planning import plan_room
from holdfast.cli.planning.plan_room import A_ROOM, A_WINDOW
from holdfast.cli.terminal import say, ticker
from holdfast.client.settings_files import transcripts_folder
from holdfast.hub import row_times
from holdfast.plan.commits import say_who_commits
from holdfast.plan.estimates import past
from holdfast.plan.formats import read
from holdfast.plan.formats.fields import LONGEST_TITLE
from holdfast.plan.formats.references import find_label
from holdfast.plan.picture import draw_mermaid as mermaid_text
from holdfast.plan.picture import draw_svg as picture
from holdfast.plan.planner import make_workflow, waits_for_all
from holdfast.plan.room import PlanRoom
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask
from holdfast.plan.workflow import TaskBatch, Workflow, as_json
from holdfast.redact import redact_each
from holdfast.run import journal_state as begun_plan
from holdfast.run.claude_process import PERMISSIONS
from holdfast.run.journal_state import ContinuedPlan
from holdfast.settings import load as settings_load
from holdfast.text.numbers import counted, listed, named, nothing_left, short, step_of
from holdfast.wire.log import inert

MOST_NOTES = 30


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_plain", is_flag=True, help="Print JSON.")
@click.option("--mermaid", is_flag=True, help="Print the order of the tasks as a Mermaid diagram.")
@click.option(
    "--svg", type=click.Path(path_type=Path), help="Also draw an SVG picture into this file."
)
@click.option("--room", "room_tokens", type=A_ROOM, help="Tokens that a batch may take.")
@click.option("--window", type=A_WINDOW, help="Plan for a new window of this size.")
@click.option(
    "--project",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Where the files of the plan are (default: this folder).",
)
def plan(
    file: Path,
    as_plain: bool,
    mermaid: bool,
    svg: Path | None,
    room_tokens: int | None,
    window: int | None,
    project: Path | None,
) -> None:
    """A list of tasks as batches that fit the room left; FILE may be - for stdin."""
    root = (project or Path.cwd()).resolve()
    stdin = str(file) == "-"
    begun = (
        ContinuedPlan(read.decode_plan(_stdin(), root))
        if stdin
        else begun_plan.load_remaining(file, root)
    )
    settings = settings_load.load(str(root))
    room = plan_room.for_plan(settings, project and root, room_tokens, window, row_times.now_ms())
    with ticker() as progress:
        known = past.learn(root, transcripts_folder(), progress=progress)
        found = make_workflow(begun.plan, room, known, root, progress)
    if begun.note:
        found = replace(found, warnings=(*found.warnings, begun.note))
    if svg is not None:
        write_drawing(picture(found), svg)
    if as_plain:
        click.echo(json.dumps(redact_each(as_json(found)), indent=2))
    elif mermaid:
        click.echo(mermaid_text(found), nl=False)
    else:
        show(found, begun.plan.tasks)
    if not as_plain:
        show_notes(found.warnings)
    if not (as_plain or mermaid or stdin):
        run = _run_words(file, project, room_tokens, window)
        _say_next(run, begun.ran, found.batches, begun.plan.description)


def _say_next(run: str, ran: int, batches: Sequence[TaskBatch], text: str) -> None:
    """Say how to run what is left: first without starting anything, then with what it needs."""
    if ran:
        did = f"{counted(ran, 'task')} of it {'was' if ran == 1 else 'were'} done by a run"
        say(f"  {did}: {run} --status says more", err=True)
    if not batches:
        return
    order = " one after the other" if len(batches) > 1 else ""
    tasks = [piece.task for batch in batches for piece in batch.pieces]
    say(f"  commits: {say_who_commits(tasks, text)}", err=True)
    say(f"  next: {run} --dry-run", err=True)
    say("        shows what each session is told, and starts nothing", err=True)
    say(f"  then: {run} -- {PERMISSIONS}", err=True)
    say(
        f"        starts {counted(len(batches), 'session')} of Claude{order}, which may edit files"
        " and run commands",
        err=True,
    )
    say("        a task that is not done is tried once more; then the run stops there", err=True)
    people = "a task that needs a person (a review, an approval) stops it too"
    say(f"        {people}: no session decides for people", err=True)


def _run_words(
    file: Path, project: Path | None, room_tokens: int | None, window: int | None
) -> str:
    """Return the `holdfast run` command line for the same options."""
    where = ["--project", os.fspath(project)] if project else []
    sizes = {"--room": room_tokens, "--window": window}
    given = [word for name, tokens in sizes.items() if tokens for word in (name, str(tokens))]
    return inert(shlex.join(["holdfast", "run", os.fspath(file), *where, *given]))


def show_notes(notes: Sequence[str]) -> None:
    for words in notes[:MOST_NOTES]:
        say(f"  note: {named(words)}", err=True)
    if len(notes) > MOST_NOTES:
        more = counted(len(notes) - MOST_NOTES, "more note")
        say(f"  and {more}: --json has all", err=True)


def _stdin() -> bytes:
    return sys.stdin.buffer.read(read.MOST_BYTES + 1)


MOST_SHOWN = 200  # batches; the rest is a number
MOST_FILES = 3  # of a part; the rest is a number
MOST_BASES = 4
MOST_BEFORE = 8  # tasks that a task waits for
BESIDE_TITLES = 50  # columns for the number of a batch and of a task, the tokens and their range
EARLY = 0.8  # of the room: a batch that fills less of it says why
RIGHT = ("tokens", "range")
OWN_LABEL = re.compile(  # `T2:`, `3.`
    r"\W*(?:[A-Za-z]{1,10}[ -]?)?\d[\d.]*[a-z]?\s*[:.)\]\u2013\u2014-]"
)


class _Listing:
    """The tasks of the plan as it lists them."""

    def __init__(self, tasks: Sequence[PlanTask]) -> None:
        self.numbers = {task.id: at for at, task in enumerate(tasks, 1)}
        self._tasks = {task.id: task for task in tasks}
        self._labels = {task.id: find_label(task.title) for task in tasks}

    def names_before(self, task: str) -> list[str]:
        """The labels or numbers of the tasks that it waits for, besides those of the phase before
        it."""
        if (own := self._tasks.get(task)) is None:
            return []
        waits = [name for name in own.depends if name in self.numbers]
        is_all = {self.numbers[name] for name in waits} == set(range(1, self.numbers[task]))
        if self.numbers[task] > 2 and (is_all or waits_for_all(own)):
            return ["all above"]
        return [self._labels.get(name) or str(self.numbers[name]) for name in waits]


def show(found: Workflow, tasks: Sequence[PlanTask]) -> None:
    """Print the workflow. `tasks`: all of the plan, by whose numbers titles refer to each other."""
    terminal.draw(*_parts(found, _Listing(tasks)), piped_width=_piped_width(found))


def _parts(found: Workflow, listing: _Listing) -> Iterator[Text | Table]:
    title = Text(named(found.title) or "plan", style="bold")
    size = f"{counted(len(found.batches), 'batch')}, {found.size}"
    yield title + Text(f": {size}", style="not bold")
    yield _facts(found.room, _bases(found))
    if not found.batches:
        yield Text(f"  {nothing_left(len(found.done))}")
        return
    yield _table(found, listing)
    if len(found.batches) > MOST_SHOWN:
        yield Text(f"  and {len(found.batches) - MOST_SHOWN:,} more batches: --json has all")
    if found.done:
        yield Text(f"  done already: {len(found.done):,}", style="dim")


def _piped_width(found: Workflow) -> int:
    """The width at which no title of a task is wrapped."""
    pieces = (piece for batch in found.batches[:MOST_SHOWN] for piece in batch.pieces)
    return max((terminal.cells(_title(piece)) for piece in pieces), default=0) + BESIDE_TITLES


def _title(piece: TaskPiece) -> str:
    return short(named(piece.task.shown), LONGEST_TITLE)


def _bases(found: Workflow) -> Counter[str]:
    """Count the bases of all estimates with a range; the others come from the plan. All parts of a
    task count as one."""
    pieces = [piece for batch in found.batches for piece in batch.pieces if _is_range(piece)]
    return Counter(basis for basis, _ in {(one.estimate.basis, one.task.spec) for one in pieces})


def _facts(room: PlanRoom, bases: Counter[str]) -> Table:
    facts = Table.grid(padding=(0, 2, 0, 0))
    facts.add_row("  room", f"{_room(room)} ({inert(room.basis)})", style="dim")
    facts.add_row("  order", "as listed; `after`: what the plan says a task waits for", style="dim")
    if bases:
        facts.add_row("  range", "8 of 10 tasks are expected to end within it", style="dim")
    for at, (basis, count) in enumerate(bases.most_common(MOST_BASES)):
        of = f" ({counted(count, 'task')})" if len(bases) > 1 else ""
        facts.add_row("" if at else "  based on", f"{inert(basis)}{of}", style="dim")
    if len(bases) > MOST_BASES:
        facts.add_row("", "and others: --json says what each rests on", style="dim")
    return facts


def _room(room: PlanRoom) -> str:
    if room.here:
        now = f"{room.now_tokens:,} tokens in {room.session}"
        return f"{now}, {room.fresh_tokens:,} in a fresh window"
    return f"{counted(room.fresh_tokens, 'token')} a batch"


def _table(found: Workflow, listing: _Listing) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "task", *RIGHT):
        right = name in RIGHT  # these columns are cut; in the others a long word is wrapped
        table.add_column(
            name, justify="right" if right else "left", overflow="ellipsis" if right else "fold"
        )
    for at, batch in enumerate(found.batches[:MOST_SHOWN]):
        wave = _wave(batch)
        if wave is not None and (not at or wave != _wave(found.batches[at - 1])):
            table.add_row("", Text(f"phase {wave}", style="bold cyan"))
        is_last = at == len(found.batches) - 1
        _batch(table, at, batch, found.room, is_last)
        for piece in batch.pieces:
            _task(table, piece, listing)
    return table


def _wave(batch: TaskBatch) -> int | None:
    first = batch.pieces[0]
    return (first.of or first.task).wave


def _batch(table: Table, at: int, batch: TaskBatch, room: PlanRoom, is_last: bool) -> None:
    window = "in a fresh window" if batch.fresh else f"in {room.session}"
    where = f" {window}" if room.here else ""
    share = batch.tokens / max(1, batch.room_tokens)
    shown = min(1.0, batch.shown_tokens / max(1, batch.room_tokens))
    used = f"{shown:.0%} of the room" if share <= 1 else "larger than the room"
    used = "of unknown size" if batch.is_unknown else used
    specs = len({piece.task.spec for piece in batch.pieces})
    if room.specs > 1 and specs >= room.specs and shown < EARLY and not is_last:
        used += f", {room.specs} tasks (limit: batch_specs)"
    side = ", could run side by side (--max-parallel)" if batch.parallel else ""
    colour = "yellow" if batch.high_tokens > batch.room_tokens else "green"
    table.add_row(
        Text(str(at + 1), style="bold"),
        Text(f"batch{where}, {used}{side}", style="bold"),
        *_sizes(batch, "bold red" if share > 1 else "bold", colour),
    )


def _sizes(batch: TaskBatch, style: str, colour: str) -> tuple[Text, Text]:
    if batch.is_unknown or len(batch.pieces) == 1:  # is shown in the line of its task
        return Text(""), Text("")
    tokens, wide = batch.in_words
    return Text(tokens, style=style), Text(wide, style=colour)


def _task(table: Table, piece: TaskPiece, listing: _Listing) -> None:
    number = listing.numbers.get(piece.task.spec, 0)
    tokens, wide = piece.estimate.in_words
    title = _title(piece)
    is_numbered = piece.of is not None or not number or OWN_LABEL.match(title)
    words = Text(title if is_numbered else f"{number}. {title}")
    for line in _beneath(piece, listing):
        words.append(f"\n{line}", style="dim")
    table.add_row("", words, tokens, Text(wide, style="dim"))


def _beneath(piece: TaskPiece, listing: _Listing) -> Iterator[str]:
    """Yield what it waits for, whose step it is, and what is in a part and why, so that the user
    can overrule it."""
    if before := listing.names_before(piece.task.spec):
        yield f"after {listed(before, MOST_BEFORE)}"
    if piece.of:
        yield step_of(piece.of.title)
    if piece.cut and (piece.task.part or not piece.of):
        yield _cut(piece)


def _cut(piece: TaskPiece) -> str:
    files = piece.task.files
    if len(files) == 1 and piece.task.part:
        return short(named(files[0]), 300)
    which = f"{listed(files, MOST_FILES)}: " if piece.task.part else ""
    return short(named(f"{which}{piece.cut}"), 300)


def _is_range(piece: TaskPiece) -> bool:
    return piece.estimate.low_tokens != piece.estimate.high_tokens
