"""The run: settle what the last run left, then batch after batch, with a checkpoint per session.

What is left of the plan is planned again at every run and after every batch. So an edited plan,
another model or better estimates are no special case.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from holdfast.brief.compose import DEFAULT_TOKENS
from holdfast.plan.project_files import find_missing
from holdfast.plan.task import TaskPlan
from holdfast.plan.workflow import Workflow
from holdfast.record.user_input import QUOTE
from holdfast.run import claude_process, prompt
from holdfast.run.journal import Ended, Saved, SessionRecord, index_tasks, remove_done, share_of
from holdfast.run.prompt import PromptContext
from holdfast.run.report import DONE, STOPPED
from holdfast.run.session import TIMED_OUT, RunContext, RunEvent, SessionJob, judge, run_session
from holdfast.run.supervisor import end_session
from holdfast.text.numbers import counted, listed, named, short
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

ATTEMPTS = 2
# Python runs a signal handler in the main thread, and a signal does not always interrupt its wait:
# not if it comes just before the wait, nor if the system gives it to another thread. So no wait of
# the main thread is longer than this.
SIGNAL_SECONDS = 0.5
MAX_LISTED = 50
MAX_ISSUES, MAX_ISSUE_CHARS = 3, 200
MIN_BRIEF_TOKENS = 500
FAILED_HINT = "fix what the error names, then run the same command: it goes on with this batch"
TIMEOUT_HINT = "give it longer: --timeout MINUTES; it goes on with this batch"
WAITING_HINT = (
    "when that is settled, write the answer below the task in the plan, and `[x]` before its "
    "words if nothing of it is left to do; then run the same command"
)
INTERRUPTED = "interrupted: every Claude it started has ended, what is done is recorded"
INTERRUPTED_HINT = "run the same command again: it goes on where it was"
Make = Callable[[TaskPlan], Workflow]


class RunStopped(HoldfastError):
    """The run ended before the plan was done. What was done stays done."""

    def __init__(self, state: str, message: str, hint: str, exit_code: int = 1) -> None:
        super().__init__(message, hint, exit_code)
        self.state = state


class JobQueue:
    """The jobs still to run. `make` plans what is left."""

    def __init__(self, context: RunContext, plan: TaskPlan, make: Make) -> None:
        self.plan = plan
        self._context, self._make = context, make
        self._left, self._revision = plan, -1
        self._known = index_tasks(plan)
        self._numbers = number_tasks(plan)

    def left(self) -> TaskPlan:
        """What is not done, worked out once per state of the journal."""
        history = self._context.history
        if history.revision != self._revision:
            self._revision = history.revision
            self._left = remove_done(self.plan, history.coverage())
        return self._left

    def open_tasks(self) -> list[str]:
        return [task.id for task in self.left().tasks if not task.done]

    def flow(self) -> Workflow:
        return self._make(self.left())

    def jobs(self, flow: Workflow) -> Iterator[list[SessionJob]]:
        """The sessions of each batch: one, or one per task if they may run side by side."""
        before = self._context.history.batches_done
        for number, batch in enumerate(flow.batches, start=before + 1):
            parts = [(piece,) for piece in batch.pieces] if batch.parallel else [batch.pieces]
            yield [
                SessionJob(
                    batch_id=batch.id,
                    batch=replace(batch, pieces=pieces),
                    shares=tuple(share_of(piece, self._known) for piece in pieces),
                    number=number,
                    count=before + len(flow.batches),
                    beside=len(parts) > 1,
                )
                for pieces in parts
            ]

    def prompt_context(self, job: SessionJob, error: str = "") -> PromptContext:
        history, options = self._context.history, self._context.options
        earlier = history.half_done(job.shares)
        needs = {name for share in job.shares for name in self._needs(share.id)}
        sources = [*([earlier] if earlier else []), *history.before(needs)]
        # a session that did a part of the work is in both
        once = {record.session_id: record for record in sources}
        return PromptContext(
            title=self.plan.title,
            rules=self.plan.description,
            number=job.number,
            count=job.count,
            beside=job.beside,
            again=earlier is not None,
            error=error or (earlier.ended.error if earlier else ""),
            missing=tuple(find_missing(options.root, history.missing())),
            briefs=tuple(_briefs([*once.values()])),
            numbers=self._numbers,
            tasks=self.left().tasks,
            settled=tuple(task for task in self.plan.tasks if task.done and task.description),
        )

    def _needs(self, name: str) -> tuple[str, ...]:
        task = self._known[name]
        return (*task.depends, *self._known[task.spec].depends)


def number_tasks(plan: TaskPlan) -> dict[str, int]:
    """The number of each task: its place in the plan, or its id if all ids are numbers."""
    ids = [task.id for task in plan.tasks]
    if all(name.isdecimal() for name in ids):
        return {name: int(name) for name in ids}
    return {name: at for at, name in enumerate(ids, start=1)}


def _briefs(sources: Sequence[SessionRecord]) -> Iterator[str]:
    """What earlier sessions report, with their briefs, which share the room of one brief."""
    for record in sources:
        tokens = max(MIN_BRIEF_TOKENS, DEFAULT_TOKENS // len(sources))
        told = record.ended.summary
        if brief := prompt.compose_brief(record.session_id, tokens):
            yield (f"{QUOTE}It reported: {told}\n" if told else "") + brief


@dataclass(slots=True)
class RunReport:
    """The result. `state`: done, nothing (to do), waiting, failed, interrupted, or stopped."""

    plan: str
    folder: str
    state: str = "done"
    tasks: int = 0  # of the plan
    done_before: int = 0  # of these
    sessions: list[SessionRecord] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # ids of tasks
    notes: list[str] = field(default_factory=list)
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        sessions = [record.as_json() for record in self.sessions]
        return {"version": 1, **asdict(self), "sessions": sessions}


class Runner:
    def __init__(self, context: RunContext, queue: JobQueue, name: str) -> None:
        self.context, self.queue = context, queue
        self.report = RunReport(name, context.folder, tasks=len(queue.plan.tasks))

    def run(self) -> RunReport:
        """Run what is left of the plan. The report is also valid if this raises."""
        try:
            self._settle()
            flow = self.flow()
            self.report.done_before = len(flow.done)
            if not flow.batches:
                self.report.state = "nothing"
            while flow.batches:
                done = self.context.history.coverage()
                self._run_batch(next(self.queue.jobs(flow)))
                if self.context.history.coverage() == done:
                    words = "a batch ended, but it completed no task of the plan"
                    raise RunStopped("failed", words, FAILED_HINT)
                flow = self.queue.flow()
            claude_process.remove_notes(self.context.folder)
        except BaseException as error:
            self.report.state = getattr(error, "state", "stopped")
            self.report.error = str(error)
            raise
        finally:
            self.report.left = self.queue.open_tasks()
        return self.report

    def flow(self) -> Workflow:
        """The workflow of what is left. Its warnings are reported."""
        flow = self.queue.flow()
        for words in flow.warnings:
            self._say("note", words)
        return flow

    def _settle(self) -> None:
        """Record what a killed run could not: how its sessions ended, and their checkpoints. What
        is left of them is ended first. We hold the lock, so nobody else does this."""
        context = self.context
        for words in context.journal.notes:
            self._say("note", words)
        for record in context.history.unsettled:
            session = record.session_id
            end_session(session)
            end = claude_process.read_note(claude_process.note_path(context.folder, session))
            ended = judge(session, end, [share.name for share in record.shares])
            if not end.is_success:
                ended = Ended(session, STOPPED, exit=end.exit_code)
            context.record(ended)
            words = "had ended well" if end.is_success else "was interrupted; its work starts again"
            self._say("note", f"session {session[:8]} of the last run {words}")
        claude_process.remove_notes(context.folder)
        for record in context.history.unsaved:
            self._save(record)

    def _run_batch(self, jobs: Sequence[SessionJob]) -> None:
        context, first = self.context, jobs[0]
        titles = ", ".join(job.titles for job in jobs)
        head = f"batch {first.number} of {first.count}: {titles}"
        context.tell(RunEvent("batch", head, first.number, first.count))
        workers = min(len(jobs), context.options.max_parallel)
        with ThreadPoolExecutor(workers, "session") as pool:
            under_way = [pool.submit(self._try_job, job) for job in jobs]
            while wait(under_way, SIGNAL_SECONDS).not_done:
                pass
        ends = [end for future in under_way if (end := future.result())]
        if context.stopping:
            code = context.stopping + 128  # as shells do
            raise RunStopped("interrupted", INTERRUPTED, INTERRUPTED_HINT, code)
        failed = next((end for end in ends if end.result != DONE), None)
        if failed is not None and failed.halt:
            words = f"batch {first.number} waits: {failed.halt}"
            raise RunStopped("waiting", words, WAITING_HINT)
        if failed is not None:
            words = f"batch {first.number} failed, also when tried again: {failed.error}"
            hint = TIMEOUT_HINT if failed.error == TIMED_OUT else FAILED_HINT
            raise RunStopped("failed", words, hint)

    def _try_job(self, job: SessionJob) -> Ended | None:
        """Run a job; what failed is tried once more, with the error in the prompt, unless it waits
        for a person. None if the run was stopped before."""
        ended: Ended | None = None
        for attempt in range(1, ATTEMPTS + 1):
            if self.context.stopping or self.context.halted:
                return ended
            context = self.queue.prompt_context(job, ended.error if ended else "")
            words = prompt.write_prompt(job.pieces, context)
            record = run_session(self.context, job, attempt, words)
            self._finish(job, record)
            ended = record.ended
            if ended.result == DONE:
                return ended
            if ended.halt:
                break
            job = job.without(ended.credited)
        self.context.halted = True
        return ended

    def _finish(self, job: SessionJob, record: SessionRecord) -> None:
        self._report_end(job, record)
        try:
            if record.done_shares:
                self._save(record)
        finally:
            places.close_window(places.window(record.session_id))
            self.report.sessions.append(self.context.history.tries[record.session_id])

    def _save(self, record: SessionRecord) -> None:
        """Save the checkpoint between two batches, with what of the plan is done and left."""
        context, session = self.context, record.session_id[:8]
        done = [share.id for share in record.done_shares]
        lines = [
            f"done: {listed(done, MAX_LISTED)}",
            f"left: {listed(self.queue.open_tasks(), MAX_LISTED) or 'nothing'}",
        ]
        saved = prompt.save_checkpoint(
            record.session_id, context.options.root, lines, context.clock()
        )
        context.record(Saved(record.session_id, saved.path if saved else None))
        if saved is None:
            self._say("note", f"session {session} left no transcript; the next starts without it")
            return
        words = f"checkpoint {saved.id} saved and read back"
        context.tell(RunEvent("checkpoint", words, session_id=record.session_id))
        if issues := saved.document.sections.get("Active Issues"):
            some = "; ".join(short(named(line), MAX_ISSUE_CHARS) for line in issues[:MAX_ISSUES])
            self._say("note", f"session {session} left open: {some}")

    def _report_end(self, job: SessionJob, record: SessionRecord) -> None:
        ended = record.ended
        words = f"{job.titles}: {'waiting' if ended.halt else ended.result}"
        expected = f"about {job.batch.tokens:,} expected"
        words += f", {counted(ended.grown_tokens, 'token')} ({expected})"
        words += f"; {ended.error}" if ended.error else ""
        if ended.credited:
            done = listed([share.id for share in record.done_shares], MAX_LISTED)
            words += f"; done nevertheless: {done}"
        self.context.tell(RunEvent("session", words, job.number, job.count, record.session_id))
        if ended.missing:
            names = listed([named(file) for file in ended.missing], MAX_LISTED)
            self._say("note", f"not there, though reported as done: {names}; it goes on")

    def _say(self, kind: str, words: str) -> None:
        self.report.notes.append(words)
        self.context.tell(RunEvent(kind, words))
