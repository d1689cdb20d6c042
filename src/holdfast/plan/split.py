"""Cut a task that does not fit into pieces that do, if it can be cut.

It is cut along the groups that the plan names, else along its own subtasks, else into groups of
files that belong together. A task that has none of these, or that the plan keeps together, stays
whole, with a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from holdfast.plan.estimates.estimate import SHARE, TaskEstimate, estimate_of_share, fill_room
from holdfast.plan.files.groups import FileGroups
from holdfast.plan.kinds import RENAME, find_kind
from holdfast.plan.task import PlanTask, digest
from holdfast.text.numbers import about, step_of

Estimator = Callable[[PlanTask], TaskEstimate]
Grouper = Callable[[tuple[str, ...], int], FileGroups]


@dataclass(frozen=True, slots=True)
class TaskPiece:
    """A task, or a part of one, with its estimate. `cut` says why it is a part, `of` names the task
    it is a step of."""

    task: PlanTask
    estimate: TaskEstimate
    cut: str = ""
    warning: str = ""
    of: PlanTask | None = None


def split_task(
    task: PlanTask, room_tokens: int, estimate: Estimator, groups: Grouper
) -> list[TaskPiece]:
    """Pieces of at most `room_tokens` each, if there is a way to cut the task."""
    whole = estimate(task)
    if whole.is_unknown:  # it gets a whole window, so that nothing else is put there
        return [TaskPiece(task, fill_room(room_tokens, whole))]
    if whole.tokens <= room_tokens:
        return [TaskPiece(task, whole)]
    if task.keep_together:
        return [_too_large(task, whole, room_tokens, "the plan keeps it together")]
    if find_kind(task.words) == RENAME and not task.groups:
        return [_too_large(task, whole, room_tokens, "half a rename leaves nothing that works")]
    if task.groups:
        given = estimate if task.estimate_tokens is None else _share_equally(task)
        return _pieces(task, room_tokens, given, _planned_groups(task))
    if not all(step.done for step in task.subtasks):
        return list(_steps(task, room_tokens, estimate, groups))
    if len(task.files) > 1 and task.estimate_tokens is None:
        return _pieces(
            task, room_tokens, estimate, _fitting_groups(task, room_tokens, estimate, groups)
        )
    if len(task.files) > 1:
        return _by_share(task, room_tokens, groups)
    return [_too_large(task, whole, room_tokens, _why_whole(task, whole))]


def _why_whole(task: PlanTask, whole: TaskEstimate) -> str:
    """Why a task without open subtasks is not cut. Files in its words are not cut by: they may be
    an example, or what it must not touch."""
    files = task.files or whole.named_files
    if not files:
        return "it names neither subtasks nor files to cut it by"
    if len(files) == 1:
        return "it names only one file and no subtasks"
    return "it is cut only by subtasks or listed files: `- files: a.py, b.py`"


def _steps(
    task: PlanTask, room_tokens: int, estimate: Estimator, groups: Grouper
) -> Iterator[TaskPiece]:
    """The steps as pieces, in their order: each waits for all pieces of the open step before."""
    before: tuple[str, ...] = ()
    cut, share = step_of(task.title), _share_of_a_step(task)
    for step in task.subtasks:
        if not step.done:
            found = _sized(step, share, room_tokens, estimate, groups)
            for piece in found:
                waiting = replace(piece.task, depends=before)
                yield replace(piece, task=waiting, cut=piece.cut or cut, of=task)
            before = tuple(piece.task.id for piece in found)


def _share_of_a_step(task: PlanTask) -> int | None:
    """The share of a step without an estimate: the task's estimate, less that of the other steps,
    divided by the steps without one. None if there is no estimate, or nothing is left of it."""
    given = [step.estimate_tokens for step in task.subtasks if step.estimate_tokens is not None]
    rest, takers = (task.estimate_tokens or 0) - sum(given), len(task.subtasks) - len(given)
    return -(-rest // takers) if rest > 0 and takers else None


def _sized(
    step: PlanTask, share: int | None, room_tokens: int, estimate: Estimator, groups: Grouper
) -> list[TaskPiece]:
    if share is None or step.estimate_tokens is not None:
        return split_task(step, room_tokens, estimate, groups)
    found = split_task(replace(step, estimate_tokens=share), room_tokens, estimate, groups)
    return [replace(piece, estimate=replace(piece.estimate, basis=SHARE)) for piece in found]


def _planned_groups(task: PlanTask) -> FileGroups:
    """The groups in the plan; files that are in none of them form another one."""
    placed: dict[str, None] = {}
    groups: list[tuple[str, ...]] = []
    for given in task.groups:
        fresh = tuple(file for file in given if file not in placed)
        placed.update(dict.fromkeys(fresh))
        groups.append(fresh)
    groups.append(tuple(file for file in task.files if file not in placed))
    return FileGroups(tuple(one for one in groups if one), "the plan's own groups")


def _fitting_groups(
    task: PlanTask, room_tokens: int, estimate: Estimator, groups: Grouper
) -> FileGroups:
    """Groups that fit. Files differ in size, so that fewer of them may fit than in the middle."""
    most = _most_files(task, room_tokens, estimate)
    while True:
        found = groups(task.files, most)
        sizes = (estimate(replace(task, files=files)).tokens for files in found.groups)
        if most == 1 or max(sizes) <= room_tokens:
            return found
        most = max(1, most * 3 // 4)


def _most_files(task: PlanTask, room_tokens: int, estimate: Estimator) -> int:
    """How many files a piece may have; one if even that is too much."""
    low, high = 1, len(task.files)
    while low < high:
        middle = (low + high + 1) // 2
        fits = estimate(replace(task, files=task.files[:middle])).tokens <= room_tokens
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _by_share(task: PlanTask, room_tokens: int, groups: Grouper) -> list[TaskPiece]:
    most = max(1, len(task.files) * room_tokens // (task.estimate_tokens or 1))
    return _pieces(task, room_tokens, _share_equally(task), groups(task.files, most))


def _share_equally(task: PlanTask) -> Estimator:
    """Divides the plan's estimate for the task equally among its files."""
    total = task.estimate_tokens or 0

    def share(part: PlanTask) -> TaskEstimate:
        tokens = -(-total * len(part.files) // len(task.files))
        return estimate_of_share(tokens)

    return share


def _pieces(
    task: PlanTask, room_tokens: int, estimate: Estimator, grouped: FileGroups
) -> list[TaskPiece]:
    parts = [_part(task, files, at, len(grouped.groups)) for at, files in enumerate(grouped.groups)]
    found = []
    for part in parts:
        size = estimate(part)
        piece = TaskPiece(part, size, f"grouped by {grouped.why}")
        if size.tokens > room_tokens:
            piece = replace(piece, warning=_words(size, room_tokens, "it cannot be cut further"))
        found.append(piece)
    return found


def _part(task: PlanTask, files: tuple[str, ...], at: int, count: int) -> PlanTask:
    """A part with these files and the task's steps. Its id is made from its files, so that it does
    not change when other tasks do."""
    return replace(
        task,
        id=f"{task.id}/{digest(list(files))[:10]}",
        part=f"{at + 1} of {count}" if count > 1 else "",
        files=files,
        groups=(),
        written=None,
    )


def _too_large(task: PlanTask, size: TaskEstimate, room_tokens: int, why: str) -> TaskPiece:
    return TaskPiece(task, size, warning=_words(size, room_tokens, why))


def _words(size: TaskEstimate, room_tokens: int, why: str) -> str:
    return f"about {about(size.tokens)} tokens do not fit into {room_tokens:,}, and {why}"
