"""The agents whose sessions we keep, and what each of them can do.

An agent is one adapter: `wire/codex` translates its lines, this module knows its folders and its
limit. Nothing above `transcript` and `client` asks which agent a session is of.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from holdfast.wire import codex, copilot, places

MOST_CONFIG_BYTES = 1 << 20
SESSION_CHARS = 36  # at the end of a rollout's name
if TYPE_CHECKING:
    from pathlib import Path


class CodingAgent(NamedTuple):
    """One agent: its name on the command line, what people call it, how the version of its lines
    begins, and its limit where a share of the window decides it. `lacks` are the abilities that do
    not work with it, each with the reason if there is one to tell."""

    name: str
    title: str
    version: str = ""
    window_tokens: int = 0  # where none is stated
    states: float = 1.0  # the share of the window that its log states
    compacts_at: float = 1.0
    limit_setting: str = ""
    lacks: Mapping[str, str] = {}

    def own_limit(self, environ: Mapping[str, str]) -> int | None:
        """The limit in the user's settings of this agent."""
        return _codex_limit(environ) if self.limit_setting else None


HISTORY = "history: `status --all`, `brief`, `lost`, `replay`"
LIVE = (
    "alerts",
    "checkpoint before a compaction, brief in the next request after it",
    "dashboard and search, from the first hook on",
)
CLAUDES = (
    "status line",
    "subagents' windows",
    "`holdfast run`",
    "archived outputs and transcripts",
)
STEERING = "list of what the summariser should keep"
SUMMARY = "how much of each item the summary holds"
ABILITIES = ("how full the window is", HISTORY, SUMMARY, *LIVE, STEERING, *CLAUDES)
CLAUDE = CodingAgent("claude", "Claude Code")
CODEX = CodingAgent(
    *("codex", "Codex", codex.VERSION),
    window_tokens=258_400,
    states=0.95,
    compacts_at=0.9,
    limit_setting="model_auto_compact_token_limit",
    lacks={STEERING: "Codex takes none", **dict.fromkeys(CLAUDES, "")},
)
COPILOT = CodingAgent(
    *("copilot", "Copilot", copilot.VERSION),
    window_tokens=128_000,
    compacts_at=0.95,
    lacks=dict.fromkeys((*LIVE, STEERING, *CLAUDES), ""),
)
AGENTS = (CLAUDE, CODEX, COPILOT)


def codex_home(environ: Mapping[str, str]) -> str:
    """Codex's own folder for this user; empty if the environment names no home."""
    home = environ.get("HOME", "")
    return environ.get("CODEX_HOME") or (f"{home}/.codex" if home else "")


def _codex_limit(environ: Mapping[str, str]) -> int | None:
    import tomllib  # a session of Claude Code never needs it

    try:
        data = places.read_small(f"{codex_home(environ)}/config.toml", MOST_CONFIG_BYTES)
        limit = tomllib.loads(data.decode()).get("model_auto_compact_token_limit")
    except (OSError, ValueError):
        return None
    return limit if type(limit) is int and 0 < limit < 1 << 40 else None


def other_transcripts(environ: Mapping[str, str]) -> "list[Path]":
    """The transcripts on this machine that are not of Claude Code."""
    from pathlib import Path  # a hook loads this module, and pathlib costs 8 ms

    found: list[Path] = []
    if home := codex_home(environ):
        found += Path(home, "sessions").glob(f"*/*/*/{codex.PREFIX}*.jsonl")
    if home := environ.get("HOME", ""):
        found += Path(home, ".copilot", copilot.ABOVE).glob(f"*/{copilot.NAME}")
    return found


def session_of(transcript: "Path") -> str:
    """The session that a transcript's name tells."""
    if agent_of(transcript) is COPILOT:
        return transcript.parent.name
    name = transcript.name.partition(".")[0]
    return name[-SESSION_CHARS:] if agent_of(transcript) is CODEX else name


def agent_of(transcript: str | os.PathLike[str]) -> CodingAgent:
    """The agent that wrote a transcript."""
    path = os.fspath(transcript)
    if codex.is_codex(path):
        return CODEX
    return COPILOT if copilot.is_copilot(path) else CLAUDE


def with_own_limit(version: str) -> CodingAgent | None:
    """The agent whose lines have this version, unless it is Claude Code."""
    return next((one for one in AGENTS if one.version and version.startswith(one.version)), None)
