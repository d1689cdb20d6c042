"""A task that does not fit, cut into pieces that do, where it can be cut.

In this order: the groups the plan draws, its own subtasks, groups of files that belong together. A
task the plan keeps together, or that has neither, stays whole, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from holdfast.plan.estimates.estimate import SHARE, TaskEstimate, estimate_of_share, fill_room
from holdfast.plan.estimates.features import RENAME, extract_features
from holdfast.plan.files.groups import FileGroups
from holdfast.plan.task import PlanTask, digest
from holdfast.text.numbers import about, step_of

Estimator = Callable[[PlanTask], TaskEstimate]
Grouper = Callable[[tuple[str, ...], int], FileGroups]


@dataclass(frozen=True, slots=True)
class TaskPiece:
    """A task, or a part of one, with what it will take. `cut` says why it is a part, `of` which
    task it is a step of."""

    task: PlanTask
    estimate: TaskEstimate
    cut: str = ""
    warning: str = ""
    of: PlanTask | None = None


def split_task(
    task: PlanTask, room_tokens: int, estimate: Estimator, groups: Grouper
) -> list[TaskPiece]:
    """Pieces of at most `room_tokens` each, as far as there is a way to cut."""
    whole = estimate(task)
    if whole.is_unknown:  # all of a window is taken for it, so that nothing else is put there
        return [TaskPiece(task, fill_room(room_tokens, whole))]
    if whole.tokens <= room_tokens:
        return [TaskPiece(task, whole)]
    if task.keep_together:
        return [_too_large(task, whole, room_tokens, "the plan keeps it together")]
    if extract_features(task.words).kind == RENAME and not task.groups:
        return [_too_large(task, whole, room_tokens, "half a rename leaves nothing that works")]
    if task.groups:
        given = estimate if task.estimate_tokens is None else _shared(task)
        return _pieces(task, room_tokens, given, _drawn(task))
    if not all(step.done for step in task.subtasks):
        return list(_steps(task, room_tokens, estimate, groups))
    if len(task.files) > 1 and task.estimate_tokens is None:
        most = _most_files(task, room_tokens, estimate)
        return _pieces(task, room_tokens, estimate, groups(task.files, most))
    if len(task.files) > 1:
        return _by_share(task, room_tokens, groups)
    return [
        _too_large(task, whole, room_tokens, "it names neither subtasks nor files to cut it by")
    ]


def _steps(
    task: PlanTask, room_tokens: int, estimate: Estimator, groups: Grouper
) -> Iterator[TaskPiece]:
    """In the order they are written in: each waits for all there is of the open one before."""
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
    """Of what the plan gives for all of it, less what it gives for some steps; those that are done
    had theirs. None where nothing is given, or nothing is left of it."""
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


def _drawn(task: PlanTask) -> FileGroups:
    """The user's own groups; files in none of them make one more."""
    placed: dict[str, None] = {}
    groups: list[tuple[str, ...]] = []
    for given in task.groups:
        fresh = tuple(file for file in given if file not in placed)
        placed.update(dict.fromkeys(fresh))
        groups.append(fresh)
    groups.append(tuple(file for file in task.files if file not in placed))
    return FileGroups(tuple(one for one in groups if one), "the plan's own groups")


def _most_files(task: PlanTask, room_tokens: int, estimate: Estimator) -> int:
    """How many of its files a piece may have; one, where even that is too much."""
    low, high = 1, len(task.files)
    while low < high:
        middle = (low + high + 1) // 2
        fits = estimate(replace(task, files=task.files[:middle])).tokens <= room_tokens
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def _by_share(task: PlanTask, room_tokens: int, groups: Grouper) -> list[TaskPiece]:
    most = max(1, len(task.files) * room_tokens // (task.estimate_tokens or 1))
    return _pieces(task, room_tokens, _shared(task), groups(task.files, most))


def _shared(task: PlanTask) -> Estimator:
    """The plan says what it takes in all: each file has its share of that."""
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
    """Named by its files, so that it keeps its name while other tasks change; its steps are those
    of the task, for these files."""
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
