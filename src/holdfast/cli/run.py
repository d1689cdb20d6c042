"""`holdfast run`: the batches of a plan, one after the other, with headless Claude."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import isnan
from pathlib import Path

import click

from holdfast.cli import run_report
from holdfast.cli.plan import A_ROOM, room_for_run
from holdfast.cli.run_report import report_after, show_dry_run, show_progress
from holdfast.cli.terminal import working
from holdfast.client.settings_files import transcripts_folder
from holdfast.hub.row_times import now_ms
from holdfast.plan import estimate
from holdfast.plan.load import load_plan
from holdfast.plan.planner import make_workflow
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import TaskPlan
from holdfast.plan.workflow import Workflow
from holdfast.run import claude_process, journal
from holdfast.run.claude_process import ClaudeProgram, NoClient
from holdfast.run.journal import Journal, journal_folder, read_history
from holdfast.run.runner import JobQueue, Make, Runner
from holdfast.run.session import RunContext, RunEvent, RunOptions, Tell
from holdfast.settings import load as settings_load
from holdfast.text.numbers import silent
from holdfast.wire.errors import HoldfastError

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
MOST_MINUTES = 525_600  # a year; the system's timers cannot wait for much longer


def _no_nan(
    context: click.Context, parameter: click.Parameter, value: float | None
) -> float | None:
    if value is not None and isnan(value):
        raise click.BadParameter("nan is not a number of minutes", context, parameter)
    return value


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("client_args", nargs=-1, type=click.UNPROCESSED, metavar="[-- CLIENT_ARGS]")
@click.option("--dry-run", is_flag=True, help="Show what would run, and start nothing.")
@click.option("--status", is_flag=True, help="Show the progress, also while it runs.")
@click.option("--json", "as_plain", is_flag=True, help="Print JSON at the end.")
@click.option("--model", default="", metavar="MODEL", help="Passed to Claude Code.")
@click.option(
    "--max-parallel",
    metavar="N",
    type=click.IntRange(1, 16),
    default=1,
    show_default=True,
    help="Sessions at the same time, where a batch allows it.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=MOST_MINUTES),
    callback=_no_nan,
    metavar="MINUTES",
    help="Time limit of a session; then it is ended and tried once more.",
)
@click.option("--room", "room_tokens", type=A_ROOM, help="Tokens that a batch may take.")
@click.option("--client-binary", type=click.Path(path_type=Path), help="The `claude` to run.")
@click.option(
    "--project",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=".",
    help="The folder to work in (default: this folder).",
)
def run(
    file: Path,
    client_args: tuple[str, ...],
    dry_run: bool,
    status: bool,
    as_plain: bool,
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
      holdfast run plan.md --dry-run                      what would be started
      holdfast run plan.md -- --allowedTools Bash,Edit    start, or resume
    """
    if claude_process.is_nested(os.environ) and not status:
        words = "this session was itself started by `holdfast run`"
        raise HoldfastError(words, "end this session, and run `holdfast run` outside of it", 3)
    claude_process.check_options(client_args)
    if str(file) == "-":
        raise click.UsageError(
            "a plan to run must be a file: a later run finds its state by the path"
        )
    root = project.resolve()
    folder = journal_folder(file, root)
    known = read_history(Journal(folder, only_read=True))
    plan = load_plan(file, root, known.spread())
    if status:
        return run_report.show_status(plan, known, file, root, folder, as_plain)
    client = _client(client_binary, dry_run)
    settings = settings_load.load(str(root))
    options = RunOptions(
        root=root,
        client=client,
        model=model,
        extra=client_args,
        max_parallel=max_parallel,
        timeout_seconds=timeout and timeout * 60,
    )
    room = room_for_run(settings, root, model, room_tokens, now_ms())
    make = _make(root, room, dry_run, max_parallel > 1)  # a run has bars of its own
    if dry_run:
        context = _context(options, folder, Journal(folder, only_read=True))
        runner = Runner(context, JobQueue(context, plan, make), str(file))
        show_dry_run(runner, room, client.warning, as_plain)
        return
    with (
        report_after(as_plain) as reports,
        show_progress(quiet=as_plain) as tell,
        journal.hold_plan(folder) as lock,
    ):
        if client.warning:
            tell(RunEvent("note", client.warning))
        context = _context(options, folder, Journal(folder), lock, tell)
        runner = Runner(context, JobQueue(context, plan, make), str(file))
        reports.append(runner.report)
        with _ended_by_signals(context):
            runner.run()


def _context(
    options: RunOptions,
    folder: str,
    journal: Journal,
    lock: int = -1,
    tell: Tell = lambda event: None,
) -> RunContext:
    return RunContext(options, folder, journal, read_history(journal), lock, tell, now_ms)


def _client(named: Path | None, dry_run: bool) -> ClaudeProgram:
    """Find Claude Code. A dry run starts nothing, so it works without it."""
    try:
        return claude_process.find(named)
    except NoClient as error:
        if not dry_run:
            raise
        return ClaudeProgram(str(named or "claude"), f"{error}; `holdfast run` needs it")


def _make(root: Path, room: PlanRoom, talks: bool, side_by_side: bool) -> Make:
    """What plans the rest. Estimates use past requests, including those of this run."""

    def make(plan: TaskPlan) -> Workflow:
        with working("planning") if talks else nullcontext(silent) as progress:
            known = estimate.learn(root, transcripts_folder(), progress=progress)
            return make_workflow(plan, room, known, root, progress, side_by_side)

    return make


@contextmanager
def _ended_by_signals(context: RunContext) -> Iterator[None]:
    """End the children first on Ctrl-C and similar signals; the run then ends by itself.

    Signals ignored at start-up (under `nohup`, or in a background job of a script) stay ignored.
    """

    def hear(number: int, frame: object) -> None:
        context.stop(number)

    caught = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, hear) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
