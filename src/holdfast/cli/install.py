"""`holdfast install` and `holdfast uninstall`: show the change, ask, make it, say how to undo."""

import difflib
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

import click

from holdfast.archive import transcripts as archive
from holdfast.checkpoint import prune
from holdfast.cli.options import PROJECT, flag
from holdfast.cli.terminal import confirm, paint, say
from holdfast.cli.transcripts import SETTING, TURN_ON
from holdfast.client import agents
from holdfast.client.claude_folder import read_cleanup_period
from holdfast.files import plugin_environment
from holdfast.files.executable import typed_command
from holdfast.memory import topic_store
from holdfast.settings import edit
from holdfast.settings import load as settings_load
from holdfast.setup import changes
from holdfast.setup import install as installing
from holdfast.setup.changes import InstallChange
from holdfast.setup.errors import InstallError
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
ARCHIVE_CHARS = 8_000
LONGEST_LINE = 400  # a longer line was written for a machine; it is shown indented

A_SCOPE = click.Choice(SCOPES)
AN_AGENT = click.Choice([known.name for known in agents.AGENTS if known.can_install])
OPTIONS = (
    click.option("--scope", type=A_SCOPE, default="user", help="Whose settings (default: user)."),
    PROJECT,
    click.option("--agent", type=AN_AGENT, default=agents.AGENTS[0].name, help="For which agent."),
    flag("--yes", help="Do not ask."),
    flag("--dry-run", help="Show every line, and change nothing."),
)


def _place_options(command: Command) -> Command:
    return reduce(lambda inner, option: option(inner), reversed(OPTIONS), command)


@click.command()
@_place_options
@flag("--force", help="Install although another Holdfast is installed.")
@click.option(
    "--archive-outputs",
    "archive_chars",
    type=click.IntRange(0, 1_000_000),
    is_flag=False,
    flag_value=ARCHIVE_CHARS,
    metavar="CHARS",
    help=f"Archive tool outputs longer than CHARS ({ARCHIVE_CHARS:,}); 0 turns it off.",
)
@flag("--status-line", "only_status_line", help="Change only the status line.")
@flag("--no-mcp", "server", flag_value=False, default=True, help="Leave out the MCP server.")
def install(
    scope: str, project: Path, agent: str, yes: bool, dry_run: bool, force: bool, **wanted: Any
) -> None:
    """Connect Holdfast to Claude Code.

    It adds hooks, the status line, the MCP server and /holdfast: commands to Claude Code's
    settings. It shows what it will change and asks first. `--scope project` installs it for
    everyone in one project, `--scope local` for you in one project.

    \b
    Examples:
      holdfast install             show the changes, ask, write
      holdfast install --dry-run   only show them
    """
    home, ours = Path(places.user_home()), _ours()
    target = _target(scope, home, project.resolve(), ours, agent, **wanted)

    def look() -> InstallPlan:
        return installing.plan_install(
            target, home, ours, force=force or wanted["only_status_line"]
        )

    plan = _plan(look, target, ours, yes, dry_run)
    if plan.is_nothing:
        say(f"Already installed in {target.anchor}; nothing to change.")
    elif not dry_run:
        say(f"Installed. Undo: {typed_command()} uninstall{target.words}")
        if agent_of := target.agent.option and target.agent:
            command = shlex.join([server_entry()["command"], *server_entry()["args"]])
            say(f"{agent_of.after_install}\nfor the tools: {agent_of.server_command} {command}")
        there = f" in {target.project}" if target.project else ""
        say(f"next: {typed_command()} doctor{there}")
    if plan.is_nothing or dry_run:
        _say_notes(plan.notes)
    if not (dry_run or yes):
        _ask_to_archive()


@click.command()
@_place_options
@flag("--checkpoints", help="List the projects' checkpoints instead; with --yes, remove them.")
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
    target = _target(scope, home, project.resolve(), ours, agent)

    def look() -> InstallPlan:
        return installing.plan_uninstall(target, home, ours)

    plan = _plan(look, target, ours, yes, dry_run)
    notes = plan.notes if plan.is_nothing or dry_run else ()
    if plan.is_nothing and not plan.left:
        say(f"Not installed in {target.anchor}; nothing to change.")
        notes += tuple(other_places(target, home, project.resolve()))
    elif not (plan.is_nothing or dry_run):
        done = "Uninstalled, except for what is named below." if plan.left else "Uninstalled."
        line = "" if _hook_events(plan.shown, target) else " --status-line"
        say(f"{done} Undo: {typed_command()} install{target.words}{line}")
    _say_notes(notes + (plan.left if dry_run else ()))
    _say_what_stays()
    if plan.left and not dry_run:
        raise InstallError(
            "; ".join(plan.left),
            "fix it, then uninstall again: it was not changed, and all else of Holdfast is removed",
        )


def _target(
    scope: str, home: Path, project: Path, ours: Path, agent: str, **options: Any
) -> Target:
    if agents.named(agent).hooks_name:
        if scope != "user":
            raise click.UsageError(f"hooks of {agent} are for all projects; leave --scope out")
        return hooks_target(agents.named(agent), our_packages(ours))
    return settings_target(scope, home, project, our_packages(ours), **options)


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
        if not yes:  # with it the work comes before the words: who reads them may be gone
            _show_counted(plan.shown, target)
            _say_notes(plan.notes)
        if plan.shown and not yes:
            confirm("Make these changes? (d shows every line)", lambda: _show_lines(plan.shown))
        with changes.only_one(ours):
            latest = look()
            # the files may have changed while we asked
            if not latest.is_nothing and latest.shown != plan.shown:
                raise InstallError(
                    "the files were changed by someone else just now",
                    "nothing was changed; run the command again",
                )
            installing.apply(latest)
        if yes:
            _show_counted(latest.shown, target)
            _say_notes(latest.notes)
        for path, copy in latest.backups:
            say(f"saved {path} as it was: {copy}")
        return latest
    if plan.debris:
        with changes.only_one(ours):
            installing.clear_debris(plan)
        say("Removed what a run that was killed had left behind.")
    return plan


def _show_counted(shown: Sequence[InstallChange], target: Target) -> None:
    """Show the size of the change in each file: the full text would scroll away."""
    if events := _hook_events(shown, target):
        say(f"hooks at {', '.join(events)}")
    for change in shown:
        lines = _diff(change)[2:]
        more, less = (sum(line[:1] == sign for line in lines) for sign in "+-")
        size = f"{paint(f'+{more:,}', 'green')} {paint(f'-{less:,}', 'red')}"
        say(f"  {change.path}: {size} lines")


def _hook_events(shown: Sequence[InstallChange], target: Target) -> list[str]:
    settings = [change for change in shown if change.path == target.anchor]
    texts = [data.decode() for change in settings for data in (change.before, change.after) if data]
    ours = [commands(check(or_empty(text)), target.packages) for text in texts]
    return list(dict.fromkeys(event for lines in ours for event, _ in lines))


def _diff(change: InstallChange) -> list[str]:
    """The change as a diff. JSON in one long line is indented first, so that it can be read."""
    before, after = _readable(change.before), _readable(change.after)
    old = "/dev/null" if change.before is None else str(change.path)
    new = "/dev/null" if change.after is None else str(change.path)
    return list(difflib.unified_diff(before, after, old, new, lineterm=""))


def _readable(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    if max(map(len, text.splitlines()), default=0) > LONGEST_LINE:
        with suppress(ValueError):
            text = json.dumps(json.loads(text.removeprefix("\ufeff")), indent=2)
    return text.splitlines()


def _show_lines(shown: Sequence[InstallChange]) -> None:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in (line for change in shown for line in _diff(change)):
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


def _say_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        say(f"Note: {note}.", err=True)


def _leave_checkpoints(*, go: bool) -> None:
    """List every project's folder; with `go`, remove what is ours in them. It is an error if
    anything stays: what follows in the same line would remove the list of our own checkpoints."""
    folders = prune.folders_left([str(Path.cwd())])
    stay, lines = list[str](), list[str]()  # said at the end: who reads them may be gone
    for left in folders:
        path = shown(left.path)
        why = prune.remove_own(left) if go and left.may_go else ""
        reasons = list(dict.fromkeys(filter(None, (why, *left.stays.values()))))
        stay += [path] * bool(reasons)
        if left.may_go and not why:
            done = "removed" if go else "would go"
            lines.append(f"{done:<8} {path}: {counted(left.checkpoints, 'checkpoint')}")
        lines += [f"{'stays':<8} {path}: {shown(reason)}" for reason in reasons]
    for line in lines:
        say(line)
    if not folders:
        say("No project has checkpoints of Holdfast.", err=True)
    elif not go:
        say("Nothing was removed; --yes removes those that would go.", err=True)
    say(f"Everything else of Holdfast is in {places.home()}.", err=True)
    if go and stay:
        raise InstallError(
            f"not removed: {', '.join(stay)}",
            "look at what is in them; remove by hand what you do not need, then run it again",
        )


def _say_what_stays() -> None:
    """Print after an uninstall where our own files are, and how they are removed."""
    home = Path(places.home())
    checkpoints = prune.folders_left([str(Path.cwd())])
    topics = topic_store.folders_with_ours()
    how = "of `holdfast memory add`; `holdfast memory retire NAME` in that project removes one"
    stays = {left.path: counted(left.checkpoints, "checkpoint") for left in checkpoints}
    stays |= {str(folder): f"{counted(count, 'topic')} {how}" for folder, count in topics.items()}
    if home.is_dir():
        stays[str(home)] = "settings, log, database and all else that Holdfast saved"
    if not stays:
        return
    say("What stays, until you remove it:")
    for path, words in stays.items():
        say(f"  {shown(path)}: {words}")
    # Checkpoints go first: the list of those that are ours is in the folder that goes last.
    removal = [f"{typed_command()} uninstall --checkpoints --yes"] * bool(checkpoints)
    removal += [f"rm -r {shlex.quote(str(home))}"] * home.is_dir()
    if removal:
        say(f"  Remove all of it{' but for the topics' * bool(topics)}: {' && '.join(removal)}")
    plugin = "as a plugin: claude plugin uninstall holdfast"
    how = plugin if plugin_environment.is_ours() else "the way you installed it (uv, pipx or pip)"
    say(f"  The program itself: uninstall it {how}.")
