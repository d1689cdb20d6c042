"""What a user can turn to move the edge: variables, settings files, the client's command line.

Read where it can be seen: hooks inherit the client's environment, so they note the switches of
their session; `status`, run elsewhere, uses that note.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from holdfast.wire import places, scan

if TYPE_CHECKING:
    from pathlib import Path

MOST_SETTINGS_BYTES = 4 << 20
HEAD_BYTES = 1 << 16
MOST_MODEL_CHARS = 200
TRUE_WORDS = frozenset(("1", "true", "yes", "on"))


class Switches(NamedTuple):  # a dataclass costs 20 ms to import, and a compaction waits
    """None: not turned. `model` is the one asked for where that is a `[1m]`: the transcript
    and the requests leave the suffix out."""

    auto_compact_window: int | None = None
    percent_override: float | None = None
    max_output_tokens: int | None = None
    max_context_tokens: int | None = None
    large_windows_off: bool = False
    compaction_off: bool = False
    model: str = ""

    def as_json(self) -> dict[str, object]:
        return {key: value for key, value in self._asdict().items() if value}


def from_json(value: object) -> Switches:
    """A note's switches; fields that are not ours or not right are left out."""
    if not isinstance(value, dict):
        return Switches()
    kinds = {"large_windows_off": bool, "compaction_off": bool, "model": str}
    good = {
        name: value[name]
        for name in Switches._fields
        if isinstance(value.get(name), kinds.get(name, (int, float))) and _sane(value[name])
    }
    return Switches(**good)


def _sane(value: object) -> bool:
    return not isinstance(value, float | int) or 0 <= value < 1 << 40


def read(
    project: str = "",
    environ: Mapping[str, str] | None = None,
    command_line: Sequence[str] = (),
) -> Switches:
    """All switches as they hold now: the command line wins, then variables, then the files."""
    environ = os.environ if environ is None else environ
    found = Switches()
    for settings in settings_given(project, environ):
        found = _from_settings(found, settings)
    found = _from_command_line(_from_environ(found, environ), command_line)
    return found if found.model.endswith("[1m]") else found._replace(model="")


def project_of(transcript: Path) -> str:
    """The folder a session works in, as its transcript's first lines tell it."""
    try:
        head = places.read_small(str(transcript), HEAD_BYTES)
    except ValueError:
        return ""
    for raw in head.split(b"\n"):
        cwd = scan.text_of(scan.parse_object(raw), "cwd")
        if cwd and "\0" not in cwd:
            return cwd.encode("utf-8", "replace").decode()
    return ""


def command_line_of(pid: str) -> list[str]:
    """The client's own arguments, where the system shows them (Linux)."""
    if not pid.isdecimal():
        return []
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 (pathlib costs 8 ms)
            data = file.read()
    except OSError:
        return []
    return data.decode("utf-8", "replace").split("\0")


def settings_files(project: str, environ: Mapping[str, str]) -> list[Path]:
    """Claude Code's settings files, weakest first."""
    from pathlib import Path

    return [Path(path) for path in _settings_paths(project, environ)]


def _settings_paths(project: str, environ: Mapping[str, str]) -> list[str]:
    home = environ.get("HOME", "")
    config = environ.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
    files = [f"{config}/settings.json"] if config else []
    if project:
        files += [f"{project}/.claude/{name}" for name in ("settings.json", "settings.local.json")]
    managed = ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
    return files + [f"{folder}/managed-settings.json" for folder in managed]


def settings_given(project: str, environ: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """What each of those files says, weakest first; one that cannot be read says nothing."""
    for path in _settings_paths(project, environ):
        try:
            if not _may_read(path):
                continue
            with open(path, "rb") as file:  # noqa: PTH123
                value = json.loads(file.read())
        except (OSError, ValueError, RecursionError):
            continue  # the client ignores a broken file too; install and doctor speak of it
        if isinstance(value, dict):
            yield value


def _may_read(path: str) -> bool:
    found = os.stat(path)  # noqa: PTH116
    return stat.S_ISREG(found.st_mode) and found.st_size <= MOST_SETTINGS_BYTES


def _from_settings(found: Switches, settings: Mapping[str, object]) -> Switches:
    window = settings.get("autoCompactWindow")
    if isinstance(window, (int, str)) and not isinstance(window, bool):
        found = found._replace(
            auto_compact_window=_tokens(str(window)) or found.auto_compact_window
        )
    enabled = settings.get("autoCompactEnabled")
    if isinstance(enabled, bool):
        found = found._replace(compaction_off=not enabled)
    model = settings.get("model")
    if isinstance(model, str):
        found = found._replace(model=model[:MOST_MODEL_CHARS])
    block = settings.get("env")
    if isinstance(block, dict):
        found = _from_environ(found, {k: v for k, v in block.items() if isinstance(v, str)})
    return found


def _from_environ(found: Switches, environ: Mapping[str, str]) -> Switches:
    percent = _number(environ.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", ""))
    return found._replace(
        auto_compact_window=_tokens(environ.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", ""))
        or found.auto_compact_window,
        percent_override=percent if percent and 0 < percent <= 100 else found.percent_override,
        max_output_tokens=_tokens(environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", ""))
        or found.max_output_tokens,
        model=environ.get("ANTHROPIC_MODEL", "")[:MOST_MODEL_CHARS] or found.model,
        max_context_tokens=_tokens(environ.get("CLAUDE_CODE_MAX_CONTEXT_TOKENS", ""))
        or found.max_context_tokens,
        large_windows_off=found.large_windows_off
        or _true(environ.get("CLAUDE_CODE_DISABLE_1M_CONTEXT", "")),
        compaction_off=found.compaction_off
        or _true(environ.get("DISABLE_AUTO_COMPACT", ""))
        or _true(environ.get("DISABLE_COMPACT", "")),
    )


def _from_command_line(found: Switches, words: Sequence[str]) -> Switches:
    window = _tokens(_option(words, "--autocompact"))
    model = _option(words, "--model")
    return found._replace(
        auto_compact_window=window or found.auto_compact_window,
        model=model[:MOST_MODEL_CHARS] or found.model,
    )


def _option(words: Sequence[str], name: str) -> str:
    for word, following in pairwise([*words, ""]):
        if word == name:
            return following
        if word.startswith(name + "="):
            return word.removeprefix(name + "=")
    return ""


def _tokens(text: str) -> int | None:
    """`100000`, `100k`, `1m`."""
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    number = _number(text[:-1] if scale > 1 else text)
    return int(number * scale) if number and 0 < number * scale < 1 << 40 else None


def _number(text: str) -> float | None:
    try:
        return float(text.replace("_", "").replace(",", "")) if len(text) < 40 else None
    except ValueError:
        return None


def _true(text: str) -> bool:
    return text.strip().lower() in TRUE_WORDS
