"""The run: settle what the last one left, then batch after batch, a checkpoint after each session.

Batches are planned anew at every run, and after one that took more than expected, from what is left
of the plan; so an edited plan, another model or better estimates are no special case.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

from holdfast.plan.workflow import Workflow
from holdfast.run import exit_note, handover, journal_state, orphans, prompt
from holdfast.run.errors import BatchFailed, Interrupted, TookTooLong
from holdfast.run.events import Event, Played, Report
from holdfast.run.job import Job
from holdfast.run.journal_state import Try
from holdfast.run.run_context import Floor
from holdfast.run.session import TIMED_OUT, play
from holdfast.run.upcoming import Ahead
from holdfast.text.numbers import about, listed

ATTEMPTS = 2
MOST_LISTED = 50


class Conductor:
    def __init__(self, floor: Floor, ahead: Ahead, name: str) -> None:
        self.floor, self.ahead = floor, ahead
        self.report = Report(plan=name, folder=floor.folder, tasks=ahead.tasks)

    def run(self) -> Report:
        """All that is left, or as far as it goes; what is reported holds also when this raises."""
        try:
            self._settle()
            flow = self.flow()
            self.report.done_before = len(flow.done)
            if not flow.batches:
                self.report.state = "nothing"
            with orphans.adopted():
                self._play(flow)
        except BaseException as slip:
            self.report.state = _state_of(slip)
            self.report.error = str(slip)
            raise
        finally:
            self._say_of_journal()
            self.report.left = self.ahead.open_tasks()
        return self.report

    def flow(self) -> Workflow:
        """The workflow of what is left; what is to be noted of it is said."""
        flow = self.ahead.flow()
        for words in flow.warnings[:MOST_LISTED]:
            self._say("note", words)
        more = len(flow.warnings) - MOST_LISTED
        if more > 0:
            self._say(
                "note", f"and {more:,} more notes on the plan: `holdfast plan --json` has all"
            )
        return flow

    def _play(self, flow: Workflow) -> None:
        """Batch after batch. One that took more than its range tells what such work takes: what is
        left is planned anew, lest every session to come is too large."""
        jobs = self.ahead.jobs(flow)
        while (job_list := next(jobs, None)) is not None:
            before = self.ahead.left()
            played = self._batch(job_list)
            over = any(one.grown_tokens > one.high_tokens for one in played)
            if over and self.ahead.left() != before:
                flow = self._anew(flow, job_list[0].batch)
                jobs = self.ahead.jobs(flow)

    def _anew(self, flow: Workflow, done: str) -> Workflow:
        ids = [batch.id for batch in flow.batches]
        expected = ids[ids.index(done) + 1 :]
        found = self.ahead.flow()
        if [batch.id for batch in found.batches] != expected:
            were = f"{len(expected):,} were planned"
            self._say("note", f"planned anew: {len(found.batches):,} batches left, {were}")
        return found

    def _settle(self) -> None:
        """What a run that was killed could not note: how its sessions ended, and their checkpoints.

        The lock is ours, so no supervisor lives: what is not noted now, nobody will.
        """
        floor = self.floor
        self._say_of_journal()
        for one in floor.account.unsettled:
            note = exit_note.read(exit_note.path_of(floor.folder, one.session_id))
            result = journal_state.DONE if note.done else journal_state.STOPPED
            floor.note("ended", session=one.session_id, result=result, exit=note.exit_code)
            ended = (
                "had ended well" if note.done else "was interrupted, and its work is begun again"
            )
            self._say("note", f"session {one.session_id[:8]} of the last run {ended}")
        exit_note.drop_all(floor.folder)
        for one in floor.account.unsaved:
            self._save(one)

    def _say_of_journal(self) -> None:
        notes = self.floor.journal.notes
        while notes:
            self._say("note", notes.pop(0))

    def _batch(self, jobs: Sequence[Job]) -> list[Played]:
        floor, first = self.floor, jobs[0]
        titles = ", ".join(job.titles for job in jobs)
        head = f"batch {first.number} of {first.count}: {titles}"
        floor.tell(Event("batch", head, first.number, first.count))
        workers = min(len(jobs), floor.wishes.max_parallel)
        with ThreadPoolExecutor(workers, "session") as pool:
            under_way = [pool.submit(self._tried, job) for job in jobs]
            wait(under_way)
        ended = [one.result() for one in under_way]
        if floor.stopping:
            raise Interrupted(floor.stopping)
        failed = next((one for one in ended if one and one.result != journal_state.DONE), None)
        if failed is not None:
            slip = TookTooLong if failed.error == TIMED_OUT else BatchFailed
            raise slip(f"batch {first.number} failed, also when tried again: {failed.error}")
        return [one for one in ended if one]

    def _tried(self, job: Job) -> Played | None:
        """Once, and once more with the error what was not done; None where the run was to end
        before it began."""
        ended: Played | None = None
        for attempt in range(1, ATTEMPTS + 1):
            if self.floor.stopping or self.floor.halted:
                return ended
            told = self.ahead.told(job, ended.error if ended else "")
            ended = play(self.floor, job, attempt, prompt.words(job.pieces, told))
            ended = self._ended(job, ended)
            if ended.result == journal_state.DONE:
                return ended
            job = job.without(self.floor.account.tries[ended.session_id].credited)
        self.floor.halted = True
        return ended

    def _ended(self, job: Job, ended: Played) -> Played:
        """Saved if it did anything; told of in any case."""
        self._say_ended(job, ended)
        try:
            one = self.floor.account.tries[ended.session_id]
            if one.done_shares:
                kept = self._save(one)
                ended = replace(ended, checkpoint=kept)
        finally:
            handover.close(ended.session_id)
            self.report.sessions.append(ended)
        return ended

    def _save(self, one: Try) -> str:
        """The checkpoint between two batches; where it stands in the plan is part of it."""
        done = [share.id for share in one.done_shares]
        open_ = self.ahead.open_tasks()
        lines = [
            f"done: {listed(done, MOST_LISTED)}",
            f"left: {listed(open_, MOST_LISTED) or 'nothing'}",
        ]
        kept = handover.checkpoint(
            one.session_id, self.floor.wishes.root, lines, self.floor.clock()
        )
        path = kept.path if kept else None
        self.floor.note("checkpoint", session=one.session_id, path=path)
        if kept is None:
            words = f"session {one.session_id[:8]} left no transcript: the next starts without it"
            self._say("note", words)
            return ""
        words = f"checkpoint {kept.id} kept and read back"
        self.floor.tell(Event("checkpoint", words, session_id=one.session_id))
        return kept.path

    def _say_ended(self, job: Job, ended: Played) -> None:
        words = f"{job.titles}: {ended.result}"
        about_ = f"about {about(ended.estimated_tokens)} expected"
        expected = about_ if ended.estimated_tokens else "its size was not known"
        words += f", {ended.grown_tokens:,} tokens ({expected})"
        words += f"; {ended.error}" if ended.error else ""
        one = self.floor.account.tries[ended.session_id]
        if ended.result != journal_state.DONE and one.done_shares:
            done = listed([share.id for share in one.done_shares], MOST_LISTED)
            words += f"; done all the same: {done}"
        self.floor.tell(Event("session", words, job.number, job.count, ended.session_id))

    def _say(self, kind: str, words: str) -> None:
        self.report.notes.append(words)
        self.floor.tell(Event(kind, words))


def _state_of(slip: BaseException) -> str:
    if isinstance(slip, Interrupted):
        return "interrupted"
    return "failed" if isinstance(slip, BatchFailed) else "stopped"
