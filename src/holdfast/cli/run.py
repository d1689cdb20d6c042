"""`holdfast run`: the batches of a plan with headless Claude: what it would do, its progress (a bar
on a terminal, plain lines elsewhere, on stderr), and its result."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import click

from holdfast.cli.options import AS_JSON, FILE, PROJECT, flag
from holdfast.cli.plan import ROOM, room_for_run, show_notes
from holdfast.cli.terminal import print_json, say, unfiltered, working
from holdfast.client.claude_folder import transcripts_folder
from holdfast.hub.row_times import now_ms
from holdfast.plan import estimate
from holdfast.plan.load import load_plan
from holdfast.plan.planner import make_workflow
from holdfast.plan.project_files import find_missing
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import TaskPlan
from holdfast.plan.workflow import Workflow
from holdfast.redact.find import redact_each
from holdfast.run import claude_process, journal, prompt
from holdfast.run.claude_process import ClaudeProgram, NoClient
from holdfast.run.journal import (
    Journal,
    RunHistory,
    SessionRecord,
    journal_folder,
    read_history,
    remove_done,
)
from holdfast.run.report import DONE, FAILED, STOPPED, WAITING
from holdfast.run.runner import MAX_LISTED, JobQueue, Runner, RunReport
from holdfast.run.session import RunContext, RunEvent, RunOptions, SessionJob, Tell
from holdfast.settings import load as settings_load
from holdfast.text.numbers import counted, listed, named, nothing_left, short, silent
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MINUTES = click.FloatRange(min=0, min_open=True)
YEAR_SECONDS = 31_536_000.0  # the system's timers cannot wait for much longer
BESIDE = click.IntRange(1, 16)


@click.command()
@click.argument("file", type=FILE)
@click.argument("client_args", nargs=-1, type=click.UNPROCESSED, metavar="[-- CLIENT_ARGS]")
@flag("--dry-run", help="Show what would run, and start nothing.")
@flag("--status", help="Show the progress, also while it runs.")
@AS_JSON
@click.option("--model", default="", metavar="MODEL", help="Passed to Claude Code.")
@click.option("--max-parallel", type=BESIDE, default=1, help="Sessions at the same time, up to 16.")
@click.option("--timeout", type=MINUTES, metavar="MINUTES", help="End a session after this time.")
@ROOM
@click.option("--client-binary", type=FILE, help="The `claude` to run.")
@PROJECT
def run(
    file: Path,
    client_args: tuple[str, ...],
    dry_run: bool,
    status: bool,
    as_json: bool,
    model: str,
    max_parallel: int,
    timeout: float | None,
    room_tokens: int | None,
    client_binary: Path | None,
    project: Path,
) -> None:
    """Run a plan with headless Claude. Run it again to resume.

    FILE is a plan as for `holdfast plan`. Each batch gets a Claude Code session of its own. What
    follows `--` is passed to Claude Code.

    \b
    Examples:
      holdfast run plan.md --dry-run                          what it would start
      holdfast run plan.md -- --allowedTools Bash,Edit,Write  start, or resume
    """
    if claude_process.is_nested(os.environ) and not status:
        words = "this session was itself started by `holdfast run`"
        raise HoldfastError(words, "end this session, and run `holdfast run` outside of it", 3)
    claude_process.check_options(client_args)
    if str(file) == "-":
        raise click.UsageError("a plan to run is a file: a later run finds its state by the path")
    root = project.resolve()
    folder = journal_folder(file, root)
    known = read_history(Journal(folder, only_read=True))
    plan = load_plan(file, root, known.spread())
    if status:
        return show_status(plan, known, file, root, folder, as_json)
    try:
        client = claude_process.find(client_binary)
    except NoClient as error:
        if not dry_run:  # which starts nothing, so it works without Claude Code
            raise
        client = ClaudeProgram(str(client_binary or "claude"), f"{error}; `holdfast run` needs it")
    settings = settings_load.load(str(root))
    seconds = min(YEAR_SECONDS, timeout * 60) if timeout else None  # nan is a year, too
    options = RunOptions(root, client, model, client_args, max_parallel, seconds)
    room = room_for_run(settings, root, model, room_tokens, now_ms())

    def make(rest: TaskPlan) -> Workflow:
        """Plan the rest. Estimates use past requests, including those of this run."""
        # a run has bars of its own
        with working("planning") if dry_run else nullcontext(silent) as progress:
            past_tasks = estimate.learn(root, transcripts_folder(), progress=progress)
            return make_workflow(rest, room, past_tasks, root, progress, max_parallel > 1)

    def runner(entries: Journal, lock: int, tell: Tell) -> Runner:
        history = read_history(entries)
        context = RunContext(options, folder, entries, history, lock, tell, now_ms)
        return Runner(context, JobQueue(context, plan, make), str(file))

    if dry_run:
        planned = runner(Journal(folder, only_read=True), -1, lambda event: None)
        return show_dry_run(planned, room, client.warning, as_json)
    with (
        report_after(as_json) as reports,
        show_progress(quiet=as_json) as tell,
        journal.hold_plan(folder) as lock,
    ):
        if client.warning:
            tell(RunEvent("note", client.warning))
        started = runner(Journal(folder), lock, tell)
        reports.append(started.report)
        with _ended_by_signals(started.context):
            started.run()


@contextmanager
def _ended_by_signals(context: RunContext) -> Iterator[None]:
    """End the children first on Ctrl-C and similar signals; the run then ends by itself.

    Signals ignored at start-up (under `nohup`, or in a background job of a script) stay ignored.
    """
    caught = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, lambda one, _: context.stop(one)) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


NO_PERMISSIONS = (
    "no permissions are given, and nobody can answer Claude Code's questions: a session can do "
    "only what your settings allow. To let it edit and run commands, add "
    f"-- {claude_process.PERMISSIONS}; --permission-mode acceptEdits alone lets it only edit"
)


def show_dry_run(runner: Runner, room: PlanRoom, warning: str, as_plain: bool) -> None:
    """Print every batch with its tasks, then the command and the prompt of the first session."""
    flow = runner.flow()
    jobs = [job for batch in runner.queue.jobs(flow) for job in batch]
    if as_plain:
        print_json(redact_each([_plain(runner, job) for job in jobs]))
        return show_notes([warning])
    say(f"room: {room.fresh_tokens:,} tokens a batch ({room.basis})")
    for job in jobs:
        beside = ", beside others" if job.beside else ""
        size = f"about {job.batch.tokens:,} tokens{' (unknown)' * job.batch.is_unknown}"
        say(f"batch {job.number} of {job.count}{beside}: {size}")
        for piece in job.pieces:
            say(f"  - {named(piece.task.shown)}")
    if not jobs:
        say(nothing_left(len(flow.done)))
    else:
        say("\nthe first session (--json has the prompt of every one; reports are added later)")
        # without the schema of the report, which differs by task
        words = runner.context.options.command("SESSION", ["TASK"])
        command = ["SCHEMA" if word.startswith("{") else word for word in words]
        say(f"  $ {inert(shlex.join(command))}")
        for line in _prompt(runner, jobs[0]).splitlines():
            say(f"  > {named(line)}")
    permitted = not jobs or claude_process.gives_permissions(runner.context.options.extra)
    show_notes([warning, "" if permitted else NO_PERMISSIONS, *runner.report.notes])


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


def _prompt(runner: Runner, job: SessionJob) -> str:
    return prompt.write_prompt(job.pieces, runner.queue.prompt_context(job))


VERSION = 1
AT_WORK, BROKEN_OFF, LEFT = "at work", "broken off", "left"


def show_status(
    plan: TaskPlan, known: RunHistory, file: Path, root: Path, folder: str, as_plain: bool
) -> None:
    status = _build_status(plan, known, journal.is_running(folder))
    missing = find_missing(root, known.missing())
    if as_plain:
        about = {"version": VERSION, "plan": str(file), "folder": folder, "missing": missing}
        return print_json(about | status)
    states = [task["state"] for task in status["tasks"]]
    head = f"{states.count(DONE):,} of {counted(len(states), 'task')} done"
    say(f"{named(plan.title) or file}: {head}, {_describe_state(status)}")
    by_id = {session["session_id"]: session for session in status["sessions"]}
    for task in status["tasks"]:
        last = by_id[task["sessions"][-1]] if task["sessions"] else None
        say(f"  {task['state']:<10}  {_line(task, last)}")
    _say_missing(missing)


def _build_status(plan: TaskPlan, known: RunHistory, at_work: bool) -> dict[str, Any]:
    now = remove_done(plan, known.coverage())
    tries_of = {
        task.id: [session for session in known.sessions if task.id in session.specs]
        for task in now.tasks
    }
    hashes = {name: task.hash for name, task in journal.index_tasks(plan).items()}
    tasks = [
        {
            "id": task.id,
            "title": task.title,
            "state": DONE if task.done else _state(task.id, tries_of[task.id], at_work, hashes),
            "steps": len(task.subtasks),
            "steps_done": sum(task.done or step.done for step in task.subtasks),
            "sessions": [attempt.session_id for attempt in tries_of[task.id]],
        }
        for task in now.tasks
    ]
    unended = AT_WORK if at_work else STOPPED
    sessions = [
        session.as_json() | {"result": session.result or unended} for session in known.sessions
    ]
    return {"at_work": at_work, "tasks": tasks, "sessions": sessions}


def _state(
    task_id: str, tries: list[SessionRecord], at_work: bool, hashes: Mapping[str, str]
) -> str:
    """Return the state of a task that is not done, by the last session that worked on it. It no
    longer waits if its text has changed: somebody wrote the answer below it."""
    last = tries[-1].result if tries else DONE
    if not last:
        return AT_WORK if at_work else BROKEN_OFF
    if tries and tries[-1].ended.halt:
        waits = any(
            task_id in (share.id, share.id.partition("/")[0])
            for share in tries[-1].waiting_shares
            if hashes.get(share.id) == share.hash
        )
        return WAITING if waits else LEFT
    return {FAILED: FAILED, STOPPED: BROKEN_OFF}.get(last, LEFT)


def _describe_state(status: dict[str, Any]) -> str:
    if status["at_work"]:
        return "running now"
    states = {task["state"] for task in status["tasks"]}
    if states <= {DONE}:
        return "nothing left"
    if WAITING in states:
        return "waiting; write the answer below the task in the plan, then run `holdfast run` again"
    again = "not running; run `holdfast run` again to resume"
    return again if status["sessions"] else "not started"


def _line(task: dict[str, Any], session: dict[str, Any] | None) -> str:
    title = short(named(task["title"]), 100)
    if task["steps_done"] and task["state"] != DONE:
        title += f", {task['steps_done']:,} of {counted(task['steps'], 'step')} done"
    if session is None:
        return title
    size = f", {counted(session['grown_tokens'], 'token')}" if session["grown_tokens"] else ""
    title += f" (session {session['session_id'][:8]}{size})"
    # if the task is done or left, the error is about another task of the session
    words = "" if task["state"] in (DONE, LEFT) else session["halt"] or session["error"]
    return f"{title}: {inert(words, 200)}" if words else title


@contextmanager
def report_after(as_plain: bool) -> Iterator[list[RunReport]]:
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
        print_json(report.as_json()) if as_plain else _tell(report)


def _tell(report: RunReport) -> None:
    tasks, sessions = counted(report.tasks, "task"), counted(len(report.sessions), "session")
    if report.state == "nothing":
        say(nothing_left(report.done_before))
    else:
        done = report.tasks - len(report.left)
        say(f"{report.state}: {done:,} of {tasks} done, {sessions} of Claude in this run")
        _say_missing([file for session in report.sessions for file in session.ended.missing])
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
        return

    def show_line(event: RunEvent) -> None:
        is_shown = event.kind == "note" if quiet else event.kind != "reading" and event.words
        if is_shown:
            say(progress_line(event), err=True)

    yield _until_it_fails(show_line)


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


def progress_line(event: RunEvent) -> str:
    words = inert(event.words, 2000)
    if event.kind == "batch":
        return words
    session = f"{event.session_id[:SESSION_CHARS]} " if event.session_id else ""
    return f"  {'note: ' if event.kind == 'note' else ''}{session}{words}"
