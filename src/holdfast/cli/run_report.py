"""What `holdfast run` would do, its progress (a bar on a terminal, plain lines elsewhere; always on
stderr), how far a run has come according to its journal, and its result.

Nothing is started, waited for or written here.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import Any

import click

from holdfast.cli.terminal import say, unfiltered
from holdfast.plan.project_files import find_missing
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.record.user_input import TERMS
from holdfast.redact import redact_each
from holdfast.run import claude_process, journal, journal_state, prompt
from holdfast.run.journal_state import RunHistory, SessionRecord, remove_done
from holdfast.run.report import DONE, FAILED, STOPPED, WAITING
from holdfast.run.runner import MAX_LISTED, Runner, RunReport
from holdfast.run.session import RunEvent, SessionJob, Tell
from holdfast.text.numbers import about, counted, listed, named, nothing_left, short
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

SHOWN_CHARS = 160
NO_PERMISSIONS = (
    "no permissions are given, and nobody can answer Claude Code's questions: a session can do "
    "only what your settings allow. To let it edit and run commands, add "
    f"-- {claude_process.PERMISSIONS}; --permission-mode acceptEdits alone lets it only edit"
)


def show_dry_run(runner: Runner, room: PlanRoom, warning: str, as_plain: bool) -> None:
    flow = runner.flow()
    batches = list(runner.queue.jobs(flow))
    if as_plain:
        if warning:
            say(f"  note: {named(warning)}", err=True)
        listed = [_plain(runner, job) for batch in batches for job in batch]
        click.echo(json.dumps(redact_each(listed), indent=2))
        return
    say(f"room: {room.fresh_tokens:,} tokens a batch ({room.basis})")
    if batches:
        _show_common(runner)
    for batch in batches:
        for job in batch:
            _show(runner, job, batch)
    if not batches:
        say(nothing_left(len(flow.done)))
    options = runner.context.options
    permitted = claude_process.gives_permissions(options.extra)
    for words in filter(
        None, (warning, "" if permitted or not batches else NO_PERMISSIONS, *runner.report.notes)
    ):
        say(f"  note: {named(words)}", err=True)


def _plain(runner: Runner, job: SessionJob) -> dict[str, object]:
    return {
        "batch": job.number,
        "of": job.count,
        "beside": job.beside,
        "tasks": list(job.names),
        "estimated_tokens": job.batch.tokens,
        "high_tokens": job.batch.high_tokens,
        "command": runner.context.options.command("SESSION", job.names),
        "prompt": _prompt(runner, job),
    }


def _show_common(runner: Runner) -> None:
    """Print what is the same for every session: its command, the plan's title and rules, and what
    "done" means."""
    short = (
        "shown in part; with --dry-run --json you see every prompt whole."
        " What earlier sessions found is added when they have run"
    )
    say(f"\nevery session ({short})\n  $ {inert(shlex.join(_command(runner)))}")
    _quote(prompt.name_batch("N", "M", runner.queue.plan.title))
    for line in prompt.quote_rules(runner.queue.plan.description):
        say(f"  > {named(line)}")
    titles = "… the titles of all tasks: which are done, which are its own …"
    for line in (titles, "… its tasks …", *prompt.DONE.splitlines()):
        _quote(line)


def _show(runner: Runner, job: SessionJob, batch: list[SessionJob]) -> None:
    beside = f", one of {len(batch)} side by side" if len(batch) > 1 else ""
    wide = job.batch.high_tokens > job.batch.tokens
    upper = f", range up to {about(job.batch.high_tokens)}" if wide else ""
    size = f"about {job.batch.tokens:,} tokens{upper}"
    size += " (of unknown size)" if job.batch.is_unknown else ""
    say(f"\nbatch {job.number} of {job.count}{beside}: {size}")
    context = runner.queue.prompt_context(job)
    own = prompt.write_prompt(job.pieces, replace(context, rules="", tasks=(), briefs=()))
    for line in own.partition(TERMS)[0].splitlines()[1:]:  # the first one is in the line above
        _quote(line)
    if context.briefs:
        briefs = counted(len(context.briefs), "brief")
        _quote(f"… and, after all tasks, {briefs} of sessions before")


def _quote(line: str) -> None:
    """Show a line of a prompt, cut after a word."""
    if line.strip():
        blanks = len(line) - len(line.lstrip())
        say(f"  > {' ' * blanks}{shorten(named(line), SHOWN_CHARS, placeholder=' …')}")


def _prompt(runner: Runner, job: SessionJob) -> str:
    return prompt.write_prompt(job.pieces, runner.queue.prompt_context(job))


def _command(runner: Runner) -> list[str]:
    """The command, with the schema of the report left out: it differs by task."""
    command = runner.context.options.command("SESSION", ["TASK"])
    return ["SCHEMA" if word.startswith("{") else word for word in command]


VERSION = 1
AT_WORK, BROKEN_OFF, LEFT = "at work", "broken off", "left"
MOST_SHOWN = 200  # tasks; the rest is a number


def show_status(
    plan: TaskPlan, known: RunHistory, file: Path, root: Path, folder: str, as_plain: bool
) -> None:
    found = _build_status(plan, known, journal.is_running(folder)) | {
        "plan": str(file),
        "folder": folder,
        "missing": find_missing(root, known.missing()),
    }
    if as_plain:
        click.echo(json.dumps({"version": VERSION, **found}, indent=2))
        return
    states = [task["state"] for task in found["tasks"]]
    head = f"{states.count(DONE):,} of {counted(len(states), 'task')} done"
    say(f"{named(plan.title) or file}: {head}, {_describe_state(found)}")
    for task in found["tasks"][:MOST_SHOWN]:
        say(f"  {task['state']:<10}  {_line(task, found['sessions'])}")
    if len(states) > MOST_SHOWN:
        say(f"  and {len(states) - MOST_SHOWN:,} more: --json has all")
    _say_missing(found["missing"])


def _build_status(plan: TaskPlan, known: RunHistory, at_work: bool) -> dict[str, Any]:
    now, tries_of = remove_done(plan, known.coverage()), _by_task(known)
    hashes = {name: task.hash for name, task in journal_state.index_tasks(plan).items()}
    tasks = []
    for task in now.tasks:
        tries = tries_of[task.id]
        state = DONE if task.done else _state(task.id, tries, at_work, hashes)
        ids = [attempt.session_id for attempt in tries]
        tasks.append(
            {"id": task.id, "title": task.title, "state": state, **_steps(task), "sessions": ids}
        )
    sessions = [_session(session, at_work) for session in known.sessions]
    return {"at_work": at_work, "tasks": tasks, "sessions": sessions}


def _by_task(known: RunHistory) -> defaultdict[str, list[SessionRecord]]:
    """Return the sessions that worked on each task, in order."""
    found: defaultdict[str, list[SessionRecord]] = defaultdict(list)
    for session in known.sessions:
        for name in session.specs:
            found[name].append(session)
    return found


def _steps(task: PlanTask) -> dict[str, int]:
    """Count the steps of a task, and those that are done; in a done task, all are."""
    done = sum(task.done or step.done for step in task.subtasks)
    return {"steps": len(task.subtasks), "steps_done": done}


def _state(
    task_id: str, tries: list[SessionRecord], at_work: bool, hashes: Mapping[str, str]
) -> str:
    """Return the state of a task that is not done, by the last session that worked on it. It no
    longer waits if its text has changed: somebody wrote the answer below it."""
    last = tries[-1].result if tries else DONE
    if not last:
        return AT_WORK if at_work else BROKEN_OFF
    if tries and tries[-1].ended.halt:
        waiting = [
            share for share in tries[-1].waiting_shares if hashes.get(share.id) == share.hash
        ]
        names = {name for one in waiting for name in (one.id, one.id.partition("/")[0])}
        return WAITING if task_id in names else LEFT
    return {FAILED: FAILED, STOPPED: BROKEN_OFF}.get(last, LEFT)


def _session(one: SessionRecord, at_work: bool) -> dict[str, Any]:
    found = one.as_json()
    return found | {"result": one.result or (AT_WORK if at_work else STOPPED)}


def _describe_state(found: dict[str, Any]) -> str:
    if found["at_work"]:
        return "running now"
    states = {task["state"] for task in found["tasks"]}
    if states <= {DONE}:
        return "nothing left"
    if WAITING in states:
        return "waiting; write the answer below the task in the plan, then run `holdfast run` again"
    return "not running; run `holdfast run` again to resume" if found["sessions"] else "not started"


def _line(task: dict[str, Any], sessions: list[dict[str, Any]]) -> str:
    """Return the task's title, and the result of its last session."""
    mine = [session for session in sessions if session["session_id"] in task["sessions"][-1:]]
    parts = [short(named(task["title"]), 100)]
    if task["steps_done"] and task["state"] != DONE:
        parts[0] += f", {task['steps_done']:,} of {counted(task['steps'], 'step')} done"
    for one in mine:
        # if the task is done or left, the error is about another task of the session
        is_its_own = task["state"] not in (DONE, LEFT)
        words = one["halt"] or one["error"] if is_its_own else ""
        error = f": {inert(words, 200)}" if words else ""
        parts.append(f"(session {one['session_id'][:8]}{_size(one)}){error}")
    return " ".join(parts)


def _size(session: dict[str, Any]) -> str:
    """Return what the session's work took, as the run reported it."""
    many = len(session["tasks"])
    of = f" for {many:,} tasks" if many > 1 else ""
    return f", {counted(session['grown_tokens'], 'token')}{of}" if session["grown_tokens"] else ""


@contextmanager
def report_after(as_plain: bool) -> Iterator[list[RunReport]]:
    """Print the result once the bar is gone."""
    reports: list[RunReport] = []
    try:
        yield reports
    except HoldfastError:
        with suppress(OSError):  # if it cannot be printed, the exit code still tells
            _tell_end(reports, as_plain)
        raise
    with suppress(BrokenPipeError):  # the reader is gone, and success needs no report
        _tell_end(reports, as_plain)


def _tell_end(reports: list[RunReport], as_plain: bool) -> None:
    for report in reports:
        if as_plain:
            click.echo(json.dumps(report.as_json(), indent=2))
        else:
            _tell(report)


def _tell(report: RunReport) -> None:
    tasks, sessions = counted(report.tasks, "task"), counted(len(report.sessions), "session")
    if report.state == "nothing":
        say(nothing_left(report.done_before))
    elif report.state == "done":
        new = counted(report.tasks - report.done_before, "task")
        say(f"done: {new}, {sessions} of Claude in this run; nothing left")
        _say_missing([file for session in report.sessions for file in session.ended.missing])
    else:
        done = report.tasks - len(report.left)
        say(f"{report.state}: {done:,} of {tasks} done, {sessions} of Claude in this run")
    with suppress(OSError):
        say(f"journal: {report.folder}/journal.jsonl", err=True)


def _say_missing(files: list[str]) -> None:
    if files:
        names = listed([named(file) for file in dict.fromkeys(files)], MAX_LISTED)
        say(f"not there, though reported as done: {names}")


SESSION_CHARS, MOST_NAME = 8, 24


@contextmanager
def show_progress(quiet: bool) -> Iterator[Tell]:
    """Show progress; only notes if `quiet`."""
    if sys.stderr.isatty() and not quiet:
        with _bars() as tell:
            yield _until_it_fails(tell)
    else:
        yield _until_it_fails(_show_note if quiet else _show_line)


@contextmanager
def _bars() -> Iterator[Tell]:
    """Show a bar for the plan, and one for each session while it works. They end without an error
    if the terminal is gone."""
    from rich import progress
    from rich.console import Console

    console = Console(file=unfiltered(sys.stderr), highlight=False, markup=False)
    columns = progress.TextColumn("{task.description}"), progress.BarColumn()
    words = progress.TextColumn("{task.fields[words]}"), progress.TimeElapsedColumn()
    bars = progress.Progress(*columns, *words, console=console, transient=True)
    tasks: dict[str, progress.TaskID] = {}  # by session; that of the plan has no name

    def show(key: str, name: str, text: str, done: int = 0, total: int | None = None) -> None:
        if key not in tasks:
            tasks[key] = bars.add_task(name, total=total, words="")
        bars.update(tasks[key], completed=done, total=total, words=text, refresh=True)

    def tell(event: RunEvent) -> None:
        session = event.session_id
        if event.kind == "reading":
            total = max(event.planned_tokens, event.used_tokens)
            return show(session, "", inert(event.words), event.used_tokens, total)
        if event.kind == "batch":
            done, total = event.number - 1, event.count
            show("", "plan", f"{done} of {counted(total, 'batch')}", done, total)
        if event.kind == "begun":
            name = f"{session[:SESSION_CHARS]} {short(event.titles, MOST_NAME)}"
            show(session, inert(name), "no answer yet")
        if event.kind == "session" and session in tasks:
            bars.remove_task(tasks.pop(session))
        if event.words:
            console.print(progress_line(event))

    bars.start()
    try:
        yield tell
    finally:
        with suppress(OSError):
            bars.stop()


def _until_it_fails(tell: Tell) -> Tell:
    """Keep the run going without progress if it cannot be written any more (a closed pipe or
    terminal, a full disk)."""
    lost = False

    def safely(event: RunEvent) -> None:
        nonlocal lost
        if not lost:
            try:
                tell(event)
            except OSError:
                lost = True

    return safely


def _show_line(event: RunEvent) -> None:
    """Print events as lines, without readings: there is one with every answer."""
    if event.kind != "reading" and event.words:
        say(progress_line(event), err=True)


def _show_note(event: RunEvent) -> None:
    if event.kind == "note":
        say(progress_line(event), err=True)


def progress_line(event: RunEvent) -> str:
    words = inert(event.words, 2000)
    if event.kind == "batch":
        return words
    session = f"{event.session_id[:SESSION_CHARS]} " if event.session_id else ""
    return f"  {'note: ' if event.kind == 'note' else ''}{session}{words}"
