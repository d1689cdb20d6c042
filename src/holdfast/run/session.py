"""One session from its start to its recorded end. Nothing starts that is not in the journal.

What the running Claude Code reports line by line gives its fill and its result. The format is not
ours: lines that do not fit are ignored.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.redact import redact
from holdfast.run import claude_command, claude_process, journal_state
from holdfast.run.claude_process import ClaudeProcess, ExitNote
from holdfast.run.errors import JournalNotWritten, NotStarted
from holdfast.run.jobs import (
    SessionJob,
    find_credited,
    find_missing,
    name_tasks,
    without_dependents,
)
from holdfast.run.run_context import RunContext, RunEvent, SessionResult
from holdfast.run.session_report import SessionReport, read_report
from holdfast.run.supervisor import find_claims
from holdfast.text import fence
from holdfast.text.numbers import about, listed

USAGE = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)
MAX_QUOTE_CHARS = 500
MAX_NAMED = 20
MAX_REPORT_CHARS = 20_000  # the end of it: some layouts take time that grows faster than that
MissingFiles = Mapping[int, Sequence[str]]  # by the position of the task


@dataclass(slots=True)
class StreamReading:
    """What a session has reported so far. `first_tokens`: its window before any work;
    `most_tokens`: its window at its fullest."""

    names: tuple[tuple[str, ...], ...] = ()  # what each of its tasks may be called
    first_tokens: int = 0
    most_tokens: int = 0
    now_tokens: int = 0
    compactions: int = 0
    result: str = ""
    words: str = ""  # the result's text, sanitized and short, from the reason on if it gives one
    report: SessionReport = field(default_factory=SessionReport)  # its result, sanitized and short
    waits_for: str = ""  # why there is no answer, and how often it was tried; empty after an answer

    @property
    def grown_tokens(self) -> int:
        return max(0, self.most_tokens - self.first_tokens)

    def hear(self, line: bytes) -> bool:
        """Read one line; true if it reports how full the window is."""
        event = _event(line)
        kind = event.get("type")
        if kind == "system" and event.get("subtype") == "compact_boundary":
            self.compactions += 1
        if kind == "system" and event.get("subtype") == "api_retry":
            self.waits_for = _waits_for(event)
        if kind == "result":
            self.result = str(event.get("subtype", ""))
            words = _words(event)
            found = self._read_report(words)
            self.words = quote(found.reason) or quote(words)
            named = tuple(map(quote, found.named[:MAX_NAMED]))
            self.report = replace(found, named=named, reason="", halt=quote(found.halt))
        if kind != "assistant" or event.get("parent_tool_use_id"):
            return False  # a subagent has a window of its own
        return self._take(_tokens(event))

    def _read_report(self, words: str) -> SessionReport:
        """Read the end of a report. If something is called not done before it, all tasks are."""
        found = read_report(words[-MAX_REPORT_CHARS:], self.names)
        if find_claims(words[:-MAX_REPORT_CHARS]):
            every = tuple(range(len(self.names)))
            found = replace(found, undone=every, named=found.named or ("?",))
        return found

    def _take(self, tokens: tuple[int, int]) -> bool:
        total, sent = tokens
        if not total:
            return False
        self.first_tokens = self.first_tokens or sent
        self.now_tokens, self.waits_for = total, ""
        self.most_tokens = max(self.most_tokens, total)
        return True


def quote(text: str) -> str:
    """Foreign text on one line, without secrets and control characters."""
    return fence.flat(redact(text[: MAX_QUOTE_CHARS * 8]), MAX_QUOTE_CHARS)


def quote_end(text: str) -> str:
    """The end of an error text, where the cause usually is."""
    words = fence.flat(redact(text), len(text) + 1)
    return words if len(words) <= MAX_QUOTE_CHARS else f"… {words[-MAX_QUOTE_CHARS:].lstrip()}"


def _words(event: dict[str, Any]) -> str:
    """The answer, or the client's error if there is none."""
    errors = event.get("errors")
    listed = "; ".join(map(str, errors)) if isinstance(errors, list) else ""
    return str(event.get("result") or event.get("error") or listed)


def _waits_for(event: dict[str, Any]) -> str:
    status, error = event.get("error_status"), quote(str(event.get("error") or ""))
    what = f"the API answered {status}" if type(status) is int else "the API does not answer"
    why = f" ({error})" if error not in ("", "unknown") else ""
    tries = f"{event.get('attempt', '?')!s:.4} of {event.get('max_retries', '?')!s:.4}"
    return f"{what}{why}; Claude Code tries again, {tries}"


def _event(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _tokens(event: dict[str, Any]) -> tuple[int, int]:
    """The tokens in the window after one answer, and how many of them were sent."""
    message = event.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if not isinstance(usage, dict):
        return 0, 0
    numbers = [usage.get(name) for name in USAGE]
    known = [n if type(n) is int and 0 <= n < 1 << 40 else 0 for n in numbers]
    return sum(known), sum(known[:3])


TIMED_OUT = "it took longer than --timeout allows and was ended"


def run_session(context: RunContext, job: SessionJob, attempt: int, prompt: str) -> SessionResult:
    """Start a session, listen until it has ended, record the result."""
    session_id = str(uuid.uuid4())
    root = context.options.root
    missing_before = find_missing(job.pieces, root)
    running = _start(context, job, session_id, attempt, prompt)
    context.tell(_start_event(job, session_id, attempt))
    reading = _listen(context, job, session_id, running)
    note = running.read_exit_note()
    errors = running.last_errors()
    result = _result(context, note, reading)
    error = _error(running, note, reading, errors) if result == journal_state.FAILED else ""
    credited = find_credited(job.pieces, note, reading.report)
    missing = _still_missing(missing_before, find_missing(job.pieces, root))
    if missing and result == journal_state.DONE and attempt == 1:
        # The next session creates them, or says that the task needs none; its word then stands.
        result, error = journal_state.FAILED, _describe_missing(missing)
        credited = without_dependents(job.pieces, missing)
    halt = reading.report.halt if error else ""
    unwritten = list(_list_missing(missing)) if result == journal_state.DONE else []
    rare = {"credited": credited, "halt": halt, "missing": unwritten}
    context.record(
        "ended",
        session=session_id,
        result=result,
        exit=note.exit_code,
        error=error,
        used_tokens=reading.most_tokens,
        grown_tokens=reading.grown_tokens,
        **{name: value for name, value in rare.items() if value},
    )
    claude_process.remove_note(context.folder, session_id)
    return SessionResult(
        session_id=session_id,
        tasks=job.names,
        attempt=attempt,
        result=result,
        exit_code=note.exit_code,
        error=error,
        halt=halt,
        used_tokens=reading.most_tokens,
        grown_tokens=reading.grown_tokens,
        estimated_tokens=0 if job.is_unknown else job.tokens,
        high_tokens=job.high_tokens,
        compactions=reading.compactions,
        missing=tuple(unwritten),
    )


def _still_missing(before: MissingFiles, after: MissingFiles) -> MissingFiles:
    """The files that were not there before the session either: another may be there to be
    removed."""
    still = {
        at: [file for file in files if file in before.get(at, ())] for at, files in after.items()
    }
    return {at: files for at, files in still.items() if files}


def _describe_missing(missing: MissingFiles) -> str:
    names = list(_list_missing(missing))
    verb = "is" if len(names) == 1 else "are"
    only = "create only what a task asks for"
    return quote(f"it reports all as done, but {listed(names, MAX_NAMED)} {verb} not there; {only}")


def _list_missing(missing: MissingFiles) -> Iterator[str]:
    yield from dict.fromkeys(file for files in missing.values() for file in files)


def _start(
    context: RunContext, job: SessionJob, session_id: str, attempt: int, prompt: str
) -> ClaudeProcess:
    options, note = context.options, _create_note(context, session_id)
    try:
        context.record(
            "started",
            session=session_id,
            batch=job.batch,
            attempt=attempt,
            tasks=[share.as_json() for share in job.shares],
        )
    except JournalNotWritten:
        os.close(note)
        claude_process.remove_note(context.folder, session_id)
        raise
    words = claude_command.build_command(
        options.client, session_id, options.model, options.permission_mode, options.extra
    )
    environ = claude_command.build_environment(os.environ)
    try:
        found = context.start(
            lambda: ClaudeProcess(words, prompt, options.root, environ, note, context.lock)
        )
    except OSError as failure:
        error = f"it could not be started: {failure.strerror or failure}"
        context.record(
            "ended", session=session_id, result=journal_state.STOPPED, exit=None, error=error
        )
        claude_process.remove_note(context.folder, session_id)
        raise NotStarted(f"no session can be started in {options.root}: {failure}") from failure
    if options.timeout_seconds is not None:
        found.end_after(options.timeout_seconds)
    if context.stopping:  # the request came while we were starting it
        found.end()
    return found


def _create_note(context: RunContext, session_id: str) -> int:
    path = claude_process.note_path(context.folder, session_id)
    try:
        return claude_process.create_note(path)
    except OSError as error:
        claude_process.remove_note(context.folder, session_id)
        raise JournalNotWritten(f"{path}: {error.strerror or error}") from error


def _listen(
    context: RunContext, job: SessionJob, session_id: str, running: ClaudeProcess
) -> StreamReading:
    reading, said, waits = StreamReading(name_tasks(job)), set[str](), False
    since = time.monotonic()
    for line in running.lines():
        if not line:
            context.tell(
                RunEvent("note", describe_silence(time.monotonic() - since), session_id=session_id)
            )
            continue
        since = time.monotonic()
        is_reading = reading.hear(line)
        if reading.waits_for and not waits:  # reported once, until there is an answer
            context.tell(RunEvent("note", reading.waits_for, session_id=session_id))
        waits = bool(reading.waits_for)
        if is_reading:
            context.tell(_reading_event(job, session_id, reading))
            for what, words in _passed_limits(job, reading).items():
                if what not in said:  # each is reported once
                    said.add(what)
                    context.tell(RunEvent("note", f"{what}: {words}", session_id=session_id))
    context.running.remove(running)
    if running.supervisor_died:
        claude_process.end_strays(context.strays)
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
    expected = "" if job.is_unknown else f" of about {job.shown_tokens:,}"
    so_far = f"{reading.grown_tokens:,}{expected} tokens"
    words = f"{so_far}; {reading.now_tokens:,} in its window"
    used, planned = reading.grown_tokens, job.tokens
    return RunEvent("reading", words, job.number, job.count, session_id, job.titles, used, planned)


def _passed_limits(job: SessionJob, reading: StreamReading) -> dict[str, str]:
    """The limits that the session has passed. It is only reported: a plan is an estimate, and a
    working session is worth more. If its window fills, it compacts, and its hooks save before."""
    found = {}
    if reading.grown_tokens > job.high_tokens:
        so_far = f"{reading.grown_tokens:,} tokens so far"
        found["more than planned"] = (
            f"{so_far}, up to {about(job.high_tokens)} were expected; it goes on"
        )
    if reading.most_tokens > job.limit_tokens:
        used = f"{reading.most_tokens:,} tokens used"
        found["past its share of the window"] = (
            f"{used}, a batch may take {job.limit_tokens:,}; it goes on"
        )
    return found


def _result(context: RunContext, note: ExitNote, reading: StreamReading) -> str:
    names_undone = reading.report.undone if reading.result else note.not_done
    if note.is_success and not names_undone:
        return journal_state.DONE
    return journal_state.STOPPED if context.stopping else journal_state.FAILED


def _error(running: ClaudeProcess, note: ExitNote, reading: StreamReading, errors: str) -> str:
    if running.timed_out:
        return TIMED_OUT
    ended = "it is not known how it ended" if note.exit_code is None else f"exit {note.exit_code}"
    if reading.report.undone:
        ended = f"it reports as not done: {', '.join(reading.report.named)}"
    words = reading.words or quote_end(errors) or "it gave no result"
    named = f" ({quote(note.result)})" if note.result not in ("", claude_process.SUCCESS) else ""
    return f"{quote(ended)}{named}: {words}"
