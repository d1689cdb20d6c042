"""What an install or uninstall shows and asks: the changes, in one line each or as a diff; whether
to make them; whether to archive transcripts; whether checkpoints in projects go too.
"""

from __future__ import annotations

import difflib
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from holdfast.archive import transcripts as archive
from holdfast.checkpoint import prune
from holdfast.cli.terminal import paint, say
from holdfast.cli.transcripts import HOW_TO_REMOVE, SETTING, say_off, say_on, what_is_there
from holdfast.client.settings_files import read_cleanup_period
from holdfast.files import plugin_environment
from holdfast.files.executable import typed_command
from holdfast.settings import edit
from holdfast.settings import load as settings_load
from holdfast.setup import receipts, settings_text
from holdfast.setup.changes import InstallChange
from holdfast.setup.errors import CheckpointsStay
from holdfast.setup.installs import find_installs
from holdfast.setup.receipts import our_packages, packages_in
from holdfast.setup.settings_text import installed_commands
from holdfast.setup.targets import Target
from holdfast.setup.wiring import is_ours, wrapped_in
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
from holdfast.wire import places

LONGEST_LINE = 400  # a longer line was written for a machine; it is shown indented
SERVER_FILES = (".claude.json", ".mcp.json")
VERBS = {"adds": "to", "removes": "from", "renews": "in"}


def unified_diff(change: InstallChange) -> str:
    """The change as a diff. JSON in one long line is indented first, so that it can be read."""
    before, after = _decode(change.before), _decode(change.after)
    name = str(change.path)
    old = name if change.before is not None else "/dev/null"
    new = name if change.after is not None else "/dev/null"
    if max(map(len, (before + "\n" + after).splitlines()), default=0) > LONGEST_LINE:
        before, after = _indent(before), _indent(after)
        new += " (indented here to be read)"
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="")
    return "\n".join(lines)


def counted_lines(change: InstallChange) -> tuple[int, int]:
    """Count the lines that a change adds and removes."""
    lines = unified_diff(change).splitlines()[2:]
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _indent(text: str) -> str:
    try:
        return json.dumps(json.loads(text.removeprefix("\ufeff")), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def in_one_line(target: Target, shown: Sequence[InstallChange]) -> str:
    """For example: adds 10 hooks and the status line to FILE, the command /holdfast:status."""
    parts = [_describe_change(change, target) for change in shown]
    skills = [at for at, part in enumerate(parts) if " /holdfast:" in part]
    if skills:
        noun = "command" if len(skills) == 1 else "commands"
        parts[skills[0]] = parts[skills[0]].replace(" /holdfast:", f" the {noun} /holdfast:")
    return ", ".join([*parts[:1], *(_rest(part, parts[0]) for part in parts[1:])])


def events(target: Target, shown: Sequence[InstallChange]) -> list[str]:
    """List the events of our hooks, in the new settings, else in the old ones."""
    for before, after in (_both_bytes(change) for change in shown if change.path == target.anchor):
        return _events(after, target) or _events(before, target)
    return []


def _describe_change(change: InstallChange, target: Target) -> str:
    before, after = _both_bytes(change)
    settings = target.anchor
    if change.path.name in SERVER_FILES:
        verb = _verb(*(bool(packages_in(data) & target.packages) for data in (before, after)))
        return f"{verb} the MCP server {VERBS[verb]} {change.path}"
    if change.path != settings:
        return f"{_verb(bool(before), bool(after))} /holdfast:{change.path.stem}"
    was, will = _share(before, target), _share(after, target)
    verb = _verb(bool(was), bool(will))
    return f"{verb} {' and '.join(will or was)} {VERBS[verb]} {settings}{_own_line(before, after)}"


def _own_line(before: bytes, after: bytes) -> str:
    """Say what happens to the user's own status line, if there is one."""
    was, will = (wrapped_in(settings_text.status_command_in(_settings(b))) for b in (before, after))
    if will:
        return " (your own status line is kept and runs inside it)"
    return " (your own status line comes back)" if was else ""


def _rest(part: str, first: str) -> str:
    """Return a part without its verb, if the first part has the same one."""
    verb = first.partition(" ")[0]
    return part.removeprefix(verb + " ")


def _share(data: bytes, target: Target) -> list[str]:
    """Describe what a settings file contains of ours."""
    settings = _settings(data)
    count = len(settings_text.commands(settings, target.packages))
    line = is_ours(settings_text.status_command_in(settings), target.packages)
    return [*([counted(count, "hook")] if count else []), *(["the status line"] if line else [])]


def _events(data: bytes, target: Target) -> list[str]:
    commands = settings_text.commands(_settings(data), target.packages)
    return list(dict.fromkeys(event for event, _ in commands))


def _settings(data: bytes) -> dict[str, Any]:
    return settings_text.check(settings_text.or_empty(data.decode()))


def _verb(before: bool, after: bool) -> str:
    return "renews" if before and after else "adds" if after else "removes"


def _both_bytes(change: InstallChange) -> tuple[bytes, bytes]:
    return change.before or b"", change.after or b""


def is_terminal() -> bool:
    """Return whether a person can answer; all 240 lines of a change would scroll away there."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def show_changes(changes: Sequence[InstallChange]) -> None:
    for change in changes:
        for line in unified_diff(change).split("\n"):
            click.echo(_colour(line))  # printed as it is: lines of a file are not wrapped


def _colour(line: str) -> str:
    if line.startswith(("--- ", "+++ ")):
        return paint(line, "bold")
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return paint(line, colour) if colour else line


def show_counted(changes: Sequence[InstallChange], events: Sequence[str]) -> None:
    if events:
        say(f"  hooks at {', '.join(events)}")
    for change in changes:
        more, less = counted_lines(change)
        size = f"{paint(f'+{more:,}', 'green')} {paint(f'-{less:,}', 'red')}"
        say(f"  {change.path}: {size} lines")


def confirm(hidden: Sequence[InstallChange]) -> bool:
    """Ask, and return True for a yes; anything else ends the command. `hidden` are changes not
    shown so far."""
    try:
        if _is_yes(hidden):
            return True
        say("Nothing was changed.", err=True)
    except click.Abort:  # the end of the input, or Ctrl-C
        hint = "" if sys.stdin.isatty() else " Say --yes to go on without a question."
        say(f"\nNothing was changed.{hint}", err=True)
    click.get_current_context().exit(1)


def _is_yes(hidden: Sequence[InstallChange]) -> bool:
    if not hidden:
        return click.confirm("Make these changes?", err=True)
    words = "Make these changes? (d shows every line) [y/N/d]"
    answer = click.prompt(words, default="n", show_default=False, err=True).strip().lower()
    if answer == "d":
        show_changes(hidden)
        return _is_yes(())
    return answer in ("y", "yes")


def settle(wanted: bool | None, *, may_ask: bool) -> None:
    """Store the answer about archiving, also a no, so that the next install does not ask again."""
    if wanted is None and may_ask and _is_open() and is_terminal():
        wanted = _ask_to_archive()
    if wanted is None:
        return
    edit.write(SETTING, "on" if wanted else "off")
    if wanted:
        say_on()
    elif what_is_there():
        say_off()


def _is_open() -> bool:
    return settings_load.load().origins[SETTING] == "default"


def _ask_to_archive() -> bool | None:
    """Ask whether to archive transcripts; None if nobody answered."""
    megabytes = settings_load.load().whole("archive_transcripts_megabytes")
    say(f"{read_cleanup_period(str(Path.cwd())).words}.", err=True)
    question = (
        f"Save compressed copies without secrets in {archive.folder()}, up to {megabytes:,} MB?"
    )
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        say("\nNot archived; later: holdfast transcripts on", err=True)
        return None


MOST_NAMED = 5  # projects
AS_PLUGIN = "as a plugin: claude plugin uninstall holdfast"
CONTENTS = {  # of our folder: pattern and words
    "settings.toml": "settings",
    "guard.log": "log",
    "audit.jsonl": "log",
    "holdfast.db": "database",
    "checkpoints": "index of checkpoints",
    "windows": "state of sessions",
    "recall": "search index",
    "segments": "compressed topics",
    "outputs": "archived outputs",
    "transcripts": "archived transcripts",
    "budget": "pins and shares",
    "memory": "copies of memory topics",
    "runs": "journals of runs",
    "backups": "backups of the database",
    "installs": "receipts of installs",
}


def leave_checkpoints(*, go: bool) -> None:
    """List every project's folder; with `go`, remove what is ours in them. It is an error if
    anything stays: what follows in the same line would remove the list of our own checkpoints."""
    found = prune.folders_left([str(Path.cwd())])
    stay = []
    for left in found:
        why = prune.remove_own(left) if go and left.may_go else ""
        if why or left.stays:
            stay.append(shown(left.path))
        done = "stays" if why else "removed" if go else "would go"
        if left.may_go:
            size = counted(left.checkpoints, "checkpoint")
            say(f"{done:<8} {shown(left.path)}: {shown(why) or size}")
        for reason in dict.fromkeys(left.stays.values()):
            say(f"{'stays':<8} {shown(left.path)}: {shown(reason)}")
    if not found:
        say("No project has checkpoints of Holdfast.", err=True)
    elif not go:
        say("Nothing was removed; --yes removes those that would go.", err=True)
    for place, words in dict(_still_there()).items():
        out = f": holdfast uninstall{words} removes them"
        say(f"Hooks are still in {shown(f'{place}{out}')}.", err=True)
    say(f"Everything else of Holdfast is in {places.home()}.", err=True)
    if go and stay:
        raise CheckpointsStay(f"not removed: {', '.join(stay)}")


def say_what_stays() -> None:
    """Print after an uninstall where our own files are, and how each is removed."""
    from holdfast.memory.topic_store import folders_with_ours

    home = Path(places.home())
    checkpoints = prune.folders_left([str(Path.cwd())])
    topics = folders_with_ours()
    if not home.is_dir() and not checkpoints and not topics:
        return
    say("What stays, until you remove it:")
    for left in checkpoints[:MOST_NAMED]:
        others = f", and {counted(len(left.stays), 'other file')}" if left.stays else ""
        say(f"  {shown(left.path)}: {counted(left.checkpoints, 'checkpoint')}{others}")
    if len(checkpoints) > MOST_NAMED:
        say(f"  and {len(checkpoints) - MOST_NAMED:,} more projects with checkpoints")
    for folder, count in topics.items():
        how = "`holdfast memory retire NAME` in that project removes one"
        say(f"  {shown(str(folder))}: {counted(count, 'topic')} of `holdfast memory add`; {how}")
    if home.is_dir():
        say(f"  {shown(str(home))}: {_contents(home)}")
    if found := what_is_there():
        say(f"  archived transcripts: {found}. To remove only them: {HOW_TO_REMOVE}")
    if removal := _removal(home, bool(checkpoints)):
        how = ", in this order" if " && " in removal else ""
        rest = " but for the topics" if topics else ""
        say(f"  Remove all of it{rest}{how}: {removal}")
    way = (
        AS_PLUGIN if plugin_environment.is_ours() else "the way you installed it (uv, pipx or pip)"
    )
    say(f"  The program itself: uninstall it {way}.")


def _contents(home: Path) -> str:
    """Name what is in our folder."""
    words = [words for name, words in CONTENTS.items() if (home / name).exists()]
    return ", ".join(dict.fromkeys(words)) or "small state files"


def _removal(home: Path, checkpoints: bool) -> str:
    """Return the command that removes what stays. Checkpoints go first: the list of those that are
    ours is in the folder that goes last."""
    first = [f"{typed_command()} uninstall --checkpoints --yes"] if checkpoints else []
    last = [f"rm -r {shlex.quote(str(home))}"] if home.is_dir() else []
    return " && ".join([*first, *last])


def _still_there() -> Iterator[tuple[str, str]]:
    """Yield the places where our hooks run, or were installed according to a receipt, with their
    description."""
    packages = our_packages(Path(places.home()))
    for one in find_installs(Path(places.user_home()), Path.cwd(), packages):
        if one.scope != "plugin":  # the client removes it
            project = None if one.scope == "user" else Path.cwd()
            yield str(one.path), Target(one.scope, one.path, project, ()).words
    for kept in receipts.load_all(Path(places.home())):
        place, project = Path(kept.anchor), Path(kept.project) if kept.project else None
        if installed_commands(place, packages):
            yield kept.anchor, Target(kept.scope, place, project, ()).words
