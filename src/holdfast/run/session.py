"""One session from its start to its recorded end. Nothing starts that is not in the journal."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.plan.project_files import find_missing
from holdfast.plan.split import TaskPiece
from holdfast.run import claude_process
from holdfast.run.claude_process import ClaudeProcess, ClaudeProgram, StreamReading
from holdfast.run.errors import JournalNotWritten, NotStarted
from holdfast.run.journal import Journal
from holdfast.run.journal_state import RunHistory, TaskShare
from holdfast.run.report import DONE, FAILED, STOPPED, SessionEnd, Verdict, judge
from holdfast.text.numbers import about, named

TIMED_OUT = "it took longer than --timeout allows and was ended"


@dataclass(frozen=True, slots=True)
class RunEvent:
    """What a run reports while it goes on. `kind`: note, batch, begun, reading, session,
    checkpoint."""

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
    permission_mode: str = ""
    extra: tuple[str, ...] = ()
    max_parallel: int = 1
    timeout_seconds: float | None = None

    def command(self, session_id: str, tasks: Sequence[str]) -> list[str]:
        return claude_process.build_command(
            self.client, session_id, tasks, self.model, self.permission_mode, self.extra
        )


@dataclass(slots=True)
class RunContext:
    """What the sessions of a run share."""

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

    def record(self, kind: str, **values: object) -> None:
        self.history.take(self.journal.add(kind, at_ms=self.clock(), **values))


@dataclass(frozen=True, slots=True)
class SessionJob:
    """The work of one session. `numbers`: of its tasks in the plan; `limit_tokens`: how much of a
    window a batch may take; `beside`: other sessions of its batch run at the same time."""

    batch: str
    pieces: tuple[TaskPiece, ...]
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
        return replace(
            self,
            pieces=tuple(self.pieces[at] for at in kept),
            shares=tuple(self.shares[at] for at in kept),
        )

    @property
    def is_unknown(self) -> bool:
        return any(piece.estimate.is_unknown for piece in self.pieces)

    @property
    def tokens(self) -> int:
        return sum(piece.estimate.tokens for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class SessionResult:
    """How one session of a batch ended."""

    session_id: str
    tasks: tuple[str, ...]
    attempt: int
    result: str
    exit_code: int | None = None
    error: str = ""
    halt: str = ""  # for whom a task waits, or why the plan stops, in the words of the session
    summary: str = ""
    used_tokens: int = 0
    grown_tokens: int = 0
    estimated_tokens: int = 0
    high_tokens: int = 0
    compactions: int = 0
    checkpoint: str = ""
    missing: tuple[str, ...] = ()  # files of its tasks that are not there though done


def run_session(context: RunContext, job: SessionJob, attempt: int, prompt: str) -> SessionResult:
    """Start a session, listen until it has ended, record the result."""
    session_id = str(uuid.uuid4())
    root = context.options.root
    listed = [file for piece in job.pieces for file in piece.task.paths]
    missing_before = find_missing(root, listed)
    running = _start(context, job, session_id, attempt, prompt)
    context.tell(_start_event(job, session_id, attempt))
    reading = _listen(context, job, session_id, running)
    end = running.ending
    verdict = judge(end, job.names)
    if verdict.result != DONE and running.timed_out:
        verdict = replace(verdict, error=TIMED_OUT)
    if not end.is_success and context.stopping:
        verdict = Verdict(STOPPED)
    missing = tuple(_missing_of(job, end, verdict, missing_before, root))
    summary = end.report.summary if end.report else end.words if end.is_success else ""
    result = SessionResult(
        session_id=session_id,
        tasks=job.names,
        attempt=attempt,
        result=verdict.result,
        exit_code=end.exit_code,
        error=verdict.error,
        halt=verdict.halt,
        summary=summary,
        used_tokens=reading.most_tokens,
        grown_tokens=reading.grown_tokens,
        estimated_tokens=job.tokens,
        high_tokens=job.high_tokens,
        compactions=reading.compactions,
        missing=missing,
    )
    record_end(context, result, verdict)
    if end.is_success and end.report is None:
        words = f"gave no report, so its tasks count as done; its last words: {end.words}"
        context.tell(RunEvent("note", words, session_id=session_id))
    return result


def record_end(context: RunContext, result: SessionResult, verdict: Verdict) -> None:
    """Record the end of a session, and remove its note."""
    credited = verdict.done if verdict.result == FAILED else ()
    rare = {
        "credited": [*credited],
        "halt": result.halt,
        "summary": result.summary,
        "missing": [*result.missing],
    }
    context.record(
        "ended",
        session=result.session_id,
        result=result.result,
        exit=result.exit_code,
        error=result.error,
        used_tokens=result.used_tokens,
        grown_tokens=result.grown_tokens,
        **{name: value for name, value in rare.items() if value},
    )
    claude_process.remove_note(context.folder, result.session_id)


def _missing_of(
    job: SessionJob, end: SessionEnd, verdict: Verdict, before: Collection[str], root: Path
) -> Iterator[str]:
    """Files of finished tasks that are not there: of those that the plan lists, only if they were
    not there before either, because a task may be there to remove one."""
    tasks = [job.pieces[at].task for at in verdict.done]
    listed = [file for task in tasks for file in task.paths if file in before]
    reports = [end.task(task.id) for task in tasks]
    written = [file for report in reports if report for file in report.files]
    yield from find_missing(root, [*listed, *written])


def _start(
    context: RunContext, job: SessionJob, session_id: str, attempt: int, prompt: str
) -> ClaudeProcess:
    options = context.options
    note = claude_process.note_path(context.folder, session_id)
    try:
        claude_process.reserve_note(note)
        context.record(
            "started",
            session=session_id,
            batch=job.batch,
            attempt=attempt,
            tasks=[share.as_json() for share in job.shares],
        )
    except (OSError, JournalNotWritten) as error:
        claude_process.remove_note(context.folder, session_id)
        if isinstance(error, OSError):
            raise JournalNotWritten(f"{note}: {error.strerror or error}") from error
        raise
    words = options.command(session_id, job.names)
    try:
        running = ClaudeProcess(session_id, words, prompt, options.root, note, context.lock)
    except OSError as failure:
        error_words = f"it could not be started: {failure.strerror or failure}"
        ended = SessionResult(session_id, job.names, attempt, STOPPED, error=error_words)
        record_end(context, ended, Verdict(STOPPED))
        raise NotStarted(f"no session can be started in {options.root}: {failure}") from failure
    context.running.append(running)
    if options.timeout_seconds is not None:
        running.end_after(options.timeout_seconds)
    if context.stopping:  # the request came while we were starting it
        running.end()
    return running


def _listen(
    context: RunContext, job: SessionJob, session_id: str, running: ClaudeProcess
) -> StreamReading:
    reading, told, waits = StreamReading(), set[str](), False
    since = time.monotonic()

    def note(words: str) -> None:
        context.tell(RunEvent("note", words, session_id=session_id))

    for line in running.lines():
        if not line:
            note(describe_silence(time.monotonic() - since))
            continue
        since = time.monotonic()
        is_reading = reading.hear(line)
        if reading.waits_for and not waits:  # reported once, until there is an answer
            note(reading.waits_for)
        waits = bool(reading.waits_for)
        if is_reading:
            context.tell(_reading_event(job, session_id, reading))
            for what, words in _passed_limits(job, reading).items():
                if what not in told:  # each is reported once
                    told.add(what)
                    note(f"{what}: {words}")
    context.running.remove(running)
    return reading


def _start_event(job: SessionJob, session_id: str, attempt: int) -> RunEvent:
    """The event of the start. It has no words if the event of its batch has named the tasks."""
    words = f"{job.titles}: tried once more" if attempt > 1 else f"{job.titles}: begun"
    words = words if attempt > 1 or job.beside else ""
    return RunEvent("begun", words, job.number, job.count, session_id, job.titles, 0, job.tokens)


def describe_silence(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"has been silent for {minutes:,} minutes; it goes on (--timeout would end it)"


def _reading_event(job: SessionJob, session_id: str, reading: StreamReading) -> RunEvent:
    so_far = f"{reading.grown_tokens:,} of about {job.tokens:,} tokens"
    words = f"{so_far}; {reading.now_tokens:,} in its window"
    used, planned = reading.grown_tokens, job.tokens
    return RunEvent("reading", words, job.number, job.count, session_id, job.titles, used, planned)


def _passed_limits(job: SessionJob, reading: StreamReading) -> dict[str, str]:
    """The limits that the session has passed. It is only reported: a plan is an estimate, and a
    working session is worth more. If its window fills, it compacts, and its hooks save before."""
    passed = {}
    if reading.grown_tokens > job.high_tokens:
        so_far = f"{reading.grown_tokens:,} tokens so far"
        passed["more than planned"] = (
            f"{so_far}, up to {about(job.high_tokens)} were expected; it goes on"
        )
    if reading.most_tokens > job.limit_tokens:
        used = f"{reading.most_tokens:,} tokens used"
        passed["past its share of the window"] = (
            f"{used}, a batch may take {job.limit_tokens:,}; it goes on"
        )
    return passed
