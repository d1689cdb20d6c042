"""What stays after an uninstall, and how each part of it is removed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from holdfast.checkpoint import prune
from holdfast.cli.terminal import say
from holdfast.cli.transcripts import HOW_TO_REMOVE, what_is_there
from holdfast.files import plugin_environment
from holdfast.files.executable import typed_command
from holdfast.setup import receipts
from holdfast.setup.errors import CheckpointsStay
from holdfast.setup.installs import find_installs
from holdfast.setup.receipts import our_packages
from holdfast.setup.settings_text import installed_commands
from holdfast.setup.targets import Target
from holdfast.text.fence import shown
from holdfast.text.numbers import counted
from holdfast.wire import places

MOST_NAMED = 5  # projects
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
    folders = prune.folders_left([str(Path.cwd())])
    stay = []
    for left in folders:
        why = prune.remove_own(left) if go and left.may_go else ""
        if why or left.stays:
            stay.append(shown(left.path))
        done = "stays" if why else "removed" if go else "would go"
        if left.may_go:
            size = counted(left.checkpoints, "checkpoint")
            say(f"{done:<8} {shown(left.path)}: {shown(why) or size}")
        for reason in dict.fromkeys(left.stays.values()):
            say(f"{'stays':<8} {shown(left.path)}: {shown(reason)}")
    if not folders:
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
    if archived := what_is_there():
        say(f"  archived transcripts: {archived}. To remove only them: {HOW_TO_REMOVE}")
    if removal := _removal(home, bool(checkpoints)):
        how = ", in this order" if " && " in removal else ""
        rest = " but for the topics" if topics else ""
        say(f"  Remove all of it{rest}{how}: {removal}")
    how = "the way you installed it (uv, pipx or pip)"
    if plugin_environment.is_ours():
        how = "as a plugin: claude plugin uninstall holdfast"
    say(f"  The program itself: uninstall it {how}.")


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
    for install in find_installs(Path(places.user_home()), Path.cwd(), packages):
        if install.scope != "plugin":  # the client removes it
            project = None if install.scope == "user" else Path.cwd()
            yield str(install.path), Target(install.scope, install.path, project, ()).words
    for kept in receipts.load_all(Path(places.home())):
        place, project = Path(kept.anchor), Path(kept.project) if kept.project else None
        if installed_commands(place, packages):
            yield kept.anchor, Target(kept.scope, place, project, ()).words
