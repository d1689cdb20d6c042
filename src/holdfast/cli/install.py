"""`holdfast install` and `holdfast uninstall`: show the change, ask, make it, say how to undo."""

from __future__ import annotations

import difflib
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from holdfast.archive import transcripts as archive
from holdfast.checkpoint import prune
from holdfast.cli.terminal import paint, say
from holdfast.cli.transcripts import SETTING, TURN_ON
from holdfast.client import agents
from holdfast.client.settings_files import read_cleanup_period
from holdfast.files import plugin_environment
from holdfast.files.executable import typed_command
from holdfast.settings import edit
from holdfast.settings import load as settings_load
from holdfast.setup import changes
from holdfast.setup import install as installing
from holdfast.setup.changes import InstallChange
from holdfast.setup.errors import ChangedMeanwhile, CheckpointsStay, LeftBehind
from holdfast.setup.install import InstallPlan
from holdfast.setup.installs import other_places
from holdfast.setup.receipts import our_packages
from holdfast.setup.settings_text import check, commands, or_empty
from holdfast.setup.targets import SCOPES, Target, hooks_target, settings_target
from holdfast.setup.wiring import server_entry
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
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
        help="The project, for --scope project and local (default: this folder).",
    ),
    click.option(
        "--agent",
        type=click.Choice([known.name for known in agents.AGENTS if known.can_install]),
        default=agents.AGENTS[0].name,
        show_default=True,
        help="The agent whose hooks these are; others have them for all projects only.",
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
@click.option("--status-line", is_flag=True, help="Change only the status line; a plugin cannot.")
@click.option("--no-mcp", is_flag=True, help="Leave out the MCP server, or remove it.")
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
    target = _target(
        (scope, home, project.resolve(), our_packages(ours)),
        agent,
        server=not no_mcp,
        archive_chars=archive_chars,
        only_status_line=status_line,
    )

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
    help="List the checkpoint folders in your projects instead; with --yes, remove them.",
)
def uninstall(
    scope: str, project: Path, agent: str, yes: bool, dry_run: bool, checkpoints: bool
) -> None:
    """Disconnect Holdfast from Claude Code.

    Removes exactly what `install` added. What Holdfast saved stays; the end of the output says
    where, and how to remove it.
    """
    if checkpoints:
        return _leave_checkpoints(go=yes and not dry_run)
    home, ours = Path(places.user_home()), _ours()
    place = scope, home, project.resolve(), our_packages(ours)
    target = _target(place, agent)

    def look() -> InstallPlan:
        return installing.plan_uninstall(target, home, ours)

    plan = _plan(look, target, ours, yes, dry_run)
    notes = plan.notes if plan.is_nothing or dry_run else ()
    if plan.is_nothing and not plan.left:
        say(f"Not installed in {target.anchor}; nothing to change.")
        notes += tuple(other_places(target, *place[1:]))
    elif not (plan.is_nothing or dry_run):
        done = "Uninstalled, but for what is named below." if plan.left else "Uninstalled."
        _say_done(plan, done, f"Undo: {typed_command()} install{target.words}")
    _say_notes(notes + (plan.left if dry_run else ()))
    _say_what_stays()
    if plan.left and not dry_run:
        raise LeftBehind("; ".join(plan.left))


def _target(place: tuple[str, Path, Path, frozenset[str]], agent: str, **options: Any) -> Target:
    """The files of Claude Code, or those of another agent."""
    if agents.named(agent).hooks_name:
        return hooks_target(agents.named(agent), place[-1])
    return settings_target(*place, **options)


def _ours() -> Path:
    ours = Path(places.home()).absolute()
    changes.check_home(ours)
    return ours


def _plan(
    look: Callable[[], InstallPlan], target: Target, ours: Path, yes: bool, dry_run: bool
) -> InstallPlan:
    """Return the plan, once it was carried out. A no ends the command with exit code 1."""
    plan = look()  # without the lock: a question to the user may follow
    if dry_run:
        _show_lines(plan.shown)
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
            _show_lines(shown)
        say("Nothing was changed.", err=True)
    except click.Abort:  # the end of the input, or Ctrl-C
        hint = "" if sys.stdin.isatty() else " Say --yes to go on without a question."
        say(f"\nNothing was changed.{hint}", err=True)
    click.get_current_context().exit(1)


def _show_counted(shown: Sequence[InstallChange], target: Target) -> None:
    """Show the size of the change in each file: the full text would scroll away."""
    settings = [change for change in shown if change.path == target.anchor]
    texts = [data.decode() for change in settings for data in (change.before, change.after) if data]
    ours = [commands(check(or_empty(text)), target.packages) for text in texts]
    if events := dict.fromkeys(event for lines in ours for event, _ in lines):
        say(f"hooks at {', '.join(events)}")
    for change in shown:
        lines = unified_diff(change).splitlines()[2:]
        more, less = (sum(line[:1] == sign for line in lines) for sign in "+-")
        size = f"{paint(f'+{more:,}', 'green')} {paint(f'-{less:,}', 'red')}"
        say(f"  {change.path}: {size} lines")


def unified_diff(change: InstallChange) -> str:
    """The change as a diff. JSON in one long line is indented first, so that it can be read."""
    before, after = _readable(change.before), _readable(change.after)
    old = str(change.path) if change.before is not None else "/dev/null"
    new = str(change.path) if change.after is not None else "/dev/null"
    return "\n".join(difflib.unified_diff(before, after, old, new, lineterm=""))


def _readable(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    if max(map(len, text.splitlines()), default=0) > LONGEST_LINE:
        with suppress(ValueError):
            text = json.dumps(json.loads(text.removeprefix("\ufeff")), indent=2)
    return text.splitlines()


def _show_lines(shown: Sequence[InstallChange]) -> None:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in (line for change in shown for line in unified_diff(change).splitlines()):
        say(paint(line, colours[line[0]]) if line[:1] in colours else line)


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


def _leave_checkpoints(*, go: bool) -> None:
    """List every project's folder; with `go`, remove what is ours in them. It is an error if
    anything stays: what follows in the same line would remove the list of our own checkpoints."""
    folders = prune.folders_left([str(Path.cwd())])
    stay = []
    for left in folders:
        path = shown(left.path)
        why = prune.remove_own(left) if go and left.may_go else ""
        if why or left.stays:
            stay.append(path)
        done = "stays" if why else "removed" if go else "would go"
        if left.may_go:
            say(f"{done:<8} {path}: {shown(why) or counted(left.checkpoints, 'checkpoint')}")
        for reason in dict.fromkeys(left.stays.values()):
            say(f"{'stays':<8} {path}: {shown(reason)}")
    if not folders:
        say("No project has checkpoints of Holdfast.", err=True)
    elif not go:
        say("Nothing was removed; --yes removes those that would go.", err=True)
    say(f"Everything else of Holdfast is in {places.home()}.", err=True)
    if go and stay:
        raise CheckpointsStay(f"not removed: {', '.join(stay)}")


def _say_what_stays() -> None:
    """Print after an uninstall where our own files are, and how they are removed."""
    from holdfast.memory.topic_store import folders_with_ours

    home = Path(places.home())
    checkpoints = prune.folders_left([str(Path.cwd())])
    topics = folders_with_ours()
    if not home.is_dir() and not checkpoints and not topics:
        return
    say("What stays, until you remove it:")
    for left in checkpoints:
        say(f"  {shown(left.path)}: {counted(left.checkpoints, 'checkpoint')}")
    for folder, count in topics.items():
        how = "`holdfast memory retire NAME` in that project removes one"
        say(f"  {shown(str(folder))}: {counted(count, 'topic')} of `holdfast memory add`; {how}")
    if home.is_dir():
        say(f"  {shown(str(home))}: settings, log, database and all else that Holdfast saved")
    # Checkpoints go first: the list of those that are ours is in the folder that goes last.
    removal = [f"{typed_command()} uninstall --checkpoints --yes"] * bool(checkpoints)
    removal += [f"rm -r {shlex.quote(str(home))}"] * home.is_dir()
    if removal:
        say(f"  Remove all of it{' but for the topics' * bool(topics)}: {' && '.join(removal)}")
    how = "the way you installed it (uv, pipx or pip)"
    if plugin_environment.is_ours():
        how = "as a plugin: claude plugin uninstall holdfast"
    say(f"  The program itself: uninstall it {how}.")
