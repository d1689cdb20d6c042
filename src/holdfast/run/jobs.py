"""The sessions still to run: what is left of the plan, in batches, and the jobs of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.brief.compose import DEFAULT_TOKENS
from holdfast.plan.files.listing import list_files
from holdfast.plan.files.project_files import MISSING, find_existing
from holdfast.plan.findings import MAX_BRIEFS, leaves_no_file
from holdfast.plan.notes import is_surely_file
from holdfast.plan.planner import waits_for_all
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import TaskPlan
from holdfast.plan.workflow import TaskBatch, Workflow
from holdfast.record.run_prompt import OWN_NUMBER
from holdfast.run import prompt
from holdfast.run.claude_process import ExitNote
from holdfast.run.journal_state import SessionRecord, TaskShare, index_tasks, remove_done, share_of
from holdfast.run.prompt import PromptContext
from holdfast.run.run_context import RunContext
from holdfast.run.session_report import SessionReport
from holdfast.text.numbers import named

MIN_BRIEF_TOKENS = 500
Make = Callable[[TaskPlan], Workflow]


@dataclass(frozen=True, slots=True)
class SessionJob:
    """The work of one session. `numbers`: of its tasks in the plan; `limit_tokens`: how much of a
    window a batch may take; `beside`: other sessions of its batch run at the same time."""

    batch: str
    pieces: tuple[TaskPiece, ...]
    numbers: tuple[int, ...]
    shares: tuple[TaskShare, ...]
    number: int
    count: int
    high_tokens: int
    limit_tokens: int
    beside: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(piece.task.id for piece in self.pieces)

    @property
    def titles(self) -> str:
        """The titles of its tasks, for the user."""
        return ", ".join(named(piece.task.shown) for piece in self.pieces)

    def without(self, positions: Collection[int]) -> SessionJob:
        kept = [at for at in range(len(self.pieces)) if at not in positions]
        pieces, shares = self.pieces, self.shares
        return replace(
            self,
            pieces=tuple(pieces[at] for at in kept),
            numbers=tuple(self.numbers[at] for at in kept),
            shares=tuple(shares[at] for at in kept),
        )

    @property
    def is_unknown(self) -> bool:
        return any(piece.estimate.is_unknown for piece in self.pieces)

    @property
    def shown_tokens(self) -> int:
        """The sum of the numbers that a plan shows for its tasks."""
        return sum(piece.estimate.shown_tokens for piece in self.pieces)

    @property
    def tokens(self) -> int:
        """The estimate; for a task of unknown size, the room it was given."""
        return sum(piece.estimate.tokens for piece in self.pieces)


def find_credited(pieces: Sequence[TaskPiece], note: ExitNote, report: SessionReport) -> list[int]:
    """Return the positions of tasks that a session did although it reports others as not done. A
    task that depends on one that is not done is not done either, whatever the session says; nor is
    any task behind one that waits."""
    if not report.undone or not note.is_success:
        return []
    first = min(report.undone)
    halted = range(first, len(pieces)) if report.halt else ()
    return without_dependents(pieces, {*report.undone, *halted})


def without_dependents(pieces: Sequence[TaskPiece], undone: Collection[int]) -> list[int]:
    """Return the positions of the other tasks, without those that depend on one of these."""
    left = set(undone)
    for at, piece in enumerate(pieces):
        before = {pieces[one].task.id for one in left}
        if not before.isdisjoint(piece.task.depends):
            left.add(at)
    return [at for at in range(len(pieces)) if at not in left]


def find_missing(pieces: Sequence[TaskPiece], root: Path) -> dict[int, list[str]]:
    """Return the files that tasks list or name and that are not there, by the task's position."""
    missing = {at: list(_missing_of(piece, root)) for at, piece in enumerate(pieces)}
    return {at: files for at, files in missing.items() if files}


def _missing_of(piece: TaskPiece, root: Path) -> Iterator[str]:
    listed = [file for file in piece.task.files if file not in piece.task.held]
    named = [file for file in piece.estimate.named_files if is_surely_file(file)]
    odd = find_existing(root, [*listed, *named])
    missing = [file for file, why in odd.items() if why == MISSING]
    known = list_files(str(root)) if set(missing) - set(listed) else []
    for file in missing:  # words may name a file without the folders above it
        if file in listed or not any(path.endswith(f"/{file}") for path in known):
            yield file


def name_tasks(job: SessionJob) -> tuple[tuple[str, ...], ...]:
    """What a report may call each task: its id; its title, as the prompt shows it, and without its
    own number; `Task 3`, unless ids are numbers too."""
    has_numbers = any(piece.task.id.isdecimal() for piece in job.pieces)
    return tuple(
        (
            piece.task.id,
            piece.task.shown,
            piece.task.title,
            OWN_NUMBER.sub("", piece.task.title, count=1),
            "" if has_numbers else _numbered(number, piece.task.shown),
        )
        for piece, number in zip(job.pieces, job.numbers, strict=True)
    )


def _numbered(number: int, title: str) -> str:
    """`Task 3`, by the number that the prompt shows."""
    own = OWN_NUMBER.match(title)
    digits = re.search(r"\d+", own[0]) if own else None
    return f"Task {digits[0] if digits else number}"


class JobQueue:
    """The jobs still to run. `make` plans what is left; `share_tokens` is how much of a window a
    batch may take."""

    def __init__(self, context: RunContext, plan: TaskPlan, make: Make, share_tokens: int) -> None:
        self._context, self._make = context, make
        self._plan = plan
        self._share_tokens = share_tokens
        self._known = index_tasks(plan)
        root = context.options.root
        self._finds = [task.id for task in plan.tasks if leaves_no_file(task, root)]
        self._numbers = {task.id: at for at, task in enumerate(plan.tasks, start=1)}

    def left(self) -> TaskPlan:
        return remove_done(self._plan, self._context.history.coverage())

    @property
    def tasks(self) -> int:
        """How many tasks the whole plan has."""
        return len(self._plan.tasks)

    @property
    def title(self) -> str:
        return self._plan.title

    @property
    def rules(self) -> str:
        """What the plan says outside its tasks."""
        return self._plan.description

    def open_tasks(self) -> list[str]:
        return [task.id for task in self.left().tasks if not task.done]

    def flow(self) -> Workflow:
        return self._make(self.left())

    def jobs(self, flow: Workflow) -> Iterator[list[SessionJob]]:
        """The sessions of each batch: one, or one per task if they may run in parallel."""
        before = self._context.history.batches_done
        for number, batch in enumerate(flow.batches, start=before + 1):
            side_by_side = batch.parallel and self._context.options.max_parallel > 1
            parts = [(piece,) for piece in batch.pieces] if side_by_side else [batch.pieces]
            count = before + len(flow.batches)
            jobs = [self._job(batch, part, number, count) for part in parts]
            yield [replace(job, beside=len(jobs) > 1) for job in jobs]

    def prompt_context(self, job: SessionJob, error: str = "") -> PromptContext:
        """What the session is told besides its tasks, from what the journal knows now."""
        known = self._context.history
        earlier = known.half_done(job.shares)
        needs = {need for share in job.shares for need in self._needs(share)}
        sources = [*([earlier] if earlier else []), *known.before(needs, self._finds)]
        # a session that did a part of the work is in both
        once = {one.session_id: one for one in sources}
        return PromptContext(
            title=self.title,
            rules=self.rules,
            number=job.number,
            count=job.count,
            beside=job.beside,
            again=earlier is not None,
            error=error or (earlier.error if earlier else ""),
            briefs=tuple(_briefs(list(once.values())[:MAX_BRIEFS])),
            numbers=self._numbers,
            tasks=self.left().tasks,
            settled=tuple(task for task in self._plan.tasks if task.done and task.description),
        )

    def _job(
        self, batch: TaskBatch, pieces: tuple[TaskPiece, ...], number: int, count: int
    ) -> SessionJob:
        alone = replace(batch, pieces=pieces)
        return SessionJob(
            batch=batch.id,
            pieces=pieces,
            numbers=tuple(self._numbers[piece.task.spec] for piece in pieces),
            shares=tuple(share_of(piece, self._known) for piece in pieces),
            number=number,
            count=count,
            high_tokens=alone.high_tokens,
            limit_tokens=self._share_tokens,
        )

    def _needs(self, share: TaskShare) -> tuple[str, ...]:
        task = self._known[share.id]
        whole = self._known[task.spec]
        if waits_for_all(whole):
            return tuple(list(self._numbers)[: self._numbers[whole.id] - 1])
        return (*task.depends, *whole.depends)


def _briefs(sources: Sequence[SessionRecord]) -> Iterator[str]:
    """The briefs of earlier sessions, which share the room of one brief."""
    for one in sources:
        tokens = max(MIN_BRIEF_TOKENS, DEFAULT_TOKENS // len(sources))
        found = prompt.compose_brief(one.session_id, tokens)
        if found:
            yield found
