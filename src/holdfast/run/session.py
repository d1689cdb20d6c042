"""One session from its start to its recorded end. Nothing starts that is not in the journal."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from msgspec import structs

from holdfast.plan.project_files import find_missing
from holdfast.plan.workflow import TaskBatch, TaskPiece
from holdfast.run import claude_process
from holdfast.run.claude_process import ClaudeProcess, ClaudeProgram, StreamReading
from holdfast.run.journal import (
    Ended,
    Journal,
    JournalError,
    Line,
    RunHistory,
    SessionRecord,
    Started,
    TaskShare,
)
from holdfast.run.report import DONE, FAILED, STOPPED, WAITING, SessionEnd, build_schema
from holdfast.text.numbers import named
from holdfast.wire.errors import HoldfastError

TIMED_OUT = "it took longer than --timeout allows and was ended"
NOT_STARTED = "fix what is named, then run the same command: what is done stays done"


@dataclass(frozen=True, slots=True)
class RunEvent:
    """What a run reports. `kind`: note, batch, begun, reading, session, checkpoint."""

    kind: str
    words: str
    number: int = 0
    count: int = 0
    session_id: str = ""
    titles: str = ""  # of the tasks, with `begun`
    used_tokens: int = 0
    planned_tokens: int = 0


Tell = Callable[[RunEvent], None]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the user asked for; the same for every session."""

    root: Path
    client: ClaudeProgram
    model: str = ""
    extra: tuple[str, ...] = ()
    max_parallel: int = 1
    timeout_seconds: float | None = None

    def command(self, session_id: str, tasks: Sequence[str]) -> list[str]:
        """The command line. The prompt goes to stdin: no list of processes shows it there."""
        words = [self.client.path, "-p", "--output-format", "stream-json", "--verbose"]
        words += ["--session-id", session_id, "--json-schema", json.dumps(build_schema(tasks))]
        return [*words, *(["--model", self.model] if self.model else []), *self.extra]


@dataclass(slots=True)
class RunContext:
    options: RunOptions
    folder: str
    journal: Journal
    history: RunHistory
    lock: int
    tell: Tell
    clock: Callable[[], int]
    stopping: int = 0  # the signal that ends the run
    halted: bool = False  # a session failed twice: no further one is started
    running: list[ClaudeProcess] = field(default_factory=list)

    def stop(self, signal_number: int) -> None:
        """End the run. Called by a signal handler, so it takes no lock."""
        self.stopping = self.stopping or signal_number
        for process in list(self.running):
            process.end()

    def record(self, line: Line) -> None:
        line = structs.replace(line, at_ms=self.clock())
        self.journal.add(line)
        self.history.take(line)


@dataclass(frozen=True, slots=True)
class SessionJob:
    """The work of one session: a batch, or one of its tasks if they run `beside` each other."""

    batch_id: str
    batch: TaskBatch
    shares: tuple[TaskShare, ...]
    number: int
    count: int
    beside: bool = False

    @property
    def pieces(self) -> tuple[TaskPiece, ...]:
        return self.batch.pieces

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(piece.task.id for piece in self.pieces)

    @property
    def titles(self) -> str:
        return ", ".join(named(piece.task.shown) for piece in self.pieces)

    def without(self, positions: Collection[int]) -> SessionJob:
        kept = [at for at in range(len(self.pieces)) if at not in positions]
        batch = replace(self.batch, pieces=tuple(self.pieces[at] for at in kept))
        return replace(self, batch=batch, shares=tuple(self.shares[at] for at in kept))


def judge(session_id: str, end: SessionEnd, names: Sequence[str]) -> Ended:
    """What a session amounts to, by its report; without one it has done its tasks: no repeating."""
    known = Ended(session_id, FAILED, exit=end.exit_code, summary=end.summary)
    if not end.is_success:
        return structs.replace(known, error=end.describe_failure())
    tasks = {task.id: task for task in end.report.tasks} if end.report else {}
    left = [name for name in names if name not in tasks or tasks[name].state != DONE]
    if not left or end.report is None:
        return structs.replace(known, result=DONE)
    reported = [tasks[name] for name in left if name in tasks]
    why = "; ".join(f"{task.id}: {task.reason}" for task in reported) or "it names no reason"
    halts = {task.id: task.reason or task.id for task in reported if task.state == WAITING}
    return structs.replace(
        known,
        credited=tuple(at for at, name in enumerate(names) if name not in left),
        error=f"it reports as not done: {', '.join(left)} ({why})",
        halt="; ".join(halts.values()),
        waiting=tuple(at for at, name in enumerate(names) if name in halts),
    )


def run_session(context: RunContext, job: SessionJob, attempt: int, prompt: str) -> SessionRecord:
    session_id = str(uuid.uuid4())
    root, history = context.options.root, context.history
    missing_before = find_missing(root, [path for piece in job.pieces for path in piece.task.paths])
    running = _start(context, job, session_id, attempt, prompt)
    # Without words if the event of its batch has named the tasks.
    words = f"{job.titles}: begun" if job.beside else ""
    words = f"{job.titles}: tried once more" if attempt > 1 else words
    context.tell(_event("begun", words, job, session_id))
    reading = _listen(context, job, session_id, running)
    end = running.ending
    ended = judge(session_id, end, job.names)
    if running.timed_out and not end.is_success:
        ended = structs.replace(ended, error=TIMED_OUT)
    if context.stopping and not end.is_success:
        ended = Ended(session_id, STOPPED, exit=end.exit_code)
    ended = structs.replace(
        ended,
        used_tokens=reading.most_tokens,
        grown_tokens=reading.grown_tokens,
        compactions=reading.compactions,
        missing=tuple(_find_missing_files(job, end, ended, missing_before, root)),
    )
    context.record(ended)
    if end.is_success and end.report is None:
        words = f"gave no report, so its tasks count as done; its last words: {end.words}"
        context.tell(RunEvent("note", words, session_id=session_id))
    return history.tries[session_id]


def _find_missing_files(
    job: SessionJob, end: SessionEnd, ended: Ended, before: Collection[str], root: Path
) -> list[str]:
    """Files of finished tasks that are not there; a listed one may be there to be removed."""
    every = range(len(job.pieces))
    tasks = [job.pieces[at].task for at in (every if ended.result == DONE else ended.credited)]
    listed = [path for task in tasks for path in task.paths if path in before]
    names = {task.id for task in tasks}
    reports = end.report.tasks if end.report else ()
    written = [file for report in reports if report.id in names for file in report.files]
    return find_missing(root, [*listed, *written])


def _start(
    context: RunContext, job: SessionJob, session_id: str, attempt: int, prompt: str
) -> ClaudeProcess:
    options = context.options
    note = claude_process.note_path(context.folder, session_id)
    try:
        claude_process.reserve_note(note)
        started = Started(session_id, job.batch_id, attempt, job.shares)
        sizes = {"estimated_tokens": job.batch.tokens, "high_tokens": job.batch.high_tokens}
        context.record(structs.replace(started, **sizes))
    except OSError as failure:
        words = failure.strerror or failure
        raise JournalError(f"{note}: {words}") from failure
    command = options.command(session_id, job.names)
    try:
        running = ClaudeProcess(session_id, command, prompt, options.root, note, context.lock)
    except OSError as failure:
        error = f"it could not be started: {failure.strerror or failure}"
        context.record(Ended(session_id, STOPPED, error=error))
        words = f"no session can be started in {options.root}: {failure}"
        raise HoldfastError(words, NOT_STARTED, 5) from failure
    context.running.append(running)
    if options.timeout_seconds is not None:
        running.end_after(options.timeout_seconds)
    if context.stopping:  # the request came while we were starting it
        running.end()
    return running


def _listen(
    context: RunContext, job: SessionJob, session_id: str, running: ClaudeProcess
) -> StreamReading:
    reading, waits = StreamReading(), False
    for line in running.lines():
        is_reading = reading.hear(line)
        if reading.waits_for and not waits:  # reported once, until there is an answer
            context.tell(RunEvent("note", reading.waits_for, session_id=session_id))
        waits = bool(reading.waits_for)
        if is_reading:
            grown = reading.grown_tokens
            words = f"{grown:,} of about {job.batch.tokens:,} tokens"
            words += f"; {reading.now_tokens:,} in its window"
            context.tell(_event("reading", words, job, session_id, grown))
    context.running.remove(running)
    return reading


def _event(kind: str, words: str, job: SessionJob, session_id: str, used: int = 0) -> RunEvent:
    return RunEvent(
        kind, words, job.number, job.count, session_id, job.titles, used, job.batch.tokens
    )
