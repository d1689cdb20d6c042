"""`holdfast install` and `holdfast uninstall`: show the change, ask, make it, say how to undo."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from holdfast.cli import install_dialog
from holdfast.cli.install_dialog import (
    events,
    in_one_line,
    leave_checkpoints,
    say_what_stays,
)
from holdfast.cli.terminal import say
from holdfast.client import agents
from holdfast.files.executable import typed_command
from holdfast.setup import changes
from holdfast.setup import install as installing
from holdfast.setup.errors import ChangedMeanwhile, LeftBehind
from holdfast.setup.install import InstallPlan
from holdfast.setup.installs import other_places
from holdfast.setup.receipts import our_packages
from holdfast.setup.targets import SCOPES, Target, hooks_target, settings_target
from holdfast.setup.wiring import server_entry
from holdfast.wire import places

Command = Callable[..., Any]
ARCHIVE_CHARS, LEAST_ARCHIVED = 8_000, 4_000

_OPTIONS = (
    click.option(
        "--scope",
        type=click.Choice(SCOPES),
        default="user",
        show_default=True,
        help="Whose settings: yours, a project's, or yours for one project.",
    ),
    click.option(
        "--project",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=".",
        help="The project, for --scope project and local.  [default: this folder]",
    ),
    click.option(
        "--agent",
        type=click.Choice([one.name for one in agents.AGENTS if one.can_install]),
        default=agents.AGENTS[0].name,
        show_default=True,
        help="Whose hooks; those of others than Claude Code are for all your projects.",
    ),
    click.option(
        "--yes", is_flag=True, help="Do not ask; print a summary instead of the whole change."
    ),
    click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
)


def _place_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_place_options
@click.option("--force", is_flag=True, help="Install although another Holdfast is installed.")
@click.option(
    "--archive-outputs",
    "archive_chars",
    type=click.IntRange(0, 1_000_000),
    is_flag=False,
    flag_value=ARCHIVE_CHARS,
    metavar="CHARS",
    help=f"Archive tool outputs longer than CHARS ({ARCHIVE_CHARS:,}) and show the model a preview;"
    " 0 turns it off.",
)
@click.option(
    "--archive-transcripts/--no-archive-transcripts",
    "archive_transcripts",
    default=None,
    help="Keep copies of transcripts after Claude Code deletes its own.",
)
@click.option("--status-line", is_flag=True, help="Only the status line; a plugin cannot set it.")
@click.option("--no-mcp", is_flag=True, help="Without the MCP server; removes it if it is there.")
def install(
    scope: str,
    project: Path,
    agent: str,
    yes: bool,
    dry_run: bool,
    force: bool,
    archive_chars: int | None,
    archive_transcripts: bool | None,
    status_line: bool,
    no_mcp: bool,
) -> None:
    """Wire hooks, status line, MCP server and /holdfast: commands into Claude Code."""
    ours = _ours()
    target = settings_target(
        scope,
        Path(places.user_home()),
        project.resolve(),
        our_packages(ours),
        server=not no_mcp,
        archive_chars=_bound(archive_chars),
        only_status_line=status_line,
    )
    if agents.named(agent).hooks_name:
        target = hooks_target(agents.named(agent), our_packages(ours))

    def look() -> InstallPlan:
        home, both = Path(places.user_home()), force or status_line
        return installing.plan_install(target, home, ours, force=both)

    plan = first_look(look)
    if _confirm(target, plan, yes, dry_run):
        plan = _make(plan, look, ours)
        if not plan.is_nothing:
            _say_done(plan, "Installed.", f"Undo: {typed_command()} uninstall{target.words}")
            _say_next(target)
    if plan.is_nothing:
        _tidy(plan, ours, dry_run)
        say(f"Already installed in {target.anchor}; nothing to change.")
    _say_notes(plan.notes)
    if not dry_run:
        install_dialog.settle(archive_transcripts, may_ask=not yes)


@click.command()
@_place_options
@click.option(
    "--checkpoints",
    is_flag=True,
    help="Instead: list the checkpoint folders in your projects; with --yes, remove them.",
)
def uninstall(
    scope: str,
    project: Path,
    agent: str,
    yes: bool,
    dry_run: bool,
    checkpoints: bool,
) -> None:
    """Take out of Claude Code what `install` put there, and nothing else."""
    if checkpoints:
        leave_checkpoints(go=yes and not dry_run)
        return
    ours = _ours()
    home = Path(places.user_home())
    target = settings_target(scope, home, project.resolve(), our_packages(ours))
    if agents.named(agent).hooks_name:
        target = hooks_target(agents.named(agent), our_packages(ours))

    def look() -> InstallPlan:
        return installing.plan_uninstall(target, Path(places.user_home()), ours)

    plan, notes = first_look(look), tuple[str, ...]()
    if _confirm(target, plan, yes, dry_run):
        plan = _make(plan, look, ours)
        if not plan.is_nothing:
            done = "Uninstalled, but for what is named below." if plan.left else "Uninstalled."
            _say_done(plan, done, f"Undo: {typed_command()} install{target.words}")
    if plan.is_nothing:
        _tidy(plan, ours, dry_run)
    if plan.is_nothing and not plan.left:
        say(f"Not installed in {target.anchor}; nothing to change.")
        packages = our_packages(ours)
        notes = tuple(other_places(target, Path(places.user_home()), project.resolve(), packages))
    _say_notes(plan.notes + notes + (plan.left if dry_run else ()))
    say_what_stays()
    if plan.left and not dry_run:
        raise LeftBehind("; ".join(plan.left))


def _bound(chars: int | None) -> int | None:
    """Check the size from which outputs are archived. A preview takes about 3,000 characters
    itself, so a smaller size gains nothing."""
    if chars is not None and 0 < chars < LEAST_ARCHIVED:
        raise click.BadParameter(f"{LEAST_ARCHIVED:,} or more, or 0", param_hint="CHARS")
    return chars


def _ours() -> Path:
    ours = Path(places.home()).absolute()
    changes.check_home(ours)
    return ours


def first_look(look: Callable[[], InstallPlan]) -> InstallPlan:
    """Plan without the lock, because a question to the user may follow. A folder that another
    install or uninstall removes just then is planned for again."""
    try:
        return look()
    except FileNotFoundError:
        return look()


def _make(shown: InstallPlan, look: Callable[[], InstallPlan], ours: Path) -> InstallPlan:
    """Make the changes that were shown, and no others: the files may have changed while we
    asked."""
    with changes.only_one(ours):
        plan = look()
        if not plan.is_nothing and plan.shown != shown.shown:
            raise ChangedMeanwhile("the files were changed by someone else just now")
        installing.apply(plan)
    return plan


def _tidy(plan: InstallPlan, ours: Path, dry_run: bool) -> None:
    """Remove what a killed run left behind, also if there is nothing else to do."""
    if plan.debris and not dry_run:
        with changes.only_one(ours):
            installing.clear_debris(plan)
        say("Removed what a run that was killed had left behind.")


def _confirm(target: Target, plan: InstallPlan, yes: bool, dry_run: bool) -> bool:
    """Show the change and ask; a no ends the command with exit code 1.

    On a terminal, only the size of the change in each file is shown: the full text would scroll
    away.
    """
    if plan.is_nothing:
        return False
    if plan.shown:
        say(f"This {in_one_line(target, plan.shown)}.")
    if yes and not dry_run:
        return True
    if not dry_run and install_dialog.is_terminal():
        install_dialog.show_counted(plan.shown, events(target, plan.shown))
        return not plan.shown or install_dialog.confirm(plan.shown)
    install_dialog.show_changes(plan.shown)
    if dry_run:
        say("Dry run: nothing was changed.")
        return False
    return not plan.shown or install_dialog.confirm(())


def _say_next(target: Target) -> None:
    if agent := target.agent.option and target.agent:
        say(agent.after_install)
        say(f"for the tools: {agent.server_command} {shlex.join(_server_command())}")
    say(f"next: {typed_command()} doctor{target.doctor_words}")


def _server_command() -> list[str]:
    entry = server_entry()
    return [entry["command"], *entry["args"]]


def _say_done(plan: InstallPlan, done: str, undo: str) -> None:
    for change in plan.shown:
        verb = "wrote" if change.after is not None else "removed"
        say(f"{verb} {change.path}")
    for path, copy in plan.backups:
        say(f"saved {path} as it was: {copy}")
    say(f"{done} {undo}")


def _say_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        say(f"Note: {note}.", err=True)
