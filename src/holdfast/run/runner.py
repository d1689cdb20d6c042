"""The run: settle what the last run left, then batch after batch, with a checkpoint per session.

Batches are planned again at every run, and after a batch that took more than expected, from what is
left of the plan. So an edited plan, another model or better estimates are no special case.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

from holdfast.plan.workflow import Workflow
from holdfast.run import claude_process, journal_state, prompt
from holdfast.run.errors import BatchFailed, BatchTimedOut, Interrupted, PlanWaits
from holdfast.run.jobs import JobQueue, SessionJob
from holdfast.run.journal_state import SessionRecord
from holdfast.run.run_context import RunContext, RunEvent, RunReport, SessionResult
from holdfast.run.session import TIMED_OUT, run_session
from holdfast.text.numbers import counted, listed, named, short

ATTEMPTS = 2
# Python runs a signal handler in the main thread, and a signal does not always interrupt its wait:
# not if it comes just before the wait, nor if the system gives it to another thread. So no wait of
# the main thread is longer than this.
SIGNAL_SECONDS = 0.5
MAX_LISTED = 50
MAX_ISSUES, MAX_ISSUE_CHARS = 3, 200


class Runner:
    def __init__(self, context: RunContext, queue: JobQueue, name: str) -> None:
        self.context, self.queue = context, queue
        self.report = RunReport(plan=name, folder=context.folder, tasks=queue.tasks)

    def run(self) -> RunReport:
        """Run what is left of the plan. The report is also valid if this raises."""
        try:
            self._settle()
            flow = self.flow()
            self.report.done_before = len(flow.done)
            if not flow.batches:
                self.report.state = "nothing"
            with claude_process.adopt_orphans():
                self._run_batches(flow)
        except BaseException as error:
            self.report.state = _state_of(error)
            self.report.error = str(error)
            raise
        finally:
            self._report_journal_notes()
            self.report.left = self.queue.open_tasks()
        return self.report

    def flow(self) -> Workflow:
        """The workflow of what is left. Its warnings are reported."""
        flow = self.queue.flow()
        for words in flow.warnings[:MAX_LISTED]:
            self._say("note", words)
        more = len(flow.warnings) - MAX_LISTED
        if more > 0:
            self._say(
                "note", f"and {more:,} more notes on the plan: `holdfast plan --json` has all"
            )
        return flow

    def _run_batches(self, flow: Workflow) -> None:
        """Run batch after batch. After one that took more than its range, the rest is planned
        again: otherwise every further session would be too large."""
        jobs = self.queue.jobs(flow)
        while (job_list := next(jobs, None)) is not None:
            before = self.queue.left()
            played = self._run_batch(job_list)
            over = any(one.grown_tokens > one.high_tokens for one in played)
            if over and self.queue.left() != before:
                flow = self._plan_again(flow, job_list[0].batch)
                jobs = self.queue.jobs(flow)

    def _plan_again(self, flow: Workflow, done: str) -> Workflow:
        ids = [batch.id for batch in flow.batches]
        expected = ids[ids.index(done) + 1 :]
        found = self.queue.flow()
        if found.batches:
            left = f"{counted(len(found.batches), 'batch')} left ({len(expected):,} planned before)"
            why = "planned again, because this batch took more than its range"
            self._say("note", f"{why}: {left}, {found.size}")
        return found

    def _settle(self) -> None:
        """Record what a killed run could not: how its sessions ended, and their checkpoints.

        We hold the lock, so no supervisor lives and nobody else will record it.
        """
        context = self.context
        self._report_journal_notes()
        for one in context.history.unsettled:
            note = claude_process.read_note(
                claude_process.note_path(context.folder, one.session_id)
            )
            result = journal_state.DONE if note.done else journal_state.STOPPED
            context.record("ended", session=one.session_id, result=result, exit=note.exit_code)
            ended = "had ended well" if note.done else "was interrupted; its work starts again"
            self._say("note", f"session {one.session_id[:8]} of the last run {ended}")
        claude_process.remove_notes(context.folder)
        for one in context.history.unsaved:
            self._save(one)

    def _report_journal_notes(self) -> None:
        notes = self.context.journal.notes
        while notes:
            self._say("note", notes.pop(0))

    def _run_batch(self, jobs: Sequence[SessionJob]) -> list[SessionResult]:
        context, first = self.context, jobs[0]
        titles = ", ".join(job.titles for job in jobs)
        head = f"batch {first.number} of {first.count}: {titles}"
        context.tell(RunEvent("batch", head, first.number, first.count))
        workers = min(len(jobs), context.options.max_parallel)
        with ThreadPoolExecutor(workers, "session") as pool:
            under_way = [pool.submit(self._try_job, job) for job in jobs]
            while wait(under_way, SIGNAL_SECONDS).not_done:
                pass
        ended = [one.result() for one in under_way]
        if context.stopping:
            raise Interrupted(context.stopping)
        failed = next((one for one in ended if one and one.result != journal_state.DONE), None)
        if failed is not None and failed.halt:
            raise PlanWaits(f"batch {first.number} ends the run: {failed.halt}")
        if failed is not None:
            error = BatchTimedOut if failed.error == TIMED_OUT else BatchFailed
            raise error(f"batch {first.number} failed, also when tried again: {failed.error}")
        return [one for one in ended if one]

    def _try_job(self, job: SessionJob) -> SessionResult | None:
        """Run a job; if it fails, run what was not done once more, with the error in the prompt. A
        task that waits for a person is not tried again. None if the run was stopped before the job
        started."""
        ended: SessionResult | None = None
        for attempt in range(1, ATTEMPTS + 1):
            if self.context.stopping or self.context.halted:
                return ended
            context = self.queue.prompt_context(job, ended.error if ended else "")
            ended = run_session(
                self.context, job, attempt, prompt.write_prompt(job.pieces, context)
            )
            ended = self._finish(job, ended)
            if ended.result == journal_state.DONE:
                return ended
            if ended.halt:
                break
            job = job.without(self.context.history.tries[ended.session_id].credited)
        self.context.halted = True
        return ended

    def _finish(self, job: SessionJob, ended: SessionResult) -> SessionResult:
        """Report the end of a session, and save a checkpoint if it did anything."""
        self._report_end(job, ended)
        try:
            one = self.context.history.tries[ended.session_id]
            if one.done_shares:
                kept = self._save(one)
                ended = replace(ended, checkpoint=kept)
        finally:
            prompt.close_window(ended.session_id)
            self.report.sessions.append(ended)
        return ended

    def _save(self, one: SessionRecord) -> str:
        """Save the checkpoint between two batches, with what of the plan is done and left."""
        done = [share.id for share in one.done_shares]
        open_ = self.queue.open_tasks()
        lines = [
            f"done: {listed(done, MAX_LISTED)}",
            f"left: {listed(open_, MAX_LISTED) or 'nothing'}",
        ]
        kept = prompt.save_checkpoint(
            one.session_id, self.context.options.root, lines, self.context.clock()
        )
        path = kept.path if kept else None
        self.context.record("checkpoint", session=one.session_id, path=path)
        if kept is None:
            words = f"session {one.session_id[:8]} left no transcript; the next starts without it"
            self._say("note", words)
            return ""
        words = f"checkpoint {kept.id} saved and read back"
        self.context.tell(RunEvent("checkpoint", words, session_id=one.session_id))
        if issues := kept.document.sections.get("Active Issues"):
            some = "; ".join(short(named(line), MAX_ISSUE_CHARS) for line in issues[:MAX_ISSUES])
            self._say("note", f"session {one.session_id[:8]} left open: {some}")
        return kept.path

    def _report_end(self, job: SessionJob, ended: SessionResult) -> None:
        words = f"{job.titles}: {'waiting' if ended.halt else ended.result}"
        about_ = f"about {job.shown_tokens:,} expected"
        expected = "its size was not known" if job.is_unknown else about_
        words += f", {counted(ended.grown_tokens, 'token')} ({expected})"
        words += f"; {ended.error}" if ended.error else ""
        one = self.context.history.tries[ended.session_id]
        if ended.result != journal_state.DONE and one.done_shares:
            done = listed([share.id for share in one.done_shares], MAX_LISTED)
            words += f"; done nevertheless: {done}"
        if ended.missing:
            names = listed([named(file) for file in ended.missing], MAX_LISTED)
            words += f"; not there, though reported as done: {names}"
        self.context.tell(RunEvent("session", words, job.number, job.count, ended.session_id))

    def _say(self, kind: str, words: str) -> None:
        self.report.notes.append(words)
        self.context.tell(RunEvent(kind, words))


def _state_of(error: BaseException) -> str:
    if isinstance(error, Interrupted):
        return "interrupted"
    if isinstance(error, PlanWaits):
        return "waiting"
    return "failed" if isinstance(error, BatchFailed) else "stopped"
