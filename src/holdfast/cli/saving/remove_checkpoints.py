"""`holdfast uninstall --checkpoints`: the folders in your projects, and letting them go."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from holdfast.checkpoint import remove
from holdfast.cli.saving.transcripts import HOW_TO_REMOVE, what_is_there
from holdfast.cli.terminal import say
from holdfast.setup import receipts
from holdfast.setup.installs import find_installs, plugin_in
from holdfast.setup.receipts import our_packages
from holdfast.setup.settings_text import installed_commands
from holdfast.setup.targets import Target
from holdfast.text.escape import shown
from holdfast.text.numbers import counted
from holdfast.wire import places

MOST_NAMED = 5  # projects


def leave_checkpoints(*, go: bool) -> None:
    """List every project's folder; with `go`, remove those that hold only our files."""
    found = remove.folders_left([str(Path.cwd())])
    for left in found:
        why = left.why or (remove.remove(left) if go else "")
        done = "stays" if why else "removed" if go else "would go"
        size = counted(left.checkpoints, "checkpoint")
        say(f"{done:<8} {shown(left.path)}: {shown(why) or size}")
    if not found:
        say("No project has checkpoints of Holdfast.", err=True)
    elif not go:
        say("Nothing was removed; --yes removes those that would go.", err=True)
    for place, words in dict(_still_there()).items():
        out = f": holdfast uninstall{words} removes them"
        say(f"Hooks are still in {shown(f'{place}{out}')}.", err=True)
    say(f"Everything else of Holdfast is in {places.home()}.", err=True)


def say_what_stays() -> None:
    """After an uninstall: our own files, where they lie, and how each is removed."""
    home = Path(places.home())
    checkpoints = remove.folders_left([str(Path.cwd())])
    if not home.is_dir() and not checkpoints:
        return
    say("What stays, until you remove it:")
    if home.is_dir():
        what = "settings, log, database, index, archives"
        say(f"  {shown(str(home))}: {what}. Remove it: rm -r {shlex.quote(str(home))}")
    if found := what_is_there():
        say(f"  archived transcripts: {found}. Remove them: {HOW_TO_REMOVE}")
    for left in checkpoints[:MOST_NAMED]:
        say(f"  {shown(left.path)}: {counted(left.checkpoints, 'checkpoint')}")
    if len(checkpoints) > MOST_NAMED:
        say(f"  and {len(checkpoints) - MOST_NAMED:,} more projects with checkpoints")
    if checkpoints:
        say("  Remove all checkpoints: holdfast uninstall --checkpoints --yes")
    say("  The program itself: uninstall it the way you installed it (uv, pipx or pip).")


def _still_there() -> Iterator[tuple[str, str]]:
    """Where our hooks run here or a receipt says that they were put, and how each place is said."""
    packages = our_packages(Path(places.home()))
    for one in find_installs(Path.home(), Path.cwd(), packages):
        if one.scope != "plugin":  # of a plugin, the receipt knows the folder
            project = None if one.scope == "user" else Path.cwd()
            yield str(one.path), Target(one.scope, one.path, project, ()).words
    for kept in receipts.load_all(Path(places.home())):
        place, project = Path(kept.anchor), Path(kept.project) if kept.project else None
        if installed_commands(place, packages) or plugin_in(place).commands:
            yield kept.anchor, Target(kept.scope, place, project, ()).words
