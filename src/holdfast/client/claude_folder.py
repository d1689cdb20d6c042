"""Claude Code's own folder, its settings files, and the settings that only need those files."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from holdfast.wire import places, scan

if TYPE_CHECKING:
    from pathlib import Path  # a hook reads these files, and pathlib costs 8 ms

MAX_SETTINGS_BYTES = 4 << 20
CLEANUP_SETTING = "cleanupPeriodDays"
DEFAULT_CLEANUP_DAYS = 30


def config_folder(environ: Mapping[str, str]) -> str:
    """Claude Code's own folder for this user; empty if the environment names no home."""
    home = environ.get("HOME", "")
    return environ.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")


def folder_below(home: "Path") -> "Path":
    """The same folder as an absolute path, for a given home."""
    from pathlib import Path

    given = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(given).absolute() if given else home / ".claude"


def transcripts_folder() -> "Path":
    """The folder with one folder per project, and in it one file per session."""
    from pathlib import Path

    return folder_below(Path(places.user_home())) / "projects"


def project_of(transcript: "Path") -> str:
    """The folder a session works in, from the first lines of its transcript."""
    for raw in places.read_small(str(transcript)).split(b"\n"):
        line = scan.parse_object(raw)
        cwd = scan.text_of(line, "cwd") or _cwd_of_others(line)
        if cwd and "\0" not in cwd:
            return cwd.encode("utf-8", "replace").decode()
    return ""


def _cwd_of_others(line: Mapping[str, object]) -> str:
    """Codex says it in its payload, Copilot in the context of its data."""
    data = line.get("data")
    for holder in (line.get("payload"), data.get("context") if isinstance(data, dict) else None):
        if isinstance(holder, dict) and scan.text_of(holder, "cwd"):
            return scan.text_of(holder, "cwd")
    return ""


def list_files(project: str, environ: Mapping[str, str]) -> "list[Path]":
    """Claude Code's settings files, weakest first."""
    from pathlib import Path

    return [Path(path) for path in _settings_paths(project, environ)]


def _settings_paths(project: str, environ: Mapping[str, str]) -> list[str]:
    config = config_folder(environ)
    files = [f"{config}/settings.json"] if config else []
    if project:
        files += [f"{project}/.claude/{name}" for name in ("settings.json", "settings.local.json")]
    managed = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
    return files + [f"{folder}/managed-settings.json" for folder in managed]


def read_by_file(
    project: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, object]]]:
    """The path and the content of each file, weakest first, without unreadable files."""
    for path in _settings_paths(project, environ):
        try:
            with os.fdopen(places.open_regular(path), "rb") as file:
                data = file.read(MAX_SETTINGS_BYTES + 1)
            value = json.loads(data) if len(data) <= MAX_SETTINGS_BYTES else None
        except (OSError, ValueError, RecursionError):
            continue  # Claude Code ignores a broken file too; install and doctor report it
        if isinstance(value, dict):
            yield path, value


class CleanupPeriod(NamedTuple):
    """After how many days Claude Code deletes transcripts, and the file that sets it. Seen with
    2.1.325: a whole number of at least 1; the strongest file wins; 30 by default. As long as one
    file has an invalid value (`error`), nothing is deleted."""

    days: int = DEFAULT_CLEANUP_DAYS
    file: str = ""
    error: str = ""

    @property
    def words(self) -> str:
        if self.error:
            return f"Claude Code deletes no transcript until this is fixed: {self.error}"
        why = f"{CLEANUP_SETTING} in {self.file}" if self.file else f"{CLEANUP_SETTING} is not set"
        days = "day" if self.days == 1 else "days"
        return f"Claude Code deletes a transcript {self.days:,} {days} after its last use ({why})"


def read_cleanup_period(project: str = "") -> CleanupPeriod:
    period = CleanupPeriod()
    for file, settings in read_by_file(project, os.environ):
        if CLEANUP_SETTING not in settings:
            continue
        days = settings[CLEANUP_SETTING]
        if isinstance(days, int) and not isinstance(days, bool) and days > 0:
            period = period._replace(days=days, file=file)
        else:
            period = period._replace(error=f"{CLEANUP_SETTING} = {days!r} in {file}")
    return period
