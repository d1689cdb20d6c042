"""What a plan tells its reader beside the batches: dependencies that name no task, files that are
missing or large, sizes that are unknown, findings that would be lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import shorten

from holdfast.client import models
from holdfast.plan.estimates.features import CHARS_PER_TOKEN
from holdfast.plan.files import project_files
from holdfast.plan.files.patterns import MARKS
from holdfast.plan.findings import MAX_BRIEFS, find_lost
from holdfast.plan.formats.references import find_label
from holdfast.plan.kinds import is_a_search, runs_something
from holdfast.plan.room import PlanRoom
from holdfast.plan.sizes import ONLY_FILES
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.plan.workflow import TaskBatch, Workflow, fits_here
from holdfast.text.numbers import about, counted, listed, named

NAMED = 5  # of many tasks or folders
NAMED_FILES = 20  # missing files that are listed: one of them may be a mistake
NAMED_BATCHES = 10
NAME_CHARS = 80
MANY_PARTS = 5


def collect_notes(
    plan: TaskPlan, ordered: Sequence[PlanTask], workflow: Workflow, root: Path
) -> Iterable[str]:
    """Collect what a reader of the plan should know before it is run. `ordered`: the tasks that are
    left, in the order of the batches."""
    left = [task for task in plan.tasks if not task.done]
    batches, room = workflow.batches, workflow.room
    pieces = [piece for batch in batches for piece in batch.pieces]
    yield from plan.notes
    yield from _about_dependencies(plan.tasks)
    yield from _about_order(plan.tasks)
    yield from _about_moves(plan.tasks)
    yield from _about_this_session(batches, room)
    yield from _about_windows(batches, room)
    yield from _about_large_files(pieces, room, root)
    yield from _warnings(ordered, pieces, root, _tags(plan.tasks))
    yield from _about_results(left, batches, root)


def _tags(tasks: Sequence[PlanTask]) -> dict[str, str]:
    """A short name for each task: its label (`T2`), or its number in the list, as in the table."""
    found = {}
    for at, task in enumerate(tasks, 1):
        label = find_label(task.title)
        found[task.id] = label if label and label[0].isalpha() else f"task {label or at}"
    return found


def _about_dependencies(tasks: Sequence[PlanTask]) -> Iterable[str]:
    """Which tasks wait for something that no title names, and what to write instead."""
    tags = _tags(tasks)
    unread = {at: task for at, task in enumerate(tasks) if task.unread and not task.done}
    if unread:
        some = listed(
            [f"{tags[task.id]} ('{_cut(task.unread)}')" for task in unread.values()], NAMED
        )
        waits = "waits for all tasks above" if len(unread) == 1 else "wait for all tasks above"
        before = tasks[max(0, min(unread) - 1)]
        line = f"`- depends: {tags[before.id].removeprefix('task ')}`"
        write = f"to wait for fewer, name them by number, id or title: {line}"
        yield f"{some}: {waits}; {write}"
    yield from _about_bases(tasks)


def _about_bases(tasks: Sequence[PlanTask]) -> Iterable[str]:
    """Which tasks all later ones wait for: the table shows only what each task says itself."""
    tags = _tags(tasks)
    bases = [tags[task.id] for task in tasks[:-1] if task.is_base and not task.done]
    if bases:
        yield f"all later tasks wait for {listed(bases, NAMED)}"


def _about_order(tasks: Sequence[PlanTask]) -> Iterable[str]:
    """Which words would turn the list around. `The commit before step 1` is no order."""
    tags = _tags(tasks)
    against = [task for task in tasks if task.against and not task.done]
    if against:
        some = listed([f"{tags[one.id]} before {tags[one.against]}" for one in against], NAMED)
        yield f"not taken as an order, because it is listed the other way round: {some}"


def _about_moves(tasks: Sequence[PlanTask]) -> Iterable[str]:
    """Which tasks wait for one that is listed after them, so that they change their place."""
    place = {task.id: at for at, task in enumerate(tasks)}
    tags = _tags(tasks)
    moved = {
        tags[task.id]: tags[last]
        for at, task in enumerate(tasks)
        if task.depends and not task.done
        if place[last := max(task.depends, key=lambda name: place.get(name, -1))] > at
    }
    if moved:
        some = listed([f"{task} after {last}" for task, last in moved.items()], NAMED)
        yield f"tasks that wait for one listed after them come later: {some}"


def _cut(words: str) -> str:
    return shorten(named(words), NAME_CHARS, placeholder=" …")


def _about_this_session(batches: Sequence[TaskBatch], room: PlanRoom) -> Iterable[str]:
    """If the first batch does not fit into the current session: which part of it does."""
    if not (room.here and batches and batches[0].fresh):
        return
    pieces = batches[0].pieces
    count = next((n for n in range(len(pieces), 0, -1) if fits_here(pieces[:n], room)), 0)
    if count:
        names = listed([_name(piece.task) for piece in pieces[:count]], NAMED)
        yield f"{room.session} has room for the first of them: {names}"
    else:
        yield f"nothing of it fits into {room.session}, with {room.now_tokens:,} tokens left"


def _about_windows(batches: Sequence[TaskBatch], room: PlanRoom) -> Iterable[str]:
    """Which batches may fill a window: colours alone do not reach a file or a model."""
    full = {
        at + 1: batch
        for at, batch in enumerate(batches)
        if not batch.is_unknown and batch.tokens <= batch.room_tokens
        if batch.high_tokens > room.most_tokens
    }
    if full:
        one = len(full) == 1
        which = f"{'batch' if one else 'batches'} {listed([*map(str, full)], NAMED_BATCHES)}"
        why = f"the upper end of {'its' if one else 'their'} range is above"
        end = f"the {about(room.most_tokens)} tokens that a new session can add before it compacts"
        saved = "a checkpoint is saved before that"
        yield f"{which} may compact once: {why} {end}; {saved}; a smaller --room divides it further"


def _about_large_files(pieces: Sequence[TaskPiece], room: PlanRoom, root: Path) -> Iterable[str]:
    """Which files would fill a window alone: an estimate counts only a part of each."""
    files = (file for one in pieces for file in (*one.task.files, *one.estimate.named_files))
    sizes = project_files.measure_files(root, files)
    tokens = {file: size // CHARS_PER_TOKEN for file, size in sizes.items()}
    large = [
        f"{file} (about {about(size)} tokens)"
        for file, size in tokens.items()
        if size > room.most_tokens
    ]
    if large:
        why = "too large to be read whole in one session, so estimates count only a part"
        yield f"{why}: {listed(large, NAMED)}"


def _warnings(
    tasks: Sequence[PlanTask], pieces: Sequence[TaskPiece], root: Path, tags: dict[str, str]
) -> Iterable[str]:
    named = (file for piece in pieces for file in piece.estimate.named_files)
    yield from _about_files(tasks, named, root)
    yield from _about_folders(tasks)
    yield from _about_named_files(pieces, tags)
    yield from _about_unknown_sizes(pieces, tags)
    yield from _about_parts(pieces)
    for piece in pieces:
        if piece.warning:
            beyond = piece.estimate.tokens > models.LARGE
            largest = f"; no window holds more than {models.LARGE:,}" if beyond else ""
            yield f"{_name(piece.task)}: {piece.warning}{largest}"


def _about_results(
    tasks: Sequence[PlanTask], batches: Sequence[TaskBatch], root: Path
) -> Iterable[str]:
    """Which tasks find something out that not all later sessions are told of."""
    lost = find_lost(tasks, batches, root)
    if lost:
        most = f"a session starts with the briefs of {MAX_BRIEFS} earlier ones at most"
        names = listed([_name(task) for task in lost], NAMED_FILES)
        line = f'"- files: notes/{lost[0].id[:20]}.md"'
        write = f"write a file for the result beneath each, for example {line}"
        yield f"{most}, so some get nothing of what these tasks find; {write}: {names}"


def _about_folders(tasks: Sequence[PlanTask]) -> Iterable[str]:
    held = {name: count for task in tasks for name, count in task.held.items()}
    counts = {name: f"{name} ({counted(count, 'file')})" for name, count in held.items()}
    folders = [name for name in held if not MARKS.intersection(name)]
    patterns = [name for name in held if MARKS.intersection(name)]
    if folders:
        some = listed([counts[name] for name in folders], NAMED)
        means = f"write {folders[0]}/** where a task works on every file"
        yield f"a folder is counted as a place to look into: {some}; {means}"
    if patterns:
        some = listed([counts[name] for name in patterns], NAMED)
        why = "a rename, removal or search works on the files that contain what it looks for"
        yield f"{why}, so not all of these are counted: {some}"


def _about_unknown_sizes(pieces: Sequence[TaskPiece], tags: dict[str, str]) -> Iterable[str]:
    """Which tasks get a session of their own because of that, and how to have them estimated."""
    unknown = [piece.task for piece in pieces if piece.estimate.is_unknown]
    if unknown:
        some = listed([tags[task.spec] for task in unknown], NAMED_BATCHES)
        would_tell = not all(is_a_search(one.title) or runs_something(one.title) for one in unknown)
        write = "; a task that changes files is estimated if it lists them: `- files: src/a.py`"
        yield f"unknown size, so each gets its own session: {some}{write if would_tell else ''}"


def _about_named_files(pieces: Sequence[TaskPiece], tags: dict[str, str]) -> Iterable[str]:
    """Which files told the size of a task that lists none."""
    found = {tags[one.task.spec]: one.estimate.named_files for one in pieces}
    some = [f"{name} ({listed(files, NAMED)})" for name, files in found.items() if files]
    if some:
        yield f"estimated by the files they name: {listed(some, NAMED)}"


def _about_parts(pieces: Sequence[TaskPiece]) -> Iterable[str]:
    """A note on tasks with many parts, which a short pattern rarely means."""
    parts = [piece.task for piece in pieces if piece.task.part and not piece.of]
    many = Counter(task.spec for task in parts)
    for task in {task.spec: task for task in parts}.values():
        if many[task.spec] >= MANY_PARTS:
            means = "name a folder instead of a pattern if it works on a few of its files"
            yield f"{_name(replace(task, part=''))}: cut into {many[task.spec]:,} parts; {means}"


def _name(task: PlanTask) -> str:
    """The name for a message: as the plan's author wrote it, and as the table shows it."""
    name = f'"{_cut(task.title)}"'
    return f"{name} (part {task.part})" if task.part else name


def is_surely_file(name: str) -> bool:
    """Whether a name in the words of a task cannot be anything else, such as a module."""
    return "/" in name or name.endswith(ONLY_FILES)


def _about_files(tasks: Sequence[PlanTask], named: Iterable[str], root: Path) -> Iterable[str]:
    """Which files are not there. `named`: those in the words of tasks that list none."""
    files = [file for task in tasks for file in task.files if file not in task.held]
    files += filter(is_surely_file, named)
    odd = project_files.find_existing(root, files)
    for words in (project_files.OUTSIDE, project_files.MISSING):
        some = [file for file, why in odd.items() if why == words]
        if some:
            yield f"{words}: {listed(some, NAMED_FILES)}"
