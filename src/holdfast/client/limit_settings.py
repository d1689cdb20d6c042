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
LEAST_WINDOW, MOST_WINDOW = 100_000, 1_000_000  # the client's own bounds for a configured window
MOST_MODELS = 50
WINDOW_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"


class Switches(NamedTuple):  # a dataclass costs 20 ms to import, and a compaction waits
    """None: not turned. `model` is the one asked for where that is a `[1m]`: the transcript
    and the requests leave the suffix out. `model_windows` holds the windows set for single models,
    0 where one was set to "auto"; `agent_window` caps a subagent's window."""

    auto_compact_window: int | None = None
    model_windows: tuple[tuple[str, int], ...] = ()
    agent_window: int | None = None
    percent_override: float | None = None
    max_output_tokens: int | None = None
    max_context_tokens: int | None = None
    large_windows_off: bool = False
    compaction_off: bool = False
    model: str = ""
    window_source: str = ""  # the name of the switch that set `auto_compact_window`
    off_source: str = ""  # the one that turned compaction off

    def as_json(self) -> dict[str, object]:
        values = self._asdict() | {"model_windows": dict(self.model_windows)}
        return {key: value for key, value in values.items() if value}

    def window_for(self, model_id: str) -> tuple[int | None, str]:
        """The window configured for a model, and the switch that says so."""
        for model, tokens in self.model_windows:
            if model == _canonical(model_id):
                return tokens or None, f"modelSettings.{model}.autoCompactWindow"
        return self.auto_compact_window, self.window_source or "autoCompactWindow"

    def moving_limit_of(self, model_id: str) -> dict[str, object]:
        """What of the switches decides where this model's window is compacted."""
        window, _ = self.window_for(model_id)
        found = self._replace(
            auto_compact_window=window, model_windows=(), window_source="", off_source=""
        )
        return found.as_json()


def from_json(value: object) -> Switches:
    """A note's switches; fields that are not ours or not right are left out."""
    if not isinstance(value, dict):
        return Switches()
    good = {
        name: value[name]
        for name in Switches._fields
        if isinstance(value.get(name), KINDS.get(name, (int, float))) and _sane(value[name])
    }
    windows = value.get("model_windows")
    pairs = windows.items() if isinstance(windows, dict) else ()
    good["model_windows"] = tuple((k, v) for k, v in pairs if type(v) is int and _sane(v))
    return Switches(**good)


KINDS: dict[str, type] = {
    "large_windows_off": bool,
    "compaction_off": bool,
    "model": str,
    "window_source": str,
    "off_source": str,
}


def _sane(value: object) -> bool:
    return not isinstance(value, float | int) or 0 <= value < 1 << 40


def read(
    project: str = "",
    environ: Mapping[str, str] | None = None,
    command_line: Sequence[str] = (),
    agent_type: str = "",
) -> Switches:
    """All switches as they hold now, as client 2.1.325 ranks them: files, weakest first, then the
    command line, then variables; a model asked for on the command line wins over a variable."""
    environ = os.environ if environ is None else environ
    found = Switches()
    for settings in settings_given(project, environ):
        found = _from_settings(found, settings)
    found = _from_environ(_window_of_command_line(found, command_line), environ)
    model = _option(command_line, "--model")[:MOST_MODEL_CHARS] or found.model
    found = found._replace(model=model if model.endswith("[1m]") else "")
    if agent_type:
        from holdfast.client import agent_definitions  # seldom needed, and a compaction waits

        ceiling = agent_definitions.window_of(agent_type, project, environ)
        found = found._replace(agent_window=ceiling)
    return found


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
    for _, value in settings_by_file(project, environ):
        yield value


def settings_by_file(
    project: str, environ: Mapping[str, str]
) -> Iterator[tuple[str, dict[str, object]]]:
    """The same, each with its file."""
    for path in _settings_paths(project, environ):
        try:
            if not _may_read(path):
                continue
            with open(path, "rb") as file:  # noqa: PTH123
                value = json.loads(file.read())
        except (OSError, ValueError, RecursionError):
            continue  # the client ignores a broken file too; install and doctor speak of it
        if isinstance(value, dict):
            yield path, value


def _may_read(path: str) -> bool:
    found = os.stat(path)  # noqa: PTH116
    return stat.S_ISREG(found.st_mode) and found.st_size <= MOST_SETTINGS_BYTES


def _from_settings(found: Switches, settings: Mapping[str, object]) -> Switches:
    by_model = _model_windows(settings.get("modelSettings"))
    window = _window_in_range(settings.get("autoCompactWindow"))
    if window:  # it also replaces what weaker files set for single models
        found = found._replace(
            auto_compact_window=window, model_windows=by_model, window_source="autoCompactWindow"
        )
    elif by_model:
        merged = dict(found.model_windows) | dict(by_model)
        found = found._replace(model_windows=tuple(merged.items()))
    enabled = settings.get("autoCompactEnabled")
    if isinstance(enabled, bool):
        source = "" if enabled else "autoCompactEnabled"
        found = found._replace(compaction_off=not enabled, off_source=source)
    model = settings.get("model")
    if isinstance(model, str):
        found = found._replace(model=model[:MOST_MODEL_CHARS])
    block = settings.get("env")
    if isinstance(block, dict):
        found = _from_environ(found, {k: v for k, v in block.items() if isinstance(v, str)})
    return found


def _model_windows(value: object) -> tuple[tuple[str, int], ...]:
    """By canonical name, 0 for "auto"; a key that is the canonical name wins over its aliases."""
    if not isinstance(value, dict):
        return ()
    found: dict[str, int] = {}
    for key, of_model in list(value.items())[:MOST_MODELS]:
        told = of_model.get("autoCompactWindow") if isinstance(of_model, dict) else None
        window = 0 if told == "auto" else _window_in_range(told)
        name = _canonical(key[:MOST_MODEL_CHARS])
        if window is not None and (key == name or name not in found):
            found[name] = window
    return tuple(found.items())


def _canonical(model_id: str) -> str:
    from holdfast.client import models  # 10 ms that only a window set for a model costs

    return models.canonical(model_id)


def _window_in_range(value: object) -> int | None:
    """In a file the client takes a whole number between its bounds and ignores all else."""
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    good = whole and LEAST_WINDOW <= value <= MOST_WINDOW  # type: ignore[operator]
    return int(value) if good else None  # type: ignore[call-overload]


def _from_environ(found: Switches, environ: Mapping[str, str]) -> Switches:
    percent = _number(environ.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", ""))
    window = _tokens(environ.get(WINDOW_VARIABLE, ""))
    if window:
        found = found._replace(
            auto_compact_window=window, model_windows=(), window_source=WINDOW_VARIABLE
        )
    for name in ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT"):
        if _true(environ.get(name, "")):
            found = found._replace(compaction_off=True, off_source=name)
    return found._replace(
        percent_override=percent if percent and 0 < percent <= 100 else found.percent_override,
        max_output_tokens=_tokens(environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", ""))
        or found.max_output_tokens,
        model=environ.get("ANTHROPIC_MODEL", "")[:MOST_MODEL_CHARS] or found.model,
        max_context_tokens=_tokens(environ.get("CLAUDE_CODE_MAX_CONTEXT_TOKENS", ""))
        or found.max_context_tokens,
        large_windows_off=found.large_windows_off
        or _true(environ.get("CLAUDE_CODE_DISABLE_1M_CONTEXT", "")),
    )


def _window_of_command_line(found: Switches, words: Sequence[str]) -> Switches:
    """`--autocompact 150` means 150,000, as the client reads it."""
    told = _option(words, "--autocompact")
    window = _tokens(told)
    if not window:
        return found
    if told[-1:].isdigit() and 100 <= window <= 1_000:
        window *= 1_000
    return found._replace(
        auto_compact_window=window, model_windows=(), window_source="--autocompact"
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
