"""The journal of a run: one line per event, on disk before anything depends on it.

It is replaced as a whole, so no line is ever torn; of a damaged file a copy is set aside. It lies
in a folder named by the paths of plan and project, so that an edited plan continues. Two locks
beside it allow one runner per plan, and none while sessions of the last one are still ending.
"""

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from holdfast.files import lock, small_files
from holdfast.files.small_files import NotStored
from holdfast.plan.load import load_plan
from holdfast.plan.task import PlanTask, TaskPlan, digest
from holdfast.plan.workflow import TaskPiece
from holdfast.run.report import DONE
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

VERSION = 1
PATIENCE_SECONDS = 30.0  # longer than a supervisor needs to end its processes
NEWER = "use the Holdfast version that wrote it, or move the folder away to start again"
RUNNING = "wait for it, or end it with Ctrl-C: what it has done stays done"


class JournalError(HoldfastError):
    """Work that cannot be recorded does not start: the next run would do it again."""

    exit_code = 4
    hint = "free disk space, or remove what blocks the file; what is done stays done"


class TaskShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """The share of a task that a session was given: all of it, or some of its files."""

    id: str
    hash: str = ""
    files: tuple[str, ...] | None = None  # None: the whole task
    of_files: tuple[str, ...] = ()  # the files of its patterns when the task was cut
    piece: str = ""  # how the session knows it, if not by the task's id

    @property
    def name(self) -> str:
        return self.piece or self.id


class Line(msgspec.Struct, frozen=True, tag_field="kind", kw_only=True):
    at_ms: int = 0


class Begun(Line, frozen=True, tag="run", kw_only=True):
    version: int = VERSION


class Started(Line, frozen=True, tag="started", omit_defaults=True):
    session: str
    batch: str = ""
    attempt: int = 1
    tasks: tuple[TaskShare, ...] = ()
    estimated_tokens: int = 0
    high_tokens: int = 0


class Ended(Line, frozen=True, tag="ended", omit_defaults=True):
    session: str
    result: str = ""  # done, failed, stopped
    exit: int | None = None  # None: nobody saw it
    error: str = ""
    halt: str = ""  # for whom a task waits, or why the plan stops, in the words of the session
    summary: str = ""  # what it reports to have done and found out
    used_tokens: int = 0  # the largest size of its window
    grown_tokens: int = 0  # how much of that the work took
    compactions: int = 0
    credited: tuple[int, ...] = ()  # the tasks that a failed session did nevertheless
    waiting: tuple[int, ...] = ()  # the tasks that wait for a person
    missing: tuple[str, ...] = ()  # files of its finished tasks that are not there


class Saved(Line, frozen=True, tag="checkpoint"):
    session: str
    path: str | None = None  # None: it left no transcript


_DECODER = msgspec.json.Decoder(Begun | Started | Ended | Saved)


class Journal:
    """Open it under the plan's lock, so that there is one writer."""

    def __init__(self, folder: str, only_read: bool = False) -> None:
        self.path = f"{folder}/journal.jsonl"
        self._lock = threading.Lock()
        self.notes: list[str] = []
        data = self._read()
        texts = [text for text in data.splitlines() if text.strip()]
        self.lines = [line for text in texts if (line := _decode(text)) is not None]
        if len(self.lines) < len(texts) and not only_read:
            self._set_aside(data, len(texts) - len(self.lines))

    def add(self, line: Line) -> None:
        """Add a line. It is on disk when this returns; JournalError if it cannot be."""
        with self._lock:
            lines = [*(self.lines or [Begun()]), line]
            self._write(self.path, _encode(lines))
            self.lines = lines

    def _write(self, path: str, data: bytes) -> None:
        try:
            small_files.put(path, data)
        except NotStored as error:
            raise JournalError(str(error)) from error

    def _read(self) -> bytes:
        """The whole file. JournalError if it cannot be read: else all work would be done again."""
        try:
            with os.fdopen(places.open_regular(self.path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror or error}") from error

    def _set_aside(self, data: bytes, bad: int) -> None:
        names = (f"{self.path}.damaged-{number}" for number in count(1))
        aside = next(name for name in names if not os.path.lexists(name))
        self._write(aside, data)
        self._write(self.path, _encode(self.lines))
        self.notes.append(
            f"the journal was damaged: {bad} of its lines could not be read, the rest is used; "
            f"the damaged file is {aside}"
        )


def _encode(lines: list[Line]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _decode(text: bytes) -> Line | None:
    try:
        line: Line = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(line, Begun) and line.version > VERSION:
        raise JournalError(f"the journal of this plan is of version {line.version}", NEWER, 3)
    return line


def journal_folder(plan: Path, root: Path) -> str:
    name = digest([os.path.realpath(plan), os.fspath(root.resolve())])
    return f"{places.home()}/runs/{name}"


@contextmanager
def hold_plan(folder: str) -> Iterator[int]:
    """Hold both locks; yields the descriptor of the one that supervisors share."""
    with ExitStack() as stack:
        own, shared = (_open(f"{folder}/{name}", stack) for name in ("conductor", "lock"))
        if not lock.acquire(own):
            raise HoldfastError("another process runs this plan already", RUNNING, 3)
        if not lock.acquire(shared, PATIENCE_SECONDS):
            raise HoldfastError("a session of the last run is still ending", RUNNING, 3)
        yield shared


def _open(path: str, stack: ExitStack) -> int:
    try:
        fd = lock.open_file(path)
    except OSError as error:
        raise JournalError(f"{path} cannot be written: {error.strerror or error}") from error
    stack.callback(os.close, fd)
    return fd


def is_running(folder: str) -> bool:
    """Whether a runner, or a session of one that is still ending, holds the plan. Never waits."""
    return lock.is_held(f"{folder}/lock")


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
        return len({record.started.batch for record in self.sessions if record.result == DONE})

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
        """Sessions to build on, latest first: the last batch's, then those it needs."""
        done, wanted = self.done, set(needs)
        last = [record for record in done if record.started.batch == done[-1].started.batch]
        needed = [record for record in done if wanted & record.specs and record not in last]
        return [*reversed(last), *reversed(needed)][:MAX_BRIEFS]

    def missing(self) -> list[str]:
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
    """A plan without finished work. `ran`: tasks that a run did; `note`: why that is not known."""

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
    """The history of the plan's runs. Without a readable journal all is open: a note says why."""
    try:
        folder = journal_folder(file, root)
    except (OSError, ValueError):  # not a possible path; reading the plan reports that
        return RunHistory(), ""
    try:
        return read_history(Journal(folder, only_read=True)), ""
    except JournalError as error:
        return RunHistory(), f"the journal of its runs cannot be read: {error}"
