"""The user's settings that move the compaction limit: variables, settings files, command line.

Hooks inherit Claude Code's environment, so they read these settings and save them in the state of
their window; `status`, run elsewhere, uses the saved ones.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from holdfast.client import claude_folder
from holdfast.wire import places, tail

if TYPE_CHECKING:
    pass

MAX_MODEL_CHARS = 200
TRUE_WORDS = frozenset(("1", "true", "yes", "on"))
MIN_WINDOW, MAX_WINDOW = 100_000, 1_000_000  # the client's own bounds for a configured window
MAX_MODELS = 50
WINDOW_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
MAX_AGENT_FILES = 500


class LimitSettings(NamedTuple):  # a dataclass costs 20 ms to import, and a compaction waits
    """None means not set. `model` is the requested model if its name ends in `[1m]`, because the
    transcript and the requests leave that suffix out. `model_windows` holds the windows set for
    single models, 0 for "auto"; `agent_window` caps a subagent's window."""

    auto_compact_window: int | None = None
    model_windows: tuple[tuple[str, int], ...] = ()
    agent_window: int | None = None
    percent_override: float | None = None
    max_output_tokens: int | None = None
    max_context_tokens: int | None = None
    large_windows_off: bool = False
    compaction_off: bool = False
    compact_at: int | None = None  # the limit itself, as Codex's settings state it
    model: str = ""
    window_source: str = ""  # the name of the setting behind `auto_compact_window`
    off_source: str = ""  # the name of the setting that turned compaction off

    def as_json(self) -> dict[str, object]:
        values = self._asdict() | {"model_windows": dict(self.model_windows)}
        return {key: value for key, value in values.items() if value}

    def window_for(self, model_id: str) -> tuple[int | None, str]:
        """The window configured for a model, and the name of the setting."""
        for model, tokens in self.model_windows:
            if model == _canonical(model_id):
                return tokens or None, f"modelSettings.{model}.autoCompactWindow"
        return self.auto_compact_window, self.window_source or "autoCompactWindow"

    def moving_limit_of(self, model_id: str) -> dict[str, object]:
        """The settings that decide where this model's window is compacted."""
        window, _ = self.window_for(model_id)
        found = self._replace(
            auto_compact_window=window, model_windows=(), window_source="", off_source=""
        )
        return found.as_json()


def from_json(value: object) -> LimitSettings:
    """Settings saved by `as_json`. Unknown and invalid fields are left out."""
    if not isinstance(value, dict):
        return LimitSettings()
    good = {
        name: value[name]
        for name in LimitSettings._fields
        if isinstance(value.get(name), KINDS.get(name, (int, float))) and _is_in_range(value[name])
    }
    windows = value.get("model_windows")
    pairs = windows.items() if isinstance(windows, dict) else ()
    good["model_windows"] = tuple((k, v) for k, v in pairs if type(v) is int and _is_in_range(v))
    return LimitSettings(**good)


KINDS: dict[str, type] = {
    **dict.fromkeys(("large_windows_off", "compaction_off"), bool),
    **dict.fromkeys(("model", "window_source", "off_source"), str),
}


def _is_in_range(value: object) -> bool:
    return not isinstance(value, float | int) or 0 <= value < 1 << 40


def read(
    project: str = "",
    environ: Mapping[str, str] | None = None,
    command_line: Sequence[str] = (),
    agent_type: str = "",
    transcript: str = "",
) -> LimitSettings:
    """The settings in effect, ranked as Claude Code 2.1.325 ranks them: files, the command line,
    variables; but a model on the command line wins. Other agents have settings of their own."""
    environ = os.environ if environ is None else environ
    if tail.is_codex(transcript) or tail.is_copilot(transcript):
        from holdfast.client.agents import agent_of

        return LimitSettings(compact_at=agent_of(transcript).own_limit(environ))
    found = LimitSettings()
    for _, settings in claude_folder.read_by_file(project, environ):
        found = _from_settings(found, settings)
    found = _from_environ(_from_command_line(found, command_line), environ)
    model = _find_option(command_line, "--model")[:MAX_MODEL_CHARS] or found.model
    found = found._replace(model=model if model.endswith("[1m]") else "")
    if agent_type:
        found = found._replace(agent_window=find_agent_window(agent_type, project, environ))
    return found


def command_line_of(pid: str) -> list[str]:
    """Claude Code's own arguments, where the system shows them (Linux)."""
    if not pid.isdecimal():
        return []
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            data = file.read()
    except OSError:
        return []
    return data.decode("utf-8", "replace").split("\0")


def _from_settings(found: LimitSettings, settings: Mapping[str, object]) -> LimitSettings:
    by_model = _model_windows(settings.get("modelSettings"))
    window = _parse_window(settings.get("autoCompactWindow"))
    if window:  # it also replaces the windows that weaker files set for single models
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
        found = found._replace(model=model[:MAX_MODEL_CHARS])
    block = settings.get("env")
    if isinstance(block, dict):
        found = _from_environ(found, {k: v for k, v in block.items() if isinstance(v, str)})
    return found


def _model_windows(value: object) -> tuple[tuple[str, int], ...]:
    """Windows by canonical model name, 0 for "auto". A canonical key wins over its aliases."""
    if not isinstance(value, dict):
        return ()
    found: dict[str, int] = {}
    for key, of_model in list(value.items())[:MAX_MODELS]:
        stated = of_model.get("autoCompactWindow") if isinstance(of_model, dict) else None
        window = 0 if stated == "auto" else _parse_window(stated)
        name = _canonical(key[:MAX_MODEL_CHARS])
        if window is not None and (key == name or name not in found):
            found[name] = window
    return tuple(found.items())


def _canonical(model_id: str) -> str:
    from holdfast.client import compaction_limit

    return compaction_limit.canonical(model_id)


def _parse_window(value: object) -> int | None:
    """A whole number within the bounds; Claude Code ignores any other value in a file."""
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    good = whole and MIN_WINDOW <= value <= MAX_WINDOW  # type: ignore[operator]
    return int(value) if good else None  # type: ignore[call-overload]


def _from_environ(settings: LimitSettings, environ: Mapping[str, str]) -> LimitSettings:
    percent = _parse_number(environ.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", ""))
    window = parse_tokens(environ.get(WINDOW_VARIABLE, ""))
    if window:
        settings = settings._replace(
            auto_compact_window=window, model_windows=(), window_source=WINDOW_VARIABLE
        )
    for name in ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT"):
        if _is_true(environ.get(name, "")):
            settings = settings._replace(compaction_off=True, off_source=name)
    return settings._replace(
        percent_override=percent if percent and 0 < percent <= 100 else settings.percent_override,
        max_output_tokens=parse_tokens(environ.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", ""))
        or settings.max_output_tokens,
        model=environ.get("ANTHROPIC_MODEL", "")[:MAX_MODEL_CHARS] or settings.model,
        max_context_tokens=parse_tokens(environ.get("CLAUDE_CODE_MAX_CONTEXT_TOKENS", ""))
        or settings.max_context_tokens,
        large_windows_off=settings.large_windows_off
        or _is_true(environ.get("CLAUDE_CODE_DISABLE_1M_CONTEXT", "")),
    )


def _from_command_line(settings: LimitSettings, words: Sequence[str]) -> LimitSettings:
    """Apply `--autocompact`. Claude Code reads 150 as 150,000."""
    stated = _find_option(words, "--autocompact")
    window = parse_tokens(stated)
    if not window:
        return settings
    if stated[-1:].isdigit() and 100 <= window <= 1_000:
        window *= 1_000
    return settings._replace(
        auto_compact_window=window, model_windows=(), window_source="--autocompact"
    )


def _find_option(words: Sequence[str], name: str) -> str:
    for word, following in pairwise([*words, ""]):
        if word == name:
            return following
        if word.startswith(name + "="):
            return word.removeprefix(name + "=")
    return ""


def parse_tokens(text: str) -> int | None:
    """`100000`, `100,000`, `100k`, `1.5m`; None for what is no number of tokens."""
    scale = {"k": 1_000, "m": 1_000_000}.get(text[-1:].lower(), 1)
    number = _parse_number(text[:-1] if scale > 1 else text)
    return int(number * scale) if number and 0 < number * scale < 1 << 40 else None


def _parse_number(text: str) -> float | None:
    try:
        return float(text.replace("_", "").replace(",", "")) if len(text) < 40 else None
    except ValueError:
        return None


def _is_true(text: str) -> bool:
    return text.strip().lower() in TRUE_WORDS


def find_agent_window(agent_type: str, project: str, environ: Mapping[str, str]) -> int | None:
    """`autoCompactWindow` in the definition of an agent: Markdown under `agents`, the project's
    before the user's. Agents of plugins and of `--agents` are not found here."""
    for path in islice(_list_agent_files(project, environ), MAX_AGENT_FILES):
        front = _read_front_matter(path)
        if front.get("name") == agent_type:
            text = front.get("autoCompactWindow", "")
            return _parse_window(int(text)) if text.isdecimal() and len(text) < 9 else None
    return None


def _list_agent_files(project: str, environ: Mapping[str, str]) -> Iterator[str]:
    folders = (f"{project}/.claude" if project else "", claude_folder.config_folder(environ))
    for folder in filter(None, folders):
        for inside, _, names in os.walk(f"{folder}/agents"):
            yield from (f"{inside}/{name}" for name in sorted(names) if name.endswith(".md"))


def _read_front_matter(path: str) -> dict[str, str]:
    """The plain `key: value` lines of a front matter, which is enough for a name and a number."""
    lines = places.read_small(path).decode("utf-8", "replace").splitlines()
    if not lines or lines[0].strip() != "---":
        return {}
    found: dict[str, str] = {}
    for line in lines[1:]:
        if line.strip() == "---":
            return found
        key, colon, value = line.partition(":")
        if colon and key == key.strip():
            found[key] = value.strip().strip("\"'")
    return {}
