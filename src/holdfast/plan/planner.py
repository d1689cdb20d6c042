"""From a plan to its workflow: estimate every task, cut what does not fit, batch the pieces."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from heapq import heappop, heappush
from itertools import accumulate, groupby, pairwise
from pathlib import Path

from holdfast.plan.batch_order import Load
from holdfast.plan.commits import asks_for_a_commit, mentions_a_commit
from holdfast.plan.estimates.estimate import Past
from holdfast.plan.files.groups import group_files
from holdfast.plan.kinds import COMMIT, TESTS, find_kind, is_a_gate, is_a_search
from holdfast.plan.named_paths import find_paths
from holdfast.plan.notes import collect_notes
from holdfast.plan.packing import pack_as_listed, relieve
from holdfast.plan.room import PlanRoom
from holdfast.plan.sizes import TaskSizes, writes_documents
from holdfast.plan.split import TaskPiece, split_task
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.plan.workflow import TaskBatch, Workflow, fits_here, is_parallel
from holdfast.text.numbers import Progress, silent

READ_CHARS = 400  # of a task that may add a check
_CLAUSE_END = re.compile(r"[.:;,]\s+|\s[-\u2013\u2014]+\s|\n|\s(?:and|then)\s")


def make_workflow(
    plan: TaskPlan, room: PlanRoom, past: Past, root: Path, progress: Progress = silent
) -> Workflow:
    """The workflow of all tasks that are not done."""
    left = [task for task in plan.tasks if not task.done]
    sizes = TaskSizes(past, root)
    open_ = _in_order(left)
    groups = cache(partial(group_files, root))  # many tasks of a plan name the same files
    parts: dict[str, list[TaskPiece]] = {}
    for at, task in enumerate(open_):
        progress("estimating tasks", at, len(open_))
        parts[task.id] = split_task(task, room.fresh_tokens, sizes.estimate, groups)
    pieces = list(_waiting(open_, parts))
    progress("filling batches", 0, len(pieces))
    shares = bool(mentions_a_commit(plan.description) or find_paths(plan.description))
    batches = list(_numbered(list(_batches(pieces, room, is_shared=shares))))
    workflow = Workflow(
        title=plan.title,
        room=room,
        batches=tuple(batches),
        done=tuple(task.id for task in plan.tasks if task.done),
        warnings=(),
        past_requests=len(past.seen),
    )
    return replace(workflow, warnings=tuple(collect_notes(plan, open_, workflow, root)))


def _in_order(tasks: list[PlanTask]) -> list[PlanTask]:
    """Order the tasks: as listed, but each after those it waits for. A commit or a test run is
    about everything listed before it, so it comes after that and before what follows.

    So does a task that ends with a commit, a check that is enforced from then on, and a task that
    waits for something that no title names. A task that names its dependencies waits only for
    those. A task that says it comes before all others comes before all that are listed after it.
    """
    tasks = _sort(tasks)
    place = {task.id: at for at, task in enumerate(tasks)}
    found: list[PlanTask] = []
    last = ""  # such a task
    waves = _before_waves(tasks)
    for at, task in enumerate(tasks):
        depends: tuple[str, ...] = (last,) if last else ()
        depends += waves.get(task.wave, ())
        if waits_for_all(task):
            depends += tuple(one.id for one in tasks[place.get(last, 0) : at])
            last = task.id
        elif task.is_base:
            last = task.id
        added = set(depends).difference(task.depends)
        waits = (*task.depends, *(name for name in dict.fromkeys(depends) if name in added))
        found.append(replace(task, depends=waits) if added else task)
    return found


def _sort(tasks: list[PlanTask]) -> list[PlanTask]:
    """The tasks in the order of the list; one that waits for a later task comes right after it."""
    place = {task.id: at for at, task in enumerate(tasks)}
    if _is_in_order(tasks):
        return tasks
    waits = [len({name for name in task.depends if name in place}) for task in tasks]
    freed: dict[int, list[int]] = {}
    for at, task in enumerate(tasks):
        for name in {name for name in task.depends if name in place}:
            freed.setdefault(place[name], []).append(at)
    ready = [at for at, count in enumerate(waits) if not count]  # sorted, so it is a heap
    found: list[PlanTask] = []
    while ready:
        at = heappop(ready)
        found.append(tasks[at])
        for later in freed.get(at, ()):
            waits[later] -= 1
            if not waits[later]:
                heappush(ready, later)
    return found


def _before_waves(tasks: Sequence[PlanTask]) -> dict[int | None, tuple[str, ...]]:
    """For each wave, the tasks of the wave before it; none if the waves are not in order."""
    waves = [task.wave for task in tasks if task.wave is not None]
    if waves != sorted(waves):
        return {}
    numbers = list(dict.fromkeys(waves))
    return {
        number: tuple(task.id for task in tasks if task.wave == before)
        for before, number in pairwise(numbers)
    }


def waits_for_all(task: PlanTask) -> bool:
    """Whether a task waits for all that are listed before it, though it names none of them."""
    return bool(task.unread) or (not task.depends and _is_about_all(task))


def _is_about_all(task: PlanTask) -> bool:
    found = find_kind(task.words) == TESTS or asks_for_a_commit(task.words)
    return found or _is_gate(task)


def _is_gate(task: PlanTask) -> bool:
    """Whether it adds a check, at the start of its title or of a later clause: `Gate: set …`."""
    return any(map(is_a_gate, _CLAUSE_END.split(task.words[:READ_CHARS])))


def _is_in_order(tasks: Sequence[PlanTask]) -> bool:
    place = {task.id: at for at, task in enumerate(tasks)}
    return all(place.get(name, -1) < place[task.id] for task in tasks for name in task.depends)


def _waiting(tasks: Sequence[PlanTask], parts: dict[str, list[TaskPiece]]) -> Iterable[TaskPiece]:
    """Every part waits for all parts of the tasks that its task depends on, except done ones."""
    ends = {name: tuple(piece.task.id for piece in found) for name, found in parts.items()}
    for task in tasks:
        before = [end for name in task.depends for end in ends.get(name, ())]
        own = {piece.task.id for piece in parts[task.id]}
        for piece in parts[task.id]:
            steps = [name for name in piece.task.depends if name in own]
            waits = tuple(dict.fromkeys([*before, *steps]))
            same = waits == piece.task.depends
            yield piece if same else replace(piece, task=replace(piece.task, depends=waits))


def _batches(pieces: list[TaskPiece], room: PlanRoom, *, is_shared: bool) -> Iterable[TaskBatch]:
    """Pack the pieces. `is_shared`: the text of the plan speaks of commits or names files, which
    all sessions may change, so none of them run side by side."""
    packed: list[tuple[TaskPiece, ...]] = []
    for stage in _stages(pieces):
        batches = _pack(stage, room, bool(packed))
        packed += (tuple(stage[position] for position in batch) for batch in batches)
    for index, chosen in enumerate(_join_commits(packed, room)):
        here = index == 0 and fits_here(chosen, room)
        tokens = room.now_tokens if here else room.fresh_tokens
        yield TaskBatch(chosen, tokens, not here, not is_shared and is_parallel(chosen))


def _stages(pieces: list[TaskPiece]) -> Iterable[list[TaskPiece]]:
    """Divide a plan at the borders of its waves, so that no batch holds the end of one and the
    start of the next, and after each gate: what follows one has to pass it. Waves that are not in
    order divide nothing."""
    waves = [wave for piece in pieces if (wave := _wave(piece)) is not None]
    if waves != sorted(waves) or not _is_in_order([piece.task for piece in pieces]):
        return [pieces]
    gates = list(accumulate((_is_gate(piece.task) for piece in pieces), initial=0))
    numbered = zip(gates, pieces, strict=False)  # how many gates come before each
    stages = groupby(numbered, key=lambda one: (one[0], _wave(one[1])))
    return [[piece for _, piece in stage] for _, stage in stages]


def _wave(piece: TaskPiece) -> int | None:
    return (piece.of or piece.task).wave


def _pack(pieces: Sequence[TaskPiece], room: PlanRoom, is_later: bool) -> list[list[int]]:
    """The positions of the pieces of each batch. `is_later`: other batches come before them."""
    place = {piece.task.id: at for at, piece in enumerate(pieces)}
    before = _listed_before(pieces) if _is_in_order([piece.task for piece in pieces]) else {}
    loads = [
        Load(
            piece.estimate.tokens,
            tuple({*_places_of(piece.task.depends, place), *before.get(at, ())}),
            piece.task.spec,
            _goes_on(piece, pieces[at - 1]) if at else False,
        )
        for at, piece in enumerate(pieces)
    ]

    def excess(batch: Sequence[int]) -> int:
        chosen = tuple(pieces[position] for position in batch)
        return max(0, _upper(chosen, room) - room.most_tokens)

    packed = pack_as_listed(loads, room.fresh_tokens, room.specs)
    # The first batch of a plan may just fit into the current session.
    first = 1 if room.here and not is_later else 0
    return relieve(packed, loads, room.fresh_tokens, room.specs, excess, first)


def _goes_on(piece: TaskPiece, before: TaskPiece) -> bool:
    """Whether a task does the same as the one right before it. Parts have an order of their own."""
    is_whole = not (piece.task.part or before.task.part or piece.of or before.of)
    return is_whole and piece.task.joins == before.task.id


def _places_of(names: Iterable[str], place: dict[str, int]) -> Iterable[int]:
    return (place[name] for name in names if name in place)


def _upper(pieces: tuple[TaskPiece, ...], room: PlanRoom) -> int:
    return TaskBatch(pieces, room.fresh_tokens, fresh=True, parallel=False).high_tokens


def _join_commits(
    packed: Sequence[tuple[TaskPiece, ...]], room: PlanRoom
) -> list[tuple[TaskPiece, ...]]:
    """A commit that would be alone joins the batch before it if it fits, or if nobody knows: it
    takes little, and it is about that work. It may be one task more than a batch otherwise has."""
    found: list[tuple[TaskPiece, ...]] = []
    for chosen in packed:
        if found and len(chosen) == 1 and _is_commit(chosen[0]):
            joined = (*found[-1], *chosen)
            known = [piece.estimate for piece in joined if not piece.estimate.is_unknown]
            if sum(one.tokens for one in known) <= room.fresh_tokens:
                found[-1] = joined
                continue
        found.append(chosen)
    return found


def _is_commit(piece: TaskPiece) -> bool:
    return find_kind(piece.task.words) == COMMIT


def _listed_before(pieces: Sequence[TaskPiece]) -> dict[int, set[int]]:
    """Return which tasks stay before a task because of the order of the list.

    A task of unknown size keeps its place: it fills its batch anyway, so that moving others past it
    would save little and break the order. A task that finds something out is not moved behind work
    listed after it, which may depend on what it finds. One that changes only documents is not moved
    before work listed before it, which it may describe.
    """
    found: dict[int, set[int]] = {}
    unknown = search = document = -1  # the last such task
    for at, piece in enumerate(pieces):
        found[at] = {last for last in (unknown, search) if last >= 0}
        if piece.estimate.is_unknown:
            found[at].update(range(max(0, unknown), at))
            unknown = at
        elif writes_documents(piece.task):
            found[at].update(range(max(0, unknown, document), at))
            document = at
        if is_a_search(piece.task.title):
            search = at
    return found


def _numbered(batches: Sequence[TaskBatch]) -> Iterable[TaskBatch]:
    """Number the parts of a task in the order in which they are done."""
    wholes = [_whole_id(piece) for batch in batches for piece in batch.pieces]
    many, seen = Counter(wholes), Counter[str]()

    def one(piece: TaskPiece) -> TaskPiece:
        whole = _whole_id(piece)
        seen[whole] += 1
        if not piece.task.part:
            return piece
        part = f"{seen[whole]} of {many[whole]}"
        return replace(piece, task=replace(piece.task, part=part))

    for batch in batches:
        yield replace(batch, pieces=tuple(map(one, batch.pieces)))


def _whole_id(piece: TaskPiece) -> str:
    return piece.task.id.rpartition("/")[0] if piece.task.part else piece.task.id
