"""`holdfast install` and `holdfast uninstall`: show the change, ask, make it, say how to undo."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from holdfast.client.install import diff, lock
from holdfast.client.install import plan as installing
from holdfast.client.install.notes import installed_elsewhere
from holdfast.client.install.plan import Plan
from holdfast.client.install.plugin import plugin_target
from holdfast.client.install.scopes import SCOPES, Target, settings_target
from holdfast.wire import places

Command = Callable[..., Any]

_OPTIONS = (
    click.option(
        "--scope",
        type=click.Choice(SCOPES),
        default="user",
        show_default=True,
        help="Whose settings: yours, a project's, or yours for a project.",
    ),
    click.option(
        "--project",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=".",
        help="The project, for --scope project and local.  [default: this folder]",
    ),
    click.option(
        "--plugin",
        "plugin_folder",
        type=click.Path(path_type=Path),
        help="A plugin folder instead of settings.",
    ),
    click.option("--yes", is_flag=True, help="Do not ask."),
    click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing."),
)


def _place_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@_place_options
@click.option("--force", is_flag=True, help="Install although it is installed elsewhere.")
def install(
    scope: str, project: Path, plugin_folder: Path | None, yes: bool, dry_run: bool, force: bool
) -> None:
    """Wire hooks, status line and /holdfast:status into Claude Code."""
    target = _target(scope, project, plugin_folder)
    with _lock(dry_run):
        plan = installing.plan_install(target, Path.home(), _ours(), force=force)
        if plan.is_nothing:
            click.echo(f"Already installed in {target.anchor}; nothing to change.")
        elif _agreed(plan, yes, dry_run):
            installing.apply(plan)
            _say_done(plan, "Installed.", f"Undo: holdfast uninstall{target.words}")
    _say_notes(plan.notes)


@click.command()
@_place_options
def uninstall(
    scope: str, project: Path, plugin_folder: Path | None, yes: bool, dry_run: bool
) -> None:
    """Take out of Claude Code what `install` put there, and nothing else."""
    target = _target(scope, project, plugin_folder)
    notes: tuple[str, ...] = ()
    with _lock(dry_run):
        plan = installing.plan_uninstall(target, Path.home(), _ours())
        if plan.is_nothing:
            click.echo(f"Not installed in {target.anchor}; nothing to change.")
            notes = tuple(installed_elsewhere(target, Path.home(), project.resolve()))
        elif _agreed(plan, yes, dry_run):
            installing.apply(plan)
            _say_done(plan, "Uninstalled.", f"Undo: holdfast install{target.words}")
    _say_notes(plan.notes + notes)


def _target(scope: str, project: Path, plugin_folder: Path | None) -> Target:
    if plugin_folder is not None:
        return plugin_target(plugin_folder.absolute())
    return settings_target(scope, Path.home(), project.resolve())


def _ours() -> Path:
    return Path(places.home()).absolute()


def _lock(dry_run: bool) -> AbstractContextManager[None]:
    return nullcontext() if dry_run else lock.only_one(_ours())


def _agreed(plan: Plan, yes: bool, dry_run: bool) -> bool:
    """Show the change and ask; a no ends the command with exit code 1."""
    if yes and not dry_run:
        return True
    for change in plan.shown:
        click.echo(diff.unified(change))
    if dry_run:
        click.echo("Dry run: nothing was changed.")
        return False
    return not plan.shown or click.confirm("Make these changes?", abort=True, err=True)


def _say_done(plan: Plan, done: str, undo: str) -> None:
    for change in plan.shown:
        verb = "wrote" if change.after is not None else "removed"
        click.echo(f"{verb} {change.path}")
    for change in plan.backups:
        click.echo(f"kept what was there before in {change.path}")
    click.echo(f"{done} {undo}")


def _say_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        click.echo(f"Note: {note}.", err=True)
