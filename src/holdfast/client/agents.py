"""The agents whose sessions we keep, and what each of them can do.

An agent is one adapter: `wire/codex` translates its lines, this module knows its folders and its
limit. Nothing above `transcript` and `client` asks which agent a session is of.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from holdfast.wire import codex, places

CODEX_WINDOW = 258_400  # what Codex states of a window of 272,000 tokens
CODEX_STATES, CODEX_COMPACTS_AT = 0.95, 0.9
MOST_CONFIG_BYTES = 1 << 20
SESSION_CHARS = 36  # at the end of a rollout's name
if TYPE_CHECKING:
    from pathlib import Path


class Agent(NamedTuple):
    """One agent: its name on the command line, what people call it, and what works with it."""

    name: str
    title: str
    abilities: tuple[str, ...]
    lacks: tuple[str, ...] = ()


CLAUDE = Agent("claude", "Claude Code", ("all",))
CODEX = Agent(
    "codex",
    "Codex",
    ("fill", "checkpoint", "brief after a compaction", "search", "dashboard", "tools"),
    ("status line", "list for the summariser", "subagents' windows", "`run`"),
)
AGENTS = (CLAUDE, CODEX)


def codex_home(environ: Mapping[str, str]) -> str:
    """Codex's own folder for this user; empty if the environment names no home."""
    home = environ.get("HOME", "")
    return environ.get("CODEX_HOME") or (f"{home}/.codex" if home else "")


def codex_limit(environ: Mapping[str, str]) -> int | None:
    """The limit in the user's settings of Codex."""
    import tomllib  # a session of Claude Code never needs it

    try:
        data = places.read_small(f"{codex_home(environ)}/config.toml", MOST_CONFIG_BYTES)
        limit = tomllib.loads(data.decode()).get("model_auto_compact_token_limit")
    except (OSError, ValueError):
        return None
    return limit if type(limit) is int and 0 < limit < 1 << 40 else None


def rollouts(environ: Mapping[str, str]) -> "list[Path]":
    """The transcripts of Codex on this machine."""
    from pathlib import Path  # a hook loads this module, and pathlib costs 8 ms

    home = codex_home(environ)
    return list(Path(home, "sessions").glob(f"*/*/*/{codex.PREFIX}*.jsonl")) if home else []


def session_of(transcript: "Path") -> str:
    """The session that a transcript's name tells."""
    name = transcript.name.partition(".")[0]
    return name[-SESSION_CHARS:] if codex.is_codex(transcript.name) else name


def agent_of(transcript: str | os.PathLike[str]) -> Agent:
    """The agent that wrote a transcript."""
    return CODEX if codex.is_codex(os.fspath(transcript)) else CLAUDE
