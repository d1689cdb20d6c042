"""One session from its start to its noted end: nothing is started that is not in the journal."""

from __future__ import annotations

import os
import time
import uuid

from holdfast.run import claude, exit_note, journal_state, orphans
from holdfast.run.child_process import Child
from holdfast.run.errors import NotNoted, NotStarted
from holdfast.run.events import Event, Played
from holdfast.run.exit_note import Note
from holdfast.run.job import Job, credited_of
from holdfast.run.run_context import Floor
from holdfast.run.stream import Heard, quoted, quoted_end
from holdfast.text.numbers import about

TIMED_OUT = "it took longer than --timeout allows and was ended"


def play(floor: Floor, job: Job, attempt: int, prompt: str) -> Played:
    """Start it, listen until it has ended, note what came of it."""
    session_id = str(uuid.uuid4())
    running = _start(floor, job, session_id, attempt, prompt)
    floor.tell(_begun(job, session_id, attempt))
    heard = _listen(floor, job, session_id, running)
    note = running.noted()
    errors = running.last_errors()
    result = _result(floor, note)
    error = _error(running, note, heard, errors) if result == journal_state.FAILED else ""
    credited = credited_of(job.pieces, note, heard.not_done)
    floor.note(
        "ended",
        session=session_id,
        result=result,
        exit=note.exit_code,
        error=error,
        used_tokens=heard.most_tokens,
        grown_tokens=heard.grown_tokens,
        **({"credited": credited} if credited else {}),
    )
    exit_note.drop(floor.folder, session_id)
    return Played(
        session_id=session_id,
        tasks=job.names,
        attempt=attempt,
        result=result,
        exit_code=note.exit_code,
        error=error,
        used_tokens=heard.most_tokens,
        grown_tokens=heard.grown_tokens,
        estimated_tokens=0 if job.is_unknown else job.tokens,
        high_tokens=job.high_tokens,
        compactions=heard.compactions,
    )


def _start(floor: Floor, job: Job, session_id: str, attempt: int, prompt: str) -> Child:
    wishes, note = floor.wishes, _laid_out(floor, session_id)
    try:
        floor.note(
            "started",
            session=session_id,
            batch=job.batch,
            attempt=attempt,
            tasks=[share.as_json() for share in job.shares],
        )
    except NotNoted:
        os.close(note)
        exit_note.drop(floor.folder, session_id)
        raise
    words = claude.command(
        wishes.client, session_id, wishes.model, wishes.permission_mode, wishes.extra
    )
    environ = claude.environment(os.environ)
    try:
        found = floor.start(lambda: Child(words, prompt, wishes.root, environ, note, floor.lock))
    except OSError as slip:
        error = f"it could not be started: {slip.strerror or slip}"
        floor.note(
            "ended", session=session_id, result=journal_state.STOPPED, exit=None, error=error
        )
        exit_note.drop(floor.folder, session_id)
        raise NotStarted(f"no session can be started in {wishes.root}: {slip}") from slip
    if wishes.timeout_seconds is not None:
        found.end_after(wishes.timeout_seconds)
    if floor.stopping:  # asked while we were starting it
        found.end()
    return found


def _laid_out(floor: Floor, session_id: str) -> int:
    path = exit_note.path_of(floor.folder, session_id)
    try:
        return exit_note.lay_out(path)
    except OSError as slip:
        exit_note.drop(floor.folder, session_id)
        raise NotNoted(f"{path}: {slip.strerror or slip}") from slip


def _listen(floor: Floor, job: Job, session_id: str, running: Child) -> Heard:
    heard, said, waits = Heard(), set[str](), False
    since = time.monotonic()
    for line in running.lines():
        if not line:
            floor.tell(Event("note", _quiet(time.monotonic() - since), session_id=session_id))
            continue
        since = time.monotonic()
        is_reading = heard.hear(line)
        if heard.waits_for and not waits:  # once, until there is an answer
            floor.tell(Event("note", heard.waits_for, session_id=session_id))
        waits = bool(heard.waits_for)
        if is_reading:
            floor.tell(_reading(job, session_id, heard))
            for what, words in _passed(job, heard).items():
                if what not in said:  # once each, with the number it was first passed by
                    said.add(what)
                    floor.tell(Event("note", f"{what}: {words}", session_id=session_id))
    floor.running.remove(running)
    if running.supervisor_died:
        orphans.end(floor.strays)
    return heard


def _begun(job: Job, session_id: str, attempt: int) -> Event:
    """Without words where those of its batch have said so."""
    words = f"{job.titles}: tried once more" if attempt > 1 else f"{job.titles}: begun"
    words = words if attempt > 1 or job.beside else ""
    return Event("begun", words, job.number, job.count, session_id, job.titles, 0, job.tokens)


def _quiet(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"has said nothing for {minutes:,} minutes; it goes on (--timeout would end it)"


def _reading(job: Job, session_id: str, heard: Heard) -> Event:
    expected = "" if job.is_unknown else f" of about {about(job.tokens)}"
    so_far = f"{heard.grown_tokens:,}{expected} tokens"
    words = f"{so_far}; {heard.now_tokens:,} in its window"
    used, planned = heard.grown_tokens, job.tokens
    return Event("reading", words, job.number, job.count, session_id, job.titles, used, planned)


def _passed(job: Job, heard: Heard) -> dict[str, str]:
    """A plan is an estimate, and a session that works is worth more than a plan kept: it is said
    and goes on; should its window fill, it compacts, and its hooks save before."""
    found = {}
    if heard.grown_tokens > job.high_tokens:
        so_far = f"{heard.grown_tokens:,} tokens so far"
        found["more than planned"] = (
            f"{so_far}, up to {about(job.high_tokens)} were expected; it goes on"
        )
    if heard.most_tokens > job.limit_tokens:
        used = f"{heard.most_tokens:,} tokens used"
        found["past its share of the window"] = (
            f"{used}, a batch may take {job.limit_tokens:,}; it goes on"
        )
    return found


def _result(floor: Floor, note: Note) -> str:
    if note.done:
        return journal_state.DONE
    return journal_state.STOPPED if floor.stopping else journal_state.FAILED


def _error(running: Child, note: Note, heard: Heard, errors: str) -> str:
    if running.timed_out:
        return TIMED_OUT
    ended = "nobody knows how it ended" if note.exit_code is None else f"exit {note.exit_code}"
    if note.not_done:
        ended = f"not done, by its own word: {', '.join(heard.not_done)}"
    words = heard.words or quoted_end(errors) or "it gave no result"
    named = f" ({quoted(note.result)})" if note.result not in ("", exit_note.SUCCESS) else ""
    return f"{quoted(ended)}{named}: {words}"
