"""The doctor's check of the status line: whether it is installed, ours, and prints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from holdfast.client import settings_files
from holdfast.setup import receipts
from holdfast.setup.doctor.hooks import FiredHook, fire_status_line, missing
from holdfast.setup.installs import Install
from holdfast.setup.settings_text import settings_in, status_command_in
from holdfast.setup.targets import SCOPES, settings_file
from holdfast.setup.wiring import is_ours, is_written_by_us, wrapped_in
from holdfast.wire import places

ALERTING = "UserPromptSubmit"
CANNOT_RUN = (126, 127)  # exit codes of a shell that cannot run a command
SLOW_MS = 1_500  # the user sees it late; after 3 s it is stopped and not shown at all
LINE_END = " / "  # between two lines of what was printed
FIX = "fix it, or remove it from your settings and run `holdfast install`"


@dataclass(frozen=True, slots=True)
class StatusLineCheck:
    fired: FiredHook | None = None
    troubles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def check_status_line(
    installs: list[Install], project: Path, packages: frozenset[str]
) -> StatusLineCheck:
    """Run the status line that Claude Code shows in this project."""
    if not installs:
        return StatusLineCheck()
    gone = tuple(_describe_removed(install) for install in installs if _is_removed(install))
    files = settings_files.list_files(
        str(project), os.environ
    )  # weakest first: the last one is shown
    lines = [(path, status_command_in(settings_in(path))) for path in files]
    shown = [(path, command) for path, command in lines if command is not None]
    if not shown:
        nothing = "no status line is installed" + _why(installs)
        return StatusLineCheck(None, gone, () if gone else (nothing,))
    path, command = shown[-1]
    if path in _project_files(project) and not is_written_by_us(command):
        words = f"the status line shown is that of {path}; it came with the project and was not run"
        return StatusLineCheck(None, gone, (words,))
    line = _check_line(path, command, packages, _alerting_hook(installs))
    return StatusLineCheck(line.fired, gone + line.troubles, line.notes)


def _alerting_hook(installs: list[Install]) -> str:
    """The hook that records the alert which the status line shows; empty if none is installed."""
    hooks = (one for install in installs for one in install.runnable)
    return next((command for event, command in hooks if event == ALERTING), "")


def _project_files(project: Path) -> set[Path]:
    """The settings files of the project, unless they are the user's own."""
    files = {scope: settings_file(scope, Path(places.user_home()), project) for scope in SCOPES}
    return set(files.values()) - {files["user"]}


def _is_removed(install: Install) -> bool:
    """Whether our status line was removed from this place."""
    kept = receipts.load(Path(places.home()).absolute(), install.path)
    wrote = kept is not None and kept.record_of(install.path) is not None
    return wrote and status_command_in(settings_in(install.path)) is None


def _describe_removed(install: Install) -> str:
    scope = "" if install.scope == "user" else f" --scope {install.scope}"
    return f"the status line is gone from {install.path}; run `holdfast install{scope}`"


def _why(installs: list[Install]) -> str:
    if any(install.scope != "plugin" for install in installs):
        return "; `holdfast install` adds it"
    return "; a plugin cannot set it: `holdfast install --status-line` does"


def _check_foreign(path: Path, fired: FiredHook) -> StatusLineCheck:
    """The user's own status line. It may fail outside of a repository, but it must exist."""
    if fired.exit_code in CANNOT_RUN or missing(fired.command):
        words = f"the status line in {path}, which is not from Holdfast: {fired.trouble}"
        return StatusLineCheck(
            fired, (f"{words}; fix it, or remove it and run `holdfast install`",)
        )
    return StatusLineCheck(fired, (), (f"the status line shown is that of {path}, without ours",))


def _check_line(path: Path, command: str, packages: frozenset[str], hook: str) -> StatusLineCheck:
    fired = fire_status_line(command, ALERTING, hook)
    if not is_ours(command, packages):
        return _check_foreign(path, fired)
    if fired.trouble:
        trouble = f"the status line in {path}: {fired.trouble}; run `holdfast install`"
        return StatusLineCheck(fired, (trouble,))
    theirs = wrapped_in(command)
    if not theirs:
        return StatusLineCheck(fired)
    alone = fire_status_line(theirs)
    words = _wrapped_trouble(fired, alone)
    if words:
        return StatusLineCheck(fired, (f"your own status line {words}; {FIX}",))
    note = f"your own status line fails: {alone.trouble}" if alone.trouble else ""
    return StatusLineCheck(fired, (), (note,) if note else ())


def _wrapped_trouble(fired: FiredHook, alone: FiredHook) -> str:
    """What is wrong with the line of the user's that ours runs first; empty: nothing. One that ends
    with an error may mean it, outside of a repository for example."""
    if alone.exit_code in CANNOT_RUN or alone.exit_code is None:
        return f"cannot run: {alone.trouble}"
    if alone.milliseconds >= SLOW_MS:
        return f"takes {alone.milliseconds / 1000:.1f} s, and Claude Code runs it after each answer"
    if alone.reached_user and LINE_END not in fired.reached_user:
        return "prints nothing when Holdfast runs it, though it does alone"
    return ""
