"""What the journal's records add up to: which sessions there were, which work is done, and what is
left of the plan.

Work is recorded per task, not per batch, because the batches change with the estimates and with
every edit of the plan. A task is the same while its id and its content hash are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.plan.load import load_plan
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.run.journal import (
    Ended,
    Journal,
    JournalError,
    Line,
    Saved,
    Started,
    TaskShare,
    journal_folder,
)
from holdfast.run.report import DONE

MAX_BRIEFS = 12  # of earlier sessions, for one session


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """What the journal says of one session. Without a result, nobody recorded its end."""

    started: Started
    ended: Ended
    saved: Saved | None = None

    @property
    def session_id(self) -> str:
        return self.started.session

    @property
    def batch(self) -> str:
        return self.started.batch

    @property
    def shares(self) -> tuple[TaskShare, ...]:
        return self.started.tasks

    @property
    def result(self) -> str:
        return self.ended.result

    @property
    def done_shares(self) -> tuple[TaskShare, ...]:
        if self.result == DONE:
            return self.shares
        return tuple(share for at, share in enumerate(self.shares) if at in self.ended.credited)

    @property
    def waiting_shares(self) -> tuple[TaskShare, ...]:
        return tuple(share for at, share in enumerate(self.shares) if at in self.ended.waiting)

    @property
    def keys(self) -> frozenset[tuple[str, str]]:
        return frozenset((share.id, share.hash) for share in self.shares)

    @property
    def specs(self) -> frozenset[str]:
        """The tasks, and the larger tasks they are steps of."""
        ids = [share.id for share in self.shares]
        return frozenset([*ids, *(name.partition("/")[0] for name in ids)])

    def as_json(self) -> dict[str, Any]:
        started, ended = self.started, self.ended
        return {
            "session_id": started.session,
            "tasks": [share.name for share in started.tasks],
            "attempt": started.attempt,
            "result": ended.result,
            "exit_code": ended.exit,
            "error": ended.error,
            "halt": ended.halt,
            "summary": ended.summary,
            "used_tokens": ended.used_tokens,
            "grown_tokens": ended.grown_tokens,
            "estimated_tokens": started.estimated_tokens,
            "high_tokens": started.high_tokens,
            "compactions": ended.compactions,
            "checkpoint": self.saved.path if self.saved else None,
            "missing": list(ended.missing),
        }


@dataclass(slots=True)
class RunHistory:
    tries: dict[str, SessionRecord] = field(default_factory=dict)  # by session, in order
    revision: int = 0  # changes with every line

    def take(self, line: Line) -> None:
        """Add one line of the journal. One of a session that never started is ignored."""
        self.revision += 1
        if isinstance(line, Started):
            self.tries[line.session] = SessionRecord(line, Ended(line.session))
        elif isinstance(line, Ended) and line.session in self.tries:
            self.tries[line.session] = replace(self.tries[line.session], ended=line)
        elif isinstance(line, Saved) and line.session in self.tries:
            self.tries[line.session] = replace(self.tries[line.session], saved=line)

    @property
    def sessions(self) -> list[SessionRecord]:
        """A copy, in order: parallel sessions record their ends while others read."""
        return list(self.tries.values())

    @property
    def unsettled(self) -> list[SessionRecord]:
        """Sessions that started and whose end was not recorded."""
        return [record for record in self.sessions if not record.result]

    @property
    def unsaved(self) -> list[SessionRecord]:
        return [record for record in self.done if record.saved is None]

    @property
    def done(self) -> list[SessionRecord]:
        """Sessions that did something that must not be done again."""
        return [record for record in self.sessions if record.done_shares]

    @property
    def batches_done(self) -> int:
        return len({record.batch for record in self.sessions if record.result == DONE})

    def coverage(self) -> dict[tuple[str, str], frozenset[str] | None]:
        """By task and hash: the files that are done; None if the whole task is."""
        files: dict[tuple[str, str], frozenset[str] | None] = {}
        for share in (share for session in self.done for share in session.done_shares):
            key = (share.id, share.hash)
            before = files.get(key, frozenset())
            whole = share.files is None or before is None
            files[key] = None if whole else (before or frozenset()) | set(share.files or ())
        return files

    def spread(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """By task and hash: the files of its patterns, fixed when its first part started."""
        files: dict[tuple[str, str], tuple[str, ...]] = {}
        for share in (
            share for session in self.sessions for share in session.shares if share.of_files
        ):
            files.setdefault((share.id, share.hash), share.of_files)
        return files

    def half_done(self, shares: Sequence[TaskShare]) -> SessionRecord | None:
        """The last session that had some of this work, if it did not finish it."""
        wanted = {(share.id, share.hash) for share in shares}
        last = next((session for session in reversed(self.sessions) if session.keys & wanted), None)
        return last if last and last.result != DONE else None

    def before(self, needs: Iterable[str]) -> list[SessionRecord]:
        """Sessions to build on, the latest first: the last batch's, then those that did what this
        work needs."""
        done, wanted = self.done, set(needs)
        last = [record for record in done if record.batch == done[-1].batch]
        needed = [record for record in done if wanted & record.specs and record not in last]
        return [*reversed(last), *reversed(needed)][:MAX_BRIEFS]

    def missing(self) -> list[str]:
        """Files of finished tasks that were not there when their sessions ended."""
        return list(
            dict.fromkeys(file for session in self.sessions for file in session.ended.missing)
        )


def read_history(journal: Journal) -> RunHistory:
    history = RunHistory()
    for line in journal.lines:
        history.take(line)
    return history


Coverage = Mapping[tuple[str, str], frozenset[str] | None]


def remove_done(plan: TaskPlan, done: Coverage) -> TaskPlan:
    """The plan with finished tasks marked as done, and of cut tasks only what is left."""
    return replace(plan, tasks=tuple(_remove_done(task, done) for task in plan.tasks))


def _remove_done(task: PlanTask, done: Coverage) -> PlanTask:
    if task.done or _is_done(task, done):
        return replace(task, done=True)
    if task.subtasks:
        steps = tuple(_remove_done(step, done) for step in task.subtasks)
        return replace(task, subtasks=steps, done=all(step.done for step in steps))
    covered = done.get((task.id, task.hash)) or frozenset()
    paths = tuple(path for path in task.paths if path not in covered)
    return task if len(paths) == len(task.paths) else _with_paths(task, paths)


def _is_done(task: PlanTask, done: Coverage) -> bool:
    key = (task.id, task.hash)
    if key not in done:
        return False
    covered = done[key]
    return covered is None or (bool(task.paths) and covered.issuperset(task.paths))


def _with_paths(task: PlanTask, paths: tuple[str, ...]) -> PlanTask:
    """The task with fewer files. A size for all files is divided equally among them."""
    total = task.size_tokens
    share = total if total is None else max(1, total * len(paths) // len(task.paths))
    return replace(task, paths=paths, size_tokens=share, part="left to do")


def index_tasks(plan: TaskPlan) -> dict[str, PlanTask]:
    return {subtask.id: subtask for task in plan.tasks for subtask in (task, *task.subtasks)}


def share_of(piece: TaskPiece, known: Mapping[str, PlanTask]) -> TaskShare:
    """Which task of the plan the piece is, or which share of it."""
    name = piece.task.id
    task = known.get(name) or known[name.rpartition("/")[0]]
    whole = name == task.id and piece.task.paths == task.paths
    if whole:
        return TaskShare(task.id, task.hash)
    of_files = task.paths if task.paths != task.files else ()
    piece_name = name if name != task.id else ""
    return TaskShare(task.id, task.hash, piece.task.paths, of_files, piece_name)


@dataclass(frozen=True, slots=True)
class ContinuedPlan:
    """A plan without finished work. `ran` counts tasks that a run has done and that the file does
    not mark as done; `note` says why that is not known."""

    plan: TaskPlan
    ran: int = 0
    note: str = ""


def load_remaining(file: Path, root: Path) -> ContinuedPlan:
    known, note = _read_history(file, root)
    written = load_plan(file, root, known.spread())
    plan = remove_done(written, known.coverage())
    ran = sum(task.done for task in plan.tasks) - sum(task.done for task in written.tasks)
    return ContinuedPlan(plan, ran, note)


def _read_history(file: Path, root: Path) -> tuple[RunHistory, str]:
    """The history of the plan's runs. If its journal cannot be read, everything counts as open,
    and a note says why."""
    try:
        folder = journal_folder(file, root)
    except (OSError, ValueError):  # not a possible path; reading the plan reports that
        return RunHistory(), ""
    try:
        return read_history(Journal(folder, only_read=True)), ""
    except JournalError as error:
        return RunHistory(), f"the journal of its runs cannot be read: {error}"
