"""What is ahead of a run: what is left of its plan, in batches, as the work of sessions to come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from holdfast.brief.compose import DEFAULT_TOKENS
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import TaskPlan
from holdfast.plan.workflow import TaskBatch, Workflow
from holdfast.run import handover
from holdfast.run.job import Job
from holdfast.run.journal_state import Share, Try
from holdfast.run.prompt import Told
from holdfast.run.remaining import by_id, left, share_of
from holdfast.run.run_context import Floor

MOST_BRIEFS = 4
LEAST_TOKENS = 500
Make = Callable[[TaskPlan], Workflow]


class Ahead:
    """`make` plans what is left; `share_tokens` is what of a window a batch may take."""

    def __init__(self, floor: Floor, plan: TaskPlan, make: Make, share_tokens: int) -> None:
        self._floor, self._make = floor, make
        self._plan = plan
        self._share_tokens = share_tokens
        self._known = by_id(plan)

    def left(self) -> TaskPlan:
        return left(self._plan, self._floor.account.coverage())

    @property
    def tasks(self) -> int:
        """Of the whole plan."""
        return len(self._plan.tasks)

    def open_tasks(self) -> list[str]:
        return [task.id for task in self.left().tasks if not task.done]

    def flow(self) -> Workflow:
        return self._make(self.left())

    def jobs(self, flow: Workflow) -> Iterator[list[Job]]:
        """The sessions of each batch: one, or one for each task that may run beside the others."""
        before = self._floor.account.batches_done
        for number, batch in enumerate(flow.batches, start=before + 1):
            side_by_side = batch.parallel and self._floor.wishes.max_parallel > 1
            parts = [(piece,) for piece in batch.pieces] if side_by_side else [batch.pieces]
            count = before + len(flow.batches)
            jobs = [self._job(batch, part, number, count) for part in parts]
            yield [replace(job, beside=len(jobs) > 1) for job in jobs]

    def told(self, job: Job, error: str = "") -> Told:
        """What the session hears beside its tasks, from what the journal knows now."""
        known = self._floor.account
        earlier = known.half_done(job.shares)
        needs = {need for share in job.shares for need in self._needs(share)}
        sources = [*([earlier] if earlier else []), *known.before(needs, MOST_BRIEFS)]
        once = {one.session_id: one for one in sources}  # one that did a part is both
        return Told(
            title=self._plan.title,
            number=job.number,
            count=job.count,
            beside=job.beside,
            again=earlier is not None,
            error=error or (earlier.error if earlier else ""),
            briefs=tuple(_briefs(list(once.values())[:MOST_BRIEFS])),
        )

    def _job(self, batch: TaskBatch, pieces: tuple[TaskPiece, ...], number: int, count: int) -> Job:
        alone = replace(batch, pieces=pieces)
        return Job(
            batch=batch.id,
            pieces=pieces,
            shares=tuple(share_of(piece, self._known) for piece in pieces),
            number=number,
            count=count,
            high_tokens=alone.high_tokens,
            limit_tokens=self._share_tokens,
        )

    def _needs(self, share: Share) -> tuple[str, ...]:
        task = self._known[share.id]
        return (*task.depends, *self._known[task.spec].depends)


def _briefs(sources: Sequence[Try]) -> Iterator[str]:
    """They share what one brief may take."""
    for one in sources:
        tokens = max(LEAST_TOKENS, DEFAULT_TOKENS // len(sources))
        found = handover.brief(one.session_id, tokens)
        if found:
            yield found
