"""`holdfast plan`: a list of tasks as batches that fit the room left."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from holdfast.cli import sessions, terminal
from holdfast.cli.options import AS_JSON, FILE, PROJECT
from holdfast.cli.sessions import NoSession
from holdfast.cli.terminal import print_json, say, working
from holdfast.client import compaction_limit
from holdfast.client.claude_folder import transcripts_folder
from holdfast.client.limit_settings import parse_tokens
from holdfast.hub import row_times
from holdfast.plan import estimate
from holdfast.plan import room as plan_room
from holdfast.plan.estimate import GIVEN
from holdfast.plan.load import MOST_BYTES, decode_plan
from holdfast.plan.planner import SHARE, make_workflow
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import LONGEST_TITLE, slug
from holdfast.plan.workflow import TaskBatch, TaskPiece, Workflow, draw_mermaid
from holdfast.plan.workflow import as_json as plain
from holdfast.redact.find import redact_each
from holdfast.run import journal
from holdfast.run.claude_process import PERMISSIONS
from holdfast.run.journal import ContinuedPlan
from holdfast.settings import load as settings_load
from holdfast.settings.load import Settings
from holdfast.text.numbers import about, counted, listed, named, nothing_left, short, span, step_of
from holdfast.wire.log import inert

MOST_NOTES = 30


class TokenCount(click.ParamType[int]):
    """A number of tokens: `12000`, `12,000`, `12k`, `1m`."""

    name = "tokens"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        tokens = parse_tokens(str(value)) or 0
        if tokens < plan_room.LEAST_ROOM:
            least = f"at least {plan_room.LEAST_ROOM:,} tokens, such as 90000, 90k or 1m"
            self.fail(f"{value!r} is no room: {least}", param, ctx)
        return tokens


ROOM = click.option("--room", "room_tokens", type=TokenCount(), help="Tokens a batch may take.")


@click.command()
@click.argument("file", type=FILE)
@AS_JSON
@ROOM
@PROJECT
def plan(file: Path, as_json: bool, room_tokens: int | None, project: Path) -> None:
    """Divide a list of tasks into batches that fit the window.

    FILE is a list in Markdown, JSON or YAML; `-` reads it from stdin. Nothing is started;
    `holdfast run` does that.
    """
    root = project.resolve()
    if stdin := str(file) == "-":
        begun = ContinuedPlan(decode_plan(sys.stdin.buffer.read(MOST_BYTES + 1), root))
    else:
        begun = journal.load_remaining(file, root)
    settings = settings_load.load(str(root))
    room = room_for_plan(settings, root, room_tokens, row_times.now_ms())
    with working("estimating") as progress:
        known = estimate.learn(root, transcripts_folder(), progress=progress)
        workflow = make_workflow(begun.plan, room, known, root, progress)
    if begun.note:
        workflow = replace(workflow, warnings=(*workflow.warnings, begun.note))
    if as_json:
        return print_json({**redact_each(plain(workflow)), "mermaid": draw_mermaid(workflow)})
    terminal.draw(*_parts(workflow))
    show_notes(workflow.warnings)
    if begun.ran:
        say(f"  {counted(begun.ran, 'task')} done by a run: its --status says more", err=True)
    if not stdin:
        _say_next(file, project, room_tokens, bool(workflow.batches))


def _say_next(file: Path, project: Path, room_tokens: int | None, left: bool) -> None:
    """Say how to run what is left: first without starting anything, then with what it needs."""
    where = [] if project == Path() else ["--project", os.fspath(project)]
    size = ["--room", str(room_tokens)] if room_tokens else []
    run = inert(shlex.join(["holdfast", "run", os.fspath(file), *where, *size]))
    if left:
        say(f"  next: {run} --dry-run\n        shows what each session is told", err=True)
        say(f"  then: {run} -- {PERMISSIONS}\n        starts Claude, which may edit", err=True)


def room_for_plan(settings: Settings, root: Path, room_tokens: int | None, now_ms: int) -> PlanRoom:
    """Return the room given on the command line, else that of the session at work, else a fresh
    window's."""
    if room_tokens is not None:
        window_tokens = room_for_plan(settings, root, None, now_ms).window_tokens
        return plan_room.stated_room(room_tokens, settings.whole("batch_specs"), window_tokens)
    try:
        chosen = sessions.at_work(None if root == Path.cwd() else root)
    except NoSession:
        return plan_room.unknown_room(settings)
    own = plan_room.room_of_window(chosen.state, chosen.folder, settings, now_ms)
    if sessions.calling_session():
        return own
    return replace(own, session=f"session {inert(chosen.state.session_id[:8])}")


def room_for_run(
    settings: Settings, root: Path, model: str, room_tokens: int | None, now_ms: int
) -> PlanRoom:
    """Return the room of a run: as for a plan, but every session begins in a fresh window. Its size
    is the model's if one is named."""
    if not model:
        return plan_room.use_fresh_windows(room_for_plan(settings, root, room_tokens, now_ms))
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    tokens = compaction_limit.find_model(model).window_tokens
    if room_tokens is not None:
        return plan_room.stated_room(room_tokens, specs, tokens)
    basis = f"{model}: {plan_room.share_of(tokens, share)}"
    return plan_room.fresh_room(tokens, share, specs, basis)


def show_notes(notes: Iterable[str]) -> None:
    words = list(filter(None, notes))
    for note in words[:MOST_NOTES]:
        say(f"  note: {named(note)}", err=True)
    if len(words) > MOST_NOTES:
        say(f"  and {len(words) - MOST_NOTES:,} more: --json has all", err=True)


MOST_SHOWN = 200  # batches; the rest is a number
MOST_FILES = 3  # of a part; the rest is a number
MOST_BEFORE = 8  # tasks that a task waits for
EARLY = 0.8  # of the room: a batch that fills less of it says why
GIVEN_SIZES = {GIVEN: "as given", SHARE: "a share"}  # instead of a range


def _parts(workflow: Workflow) -> Iterator[Text | Table]:
    title = Text(named(workflow.title) or "plan", style="bold")
    size = f"{counted(len(workflow.batches), 'batch')}, {workflow.size}"
    yield title + Text(f": {size}", style="not bold")
    facts = Table.grid(padding=(0, 2, 0, 0))
    room = workflow.room
    size = f"{counted(room.fresh_tokens, 'token')} a batch"
    if room.here:
        size = (
            f"{room.now_tokens:,} tokens in {room.session}, {room.fresh_tokens:,} in a fresh window"
        )
    facts.add_row("  room", f"{size} ({inert(room.basis)})", style="dim")
    facts.add_row("  order", "as written; only `depends` and phases change it", style="dim")
    facts.add_row("  range", "8 of 10 tasks are expected to end within it", style="dim")
    yield facts
    if not workflow.batches:
        yield Text(f"  {nothing_left(len(workflow.done))}")
        return
    yield _table(workflow)
    if len(workflow.batches) > MOST_SHOWN:
        yield Text(f"  and {len(workflow.batches) - MOST_SHOWN:,} more batches: --json has all")
    if workflow.done:
        yield Text(f"  done already: {len(workflow.done):,}", style="dim")


def _table(workflow: Workflow) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "task"):
        table.add_column(name, overflow="fold")
    for name in ("tokens", "range"):
        table.add_column(name, justify="right", overflow="ellipsis")
    shown = workflow.batches[:MOST_SHOWN]
    phase = None
    for at, batch in enumerate(shown):
        if (now := batch.pieces[0].task.phase) != phase:
            table.add_row("", Text(f"phase {now}", style="bold cyan"))
            phase = now
        is_last = at == len(workflow.batches) - 1
        _add_batch(table, at, batch, workflow.room, is_last)
        for piece in batch.pieces:
            size, (title, *lines) = piece.estimate, _lines(piece)
            words = Text(title)
            for line in lines:
                words.append(f"\n{line}", style="dim")
            wide = GIVEN_SIZES.get(size.inputs) or span(size.low_tokens, size.high_tokens)
            wide = "unknown" if size.is_unknown else wide
            table.add_row("", words, f"{size.tokens:,}", Text(wide, style="dim"))
    return table


def _add_batch(table: Table, at: int, batch: TaskBatch, room: PlanRoom, is_last: bool) -> None:
    window = "in a fresh window" if batch.fresh else f"in {room.session}"
    where = f" {window}" if room.here else ""
    share = batch.tokens / max(1, batch.room_tokens)
    used = f"{share:.0%} of the room" if share <= 1 else "larger than the room"
    specs = len({piece.task.spec for piece in batch.pieces})
    if room.specs > 1 and specs >= room.specs and share < EARLY and not is_last:
        used += f", {room.specs} tasks (limit: batch_specs)"
    style = "bold red" if share > 1 else "bold"
    colour = "yellow" if batch.high_tokens > batch.room_tokens else "green"
    many = len(batch.pieces) > 1  # else its numbers are in the line of its task
    table.add_row(
        Text(str(at + 1), style="bold"),
        Text(f"batch{where}, {used}", style="bold"),
        Text(about(batch.tokens) if many else "", style=style),
        Text(span(batch.low_tokens, batch.high_tokens) if many else "", style=colour),
    )


def _lines(piece: TaskPiece) -> Iterator[str]:
    """Yield the title, the estimate's inputs, what it waits for, and what is in a part and why, so
    that the user can overrule it."""
    task = piece.task
    title = short(named(task.shown), LONGEST_TITLE)
    # an id that was made from the title says nothing new
    is_made = task.id != task.spec or task.id.startswith(slug(task.title))
    yield title if is_made else f"{inert(task.spec)} {title}"
    if piece.estimate.inputs not in GIVEN_SIZES:
        yield f"= {piece.estimate.inputs}"
    wholes = dict.fromkeys(inert(name.partition("/")[0]) for name in task.depends)
    if before := [name for name in wholes if name != task.spec]:
        yield f"after {listed(before, MOST_BEFORE)}"
    if piece.of:
        yield step_of(piece.of.title)
    if piece.cut and (task.part or not piece.of):
        which = f"{listed(task.paths, MOST_FILES)}: " if task.part else ""
        yield short(named(f"{which}{piece.cut}"), 300)
