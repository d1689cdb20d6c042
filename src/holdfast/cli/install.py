"""`holdfast install` and `holdfast uninstall`: show the change, ask, make it, say how to undo."""

from __future__ import annotations

import difflib
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from holdfast.archive import transcripts as archive
from holdfast.cli.leftovers import leave_checkpoints, say_what_stays
from holdfast.cli.terminal import paint, say
from holdfast.cli.transcripts import SETTING, TURN_ON
from holdfast.client import agents
from holdfast.client.settings_files import read_cleanup_period
from holdfast.files.executable import typed_command
from holdfast.settings import edit
from holdfast.settings import load as settings_load
from holdfast.setup import changes
from holdfast.setup import install as installing
from holdfast.setup.changes import InstallChange
from holdfast.setup.errors import ChangedMeanwhile, LeftBehind
from holdfast.setup.install import InstallPlan
from holdfast.setup.installs import other_places
from holdfast.setup.receipts import our_packages
from holdfast.setup.settings_text import check, commands, or_empty
from holdfast.setup.targets import SCOPES, Target, hooks_target, settings_target
from holdfast.setup.wiring import server_entry
from holdfast.wire import places

Command = Callable[..., Any]
ARCHIVE_CHARS, LEAST_ARCHIVED = 8_000, 4_000
LONGEST_LINE = 400  # a longer line was written for a machine; it is shown indented

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
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=".",
        help="The project, for --scope project and local.  [default: this folder]",
    ),
    click.option(
        "--agent",
        type=click.Choice([known.name for known in agents.AGENTS if known.can_install]),
        default=agents.AGENTS[0].name,
        show_default=True,
        help="Whose hooks; those of others than Claude Code are for all your projects.",
    ),
    click.option("--yes", is_flag=True, help="Do not ask."),
    click.option("--dry-run", is_flag=True, help="Show every line, and change nothing."),
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
    status_line: bool,
    no_mcp: bool,
) -> None:
    """Connect Holdfast to Claude Code.

    Adds hooks, the status line, the MCP server and /holdfast: commands to Claude Code's settings.
    It shows what it will change and asks first.

    \b
    Examples:
      holdfast install             show the changes, ask, write
      holdfast install --dry-run   only show them
    """
    if archive_chars is not None and 0 < archive_chars < LEAST_ARCHIVED:
        # a preview takes about 3,000 characters itself, so a smaller size gains nothing
        raise click.BadParameter(f"{LEAST_ARCHIVED:,} or more, or 0", param_hint="CHARS")
    home, ours = Path(places.user_home()), _ours()
    target = settings_target(
        scope,
        home,
        project.resolve(),
        our_packages(ours),
        server=not no_mcp,
        archive_chars=archive_chars,
        only_status_line=status_line,
    )
    if agents.named(agent).hooks_name:
        target = hooks_target(agents.named(agent), our_packages(ours))

    def look() -> InstallPlan:
        return installing.plan_install(target, home, ours, force=force or status_line)

    plan = _plan(look, target, ours, yes, dry_run)
    if plan.is_nothing:
        say(f"Already installed in {target.anchor}; nothing to change.")
    elif not dry_run:
        _say_done(plan, "Installed.", f"Undo: {typed_command()} uninstall{target.words}")
        _say_next(target)
    if plan.is_nothing or dry_run:
        _say_notes(plan.notes)
    if not (dry_run or yes):
        _ask_to_archive()


@click.command()
@_place_options
@click.option(
    "--checkpoints",
    is_flag=True,
    help="Instead: list the checkpoint folders in your projects; with --yes, remove them.",
)
def uninstall(
    scope: str, project: Path, agent: str, yes: bool, dry_run: bool, checkpoints: bool
) -> None:
    """Disconnect Holdfast from Claude Code.

    Removes exactly what `install` added. What Holdfast saved stays; the end of the output says
    where, and how to remove it.
    """
    if checkpoints:
        return leave_checkpoints(go=yes and not dry_run)
    home, ours = Path(places.user_home()), _ours()
    packages = our_packages(ours)
    target = settings_target(scope, home, project.resolve(), packages)
    if agents.named(agent).hooks_name:
        target = hooks_target(agents.named(agent), packages)

    def look() -> InstallPlan:
        return installing.plan_uninstall(target, home, ours)

    plan = _plan(look, target, ours, yes, dry_run)
    notes = plan.notes if plan.is_nothing or dry_run else ()
    if plan.is_nothing and not plan.left:
        say(f"Not installed in {target.anchor}; nothing to change.")
        notes += tuple(other_places(target, home, project.resolve(), our_packages(ours)))
    elif not (plan.is_nothing or dry_run):
        done = "Uninstalled, but for what is named below." if plan.left else "Uninstalled."
        _say_done(plan, done, f"Undo: {typed_command()} install{target.words}")
    _say_notes(notes + (plan.left if dry_run else ()))
    say_what_stays()
    if plan.left and not dry_run:
        raise LeftBehind("; ".join(plan.left))


def _ours() -> Path:
    ours = Path(places.home()).absolute()
    changes.check_home(ours)
    return ours


def _plan(
    look: Callable[[], InstallPlan], target: Target, ours: Path, yes: bool, dry_run: bool
) -> InstallPlan:
    """Return the plan, once it was carried out. A no ends the command with exit code 1."""
    plan = first_look(look)
    if dry_run:
        for change in plan.shown:
            say(_coloured(unified_diff(change)))
        if not plan.is_nothing:
            say("Dry run: nothing was changed.")
        return plan
    if not plan.is_nothing:
        _show_counted(plan.shown, target)
        _say_notes(plan.notes)
        if plan.shown and not yes:
            _confirm(plan.shown)
        with changes.only_one(ours):
            latest = look()
            # the files may have changed while we asked
            if not latest.is_nothing and latest.shown != plan.shown:
                raise ChangedMeanwhile("the files were changed by someone else just now")
            installing.apply(latest)
        return latest
    if plan.debris:
        with changes.only_one(ours):
            installing.clear_debris(plan)
        say("Removed what a run that was killed had left behind.")
    return plan


def first_look(look: Callable[[], InstallPlan]) -> InstallPlan:
    """Plan without the lock, because a question to the user may follow. A folder that another
    install or uninstall removes just then is planned for again."""
    try:
        return look()
    except FileNotFoundError:
        return look()


def _confirm(shown: Sequence[InstallChange]) -> None:
    """Ask; anything but a yes ends the command."""
    question = "Make these changes? (d shows every line) [y/N/d]"
    try:
        while True:
            answer = click.prompt(question, default="n", show_default=False, err=True)
            if answer.strip().lower() in ("y", "yes"):
                return
            if answer.strip().lower() != "d":
                break
            for change in shown:
                say(_coloured(unified_diff(change)))
        say("Nothing was changed.", err=True)
    except click.Abort:  # the end of the input, or Ctrl-C
        hint = "" if sys.stdin.isatty() else " Say --yes to go on without a question."
        say(f"\nNothing was changed.{hint}", err=True)
    click.get_current_context().exit(1)


def _show_counted(shown: Sequence[InstallChange], target: Target) -> None:
    """Show the size of the change in each file: the full text would scroll away."""
    for change in shown:
        if change.path == target.anchor and (names := _events(change, target)):
            say(f"hooks at {', '.join(names)}")
    for change in shown:
        lines = unified_diff(change).splitlines()[2:]
        more, less = (sum(line[:1] == sign for line in lines) for sign in "+-")
        size = f"{paint(f'+{more:,}', 'green')} {paint(f'-{less:,}', 'red')}"
        say(f"  {change.path}: {size} lines")


def _events(change: InstallChange, target: Target) -> list[str]:
    """List the events of our hooks, in the new settings, else in the old ones."""
    for data in (change.after, change.before):
        settings = check(or_empty((data or b"").decode()))
        if found := dict.fromkeys(event for event, _ in commands(settings, target.packages)):
            return list(found)
    return []


def unified_diff(change: InstallChange) -> str:
    """The change as a diff. JSON in one long line is indented first, so that it can be read."""
    before, after = _decode(change.before), _decode(change.after)
    old = str(change.path) if change.before is not None else "/dev/null"
    new = str(change.path) if change.after is not None else "/dev/null"
    if max(map(len, (before + "\n" + after).splitlines()), default=0) > LONGEST_LINE:
        before, after = _indent(before), _indent(after)
        new += " (indented here to be read)"
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return "\n".join(lines)


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _indent(text: str) -> str:
    try:
        return json.dumps(json.loads(text.removeprefix("\ufeff")), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _coloured(diff: str) -> str:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return "\n".join(
        paint(line, colours[line[0]]) if line[:1] in colours else line for line in diff.splitlines()
    )


def _ask_to_archive() -> None:
    """Ask once whether to archive transcripts. A no is stored too, so that the next install does
    not ask again."""
    settings = settings_load.load()
    if settings.origins[SETTING] != "default" or not sys.stdin.isatty():
        return
    megabytes = settings.whole("archive_transcripts_megabytes")
    say(f"{read_cleanup_period(str(Path.cwd())).words}.", err=True)
    size = f"up to {megabytes:,} MB"
    question = f"Save compressed copies without secrets in {archive.folder()}, {size}?"
    try:
        edit.write(SETTING, "on" if click.confirm(question, err=True) else "off")
    except click.Abort:
        say(f"\nNot archived; later: {TURN_ON}", err=True)


def _say_next(target: Target) -> None:
    if agent := target.agent.option and target.agent:
        entry = server_entry()
        say(agent.after_install)
        command = shlex.join([entry["command"], *entry["args"]])
        say(f"for the tools: {agent.server_command} {command}")
    there = f" in {target.project}" if target.project else ""
    say(f"next: {typed_command()} doctor{there}")


def _say_done(plan: InstallPlan, done: str, undo: str) -> None:
    for path, copy in plan.backups:
        say(f"saved {path} as it was: {copy}")
    say(f"{done} {undo}")


def _say_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        say(f"Note: {note}.", err=True)
