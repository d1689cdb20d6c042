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
from holdfast.run.errors import JournalNotWritten, NewerJournal
from holdfast.run.journal import Journal, journal_folder
from holdfast.run.report import DONE

MAX_BRIEFS = 12  # of earlier sessions, for one session


@dataclass(frozen=True, slots=True)
class TaskShare:
    """The share of a task that a session was given: all of it, or some of its files."""

    id: str
    hash: str
    files: tuple[str, ...] | None = None  # None: the whole task
    of_files: tuple[str, ...] = ()  # the files of its patterns when the task was cut
    piece: str = ""  # how the session knows it, if not by the task's id

    @property
    def name(self) -> str:
        return self.piece or self.id

    def as_json(self) -> dict[str, Any]:
        rare = {"of_files": list(self.of_files), "piece": self.piece}
        return {
            "id": self.id,
            "hash": self.hash,
            "files": self.files and list(self.files),
            **{name: value for name, value in rare.items() if value},
        }


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session: its work, and its result, which is empty if nobody recorded it."""

    session_id: str
    batch: str
    shares: tuple[TaskShare, ...]
    result: str = ""
    error: str = ""
    used_tokens: int = 0  # the largest size of its window
    grown_tokens: int = 0  # how much of that the work took
    saved: bool = False  # the checkpoint was saved, or cannot be saved
    credited: tuple[int, ...] = ()  # the shares that a failed session did nevertheless
    halt: str = ""  # for whom a task waits, or why the plan stops
    summary: str = ""  # what it reports to have done and found out
    missing: tuple[str, ...] = ()  # files of its tasks that are not there though done

    @property
    def done_shares(self) -> tuple[TaskShare, ...]:
        if self.result == DONE:
            return self.shares
        return tuple(share for at, share in enumerate(self.shares) if at in self.credited)

    @property
    def waiting_share(self) -> TaskShare | None:
        """The share that waits for a person: the first that is not done. Those behind it were not
        begun."""
        done = self.done_shares if self.halt else self.shares
        return next((share for share in self.shares if share not in done), None)

    @property
    def names(self) -> frozenset[tuple[str, str]]:
        return frozenset((one.id, one.hash) for one in self.shares)

    @property
    def specs(self) -> frozenset[str]:
        """The tasks, and the larger tasks they are steps of."""
        ids = [one.id for one in self.shares]
        return frozenset([*ids, *(name.partition("/")[0] for name in ids)])


@dataclass(slots=True)
class RunHistory:
    tries: dict[str, SessionRecord] = field(default_factory=dict)  # by session, in order
    revision: int = 0  # changes with every record

    def take(self, record: Mapping[str, Any]) -> None:
        """Add one record. Records that do not fit are ignored."""
        self.revision += 1
        session = record.get("session")
        if not isinstance(session, str):
            return
        kind, known = record.get("kind"), self.tries.get(session)
        if kind == "started":
            shares = tuple(_shares(record.get("tasks")))
            self.tries[session] = SessionRecord(session, str(record.get("batch", "")), shares)
        elif kind == "ended" and known is not None:
            self.tries[session] = replace(
                known,
                result=str(record.get("result", "")),
                error=str(record.get("error", "")),
                used_tokens=_number(record.get("used_tokens")),
                grown_tokens=_number(record.get("grown_tokens")),
                credited=_positions(record.get("credited")),
                halt=str(record.get("halt", "")),
                summary=str(record.get("summary", "")),
                missing=_names(record.get("missing")) or (),
            )
        elif kind == "checkpoint" and known is not None:
            self.tries[session] = replace(known, saved=True)

    @property
    def sessions(self) -> list[SessionRecord]:
        """A copy, in order: parallel sessions record their ends while others read."""
        return list(self.tries.values())

    @property
    def unsettled(self) -> list[SessionRecord]:
        """Sessions that started and whose end was not recorded."""
        return [one for one in self.sessions if not one.result]

    @property
    def unsaved(self) -> list[SessionRecord]:
        return [one for one in self.done if not one.saved]

    @property
    def done(self) -> list[SessionRecord]:
        """Sessions that did something that must not be done again."""
        return [one for one in self.sessions if one.done_shares]

    @property
    def batches_done(self) -> int:
        return len({one.batch for one in self.sessions if one.result == DONE})

    def coverage(self) -> dict[tuple[str, str], frozenset[str] | None]:
        """By task and hash: the files that are done; None if the whole task is."""
        found: dict[tuple[str, str], frozenset[str] | None] = {}
        for share in (share for one in self.done for share in one.done_shares):
            key = (share.id, share.hash)
            before = found.get(key, frozenset())
            whole = share.files is None or before is None
            found[key] = None if whole else (before or frozenset()) | set(share.files or ())
        return found

    def spread(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """By task and hash: the files of its patterns, fixed when its first part started."""
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for share in (share for one in self.sessions for share in one.shares if share.of_files):
            found.setdefault((share.id, share.hash), share.of_files)
        return found

    def half_done(self, shares: Sequence[TaskShare]) -> SessionRecord | None:
        """The last session that had some of this work, if it did not finish it."""
        wanted = {(one.id, one.hash) for one in shares}
        for one in reversed(self.sessions):
            if one.names & wanted:
                return None if one.result == DONE else one
        return None

    def before(self, needs: Iterable[str]) -> list[SessionRecord]:
        """Sessions to build on, the latest first: the last batch's, then those that did what this
        work needs."""
        done, wanted = self.done, set(needs)
        last = [one for one in done if one.batch == done[-1].batch]
        needed = [one for one in done if wanted & one.specs and one not in last]
        return [*reversed(last), *reversed(needed)][:MAX_BRIEFS]

    def missing(self) -> list[str]:
        """Files of finished tasks that were not there when their sessions ended."""
        return list(dict.fromkeys(file for one in self.sessions for file in one.missing))


def build_history(records: Iterable[Mapping[str, Any]]) -> RunHistory:
    found = RunHistory()
    for record in records:
        found.take(record)
    return found


def _shares(value: object) -> Iterable[TaskShare]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict) and isinstance(one.get("id"), str):
            hash_ = str(one.get("hash", ""))
            yield TaskShare(
                one["id"],
                hash_,
                _names(one.get("files")),
                _names(one.get("of_files")) or (),
                str(one.get("piece", "")),
            )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _positions(value: object) -> tuple[int, ...]:
    return tuple(one for one in value if isinstance(one, int)) if isinstance(value, list) else ()


def _names(value: object) -> tuple[str, ...] | None:
    return tuple(map(str, value)) if isinstance(value, list) else None


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
    return replace(task, paths=paths, size_tokens=share)


def index_tasks(plan: TaskPlan) -> dict[str, PlanTask]:
    return {one.id: one for task in plan.tasks for one in (task, *task.subtasks)}


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
    ran = sum(one.done for one in plan.tasks) - sum(one.done for one in written.tasks)
    return ContinuedPlan(plan, ran, note)


def _read_history(file: Path, root: Path) -> tuple[RunHistory, str]:
    """The history of the plan's runs. If its journal cannot be read, everything counts as open,
    and a note says why."""
    try:
        folder = journal_folder(file, root)
    except (OSError, ValueError):  # not a possible path; reading the plan reports that
        return RunHistory(), ""
    try:
        return build_history(Journal(folder, only_read=True).records), ""
    except (JournalNotWritten, NewerJournal) as error:
        return RunHistory(), f"the journal of its runs cannot be read: {error}"
