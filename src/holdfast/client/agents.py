"""The agents whose sessions we keep, and what each of them can do.

An agent is one adapter: `wire/codex` translates its lines, this table has its folders, its limit
and where our hooks go. Nothing above `transcript` and `client` asks which agent a session is of.
"""

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.client import claude_folder
from holdfast.wire import places, tail

MOST_CONFIG_BYTES = 1 << 20
SESSION_CHARS = 36  # at the end of a rollout's name
if TYPE_CHECKING:
    from pathlib import Path


class CodingAgent(NamedTuple):
    """One agent: its name on the command line, with which the version of its lines begins too, what
    people call it, its folder, and its limit where a share of the window decides it. `lacks` are
    the abilities that do not work with it, each with the reason if there is one to tell."""

    name: str
    title: str
    plugin_command: str  # what installs and removes plugins
    folder: str = ""  # below the user's home
    folder_variable: str = ""
    transcripts: str = ""  # a pattern, below its folder
    compaction_signs: tuple[bytes, ...] = ()
    window_tokens: int = 0  # where none is stated
    states: float = 1.0  # the share of the window that its log states
    compacts_at: float = 1.0
    limit_setting: str = ""  # in its config.toml
    hooks_name: str = ""  # its file with nothing but hooks
    context_tokens: int = 0  # to ask for in each hook of ours that speaks to the model
    most_seconds: Mapping[str, int] = {}  # of a hook, by its event
    after_install: str = ""
    server_command: str = ""  # adds an MCP server
    lacks: Mapping[str, str] = {}

    @property
    def has_settings(self) -> bool:
        """Whether our hooks are lines of the user's settings, beside a status line and servers."""
        return not self.hooks_name

    @property
    def can_install(self) -> bool:
        return bool(self.hooks_name) or not self.folder

    @property
    def option(self) -> str:
        """What names it on our command line."""
        return f" --agent {self.name}" if self.hooks_name else ""

    def home(self, environ: Mapping[str, str]) -> str:
        """Its own folder for this user; empty if the environment names no home."""
        home = environ.get("HOME", "")
        given = environ.get(self.folder_variable, "")
        return given or (f"{home}/{self.folder}" if home and self.folder else "")

    def hooks_file(self, environ: Mapping[str, str]) -> str:
        """Its own file of hooks; empty if it has none."""
        home = self.home(environ)
        return f"{home}/{self.hooks_name}" if home and self.hooks_name else ""

    def files_with_hooks(self, project: str, environ: Mapping[str, str]) -> "list[Path]":
        """The files that may run our hooks beside a plugin."""
        from pathlib import Path

        if self.has_settings:
            return claude_folder.list_files(project, environ)
        return [Path(path)] if (path := self.hooks_file(environ)) else []

    def plugin_hooks(self, plugin: str, environ: Mapping[str, str]) -> "list[Path]":
        """The hooks of this plugin in its own folder, unless it is turned off there."""
        from pathlib import Path

        home = self.home(environ)
        if not home or not self.hooks_name:
            return []
        plugins = self._config(environ).get("plugins")
        known = plugins.items() if isinstance(plugins, dict) else ()
        on = [name for name, one in known if isinstance(one, dict) and one.get("enabled", True)]
        folders = [name.split("@") for name in on if name.startswith(f"{plugin}@")]
        cached = Path(home, "plugins", "cache")
        copies = [list(cached.glob(f"{shop}/{name}/*/{HOOKS}")) for name, shop in folders]
        return [
            max(some, key=os.path.getmtime) for some in copies if some
        ]  # older ones may be left

    def own_limit(self, environ: Mapping[str, str]) -> int | None:
        """The limit in the user's settings of this agent."""
        limit = self._config(environ).get(self.limit_setting) if self.limit_setting else None
        return limit if type(limit) is int and 0 < limit < 1 << 40 else None

    def _config(self, environ: Mapping[str, str]) -> dict[str, Any]:
        import tomllib  # a session of Claude Code never needs it

        try:
            data = places.read_small(f"{self.home(environ)}/config.toml", MOST_CONFIG_BYTES)
            return tomllib.loads(data.decode())
        except (OSError, ValueError):
            return {}


HOOKS = "hooks/hooks.json"
HISTORY = "history: `status --all`, `brief`, `lost`, `replay`, `search`, dashboard"
SAVED = "checkpoint before a compaction"
TOLD = ("alerts", "brief in the next request after a compaction")
CLAUDES = (
    "status line",
    "subagents' windows",
    "`holdfast run`",
    "archived outputs and transcripts",
)
STEERING = "list of what the summariser should keep"
SUMMARY = "how much of each item the summary holds"
ABILITIES = ("how full the window is", HISTORY, SUMMARY, SAVED, *TOLD, STEERING, *CLAUDES)
CLAUDE = CodingAgent("claude", "Claude Code", "claude plugin uninstall")
CODEX = CodingAgent(
    *("codex", "Codex", "codex plugin remove"),
    folder=".codex",
    folder_variable="CODEX_HOME",
    transcripts=f"sessions/*/*/*/{tail.CODEX_LOGS}*.jsonl*",
    compaction_signs=(b'"type":"compacted"',),
    window_tokens=258_400,
    states=0.95,
    compacts_at=0.9,
    limit_setting="model_auto_compact_token_limit",
    hooks_name="hooks.json",
    # Tokens of four bytes: by its own limit, a brief in many scripts would lose its middle.
    context_tokens=10_000,
    most_seconds={"SessionEnd": 3},
    after_install="Codex runs no hook that you have not trusted, and says nothing: start it, type "
    "/hooks, and trust those of Holdfast.",
    server_command="codex mcp add holdfast --",
    lacks={STEERING: "Codex takes none", **dict.fromkeys(CLAUDES, "")},
)
COPILOT = CodingAgent(
    *("copilot", "Copilot", "copilot plugin uninstall"),
    folder=".copilot",
    folder_variable="COPILOT_HOME",
    transcripts=f"{tail.COPILOT_FOLDER}/*/{tail.COPILOT_LOG}",
    compaction_signs=(b"compaction_complete",),
    window_tokens=128_000,
    compacts_at=0.8,
    lacks=dict.fromkeys((*TOLD, STEERING, *CLAUDES), ""),
)
AGENTS = (CLAUDE, CODEX, COPILOT)
COMPACTED = (
    b'"compact_boundary"',
    b'"isCompactSummary":true',
    b'"isCompactSummary": true',
    *(sign for agent in AGENTS for sign in agent.compaction_signs),
)


def other_transcripts(environ: Mapping[str, str]) -> "Iterator[Path]":
    """The transcripts on this machine that are not of Claude Code."""
    from pathlib import Path  # a hook loads this module, and pathlib costs 8 ms

    for agent in AGENTS:
        if agent.transcripts and (home := agent.home(environ)):
            yield from Path(home).glob(agent.transcripts)


def by_time() -> "list[Path]":
    """All transcripts of sessions on this machine, of every agent, newest first."""
    own = of_sessions(claude_folder.transcripts_folder())
    return newest_first([*own, *other_transcripts(os.environ)])


def by_session() -> "dict[str, Path]":
    """The newest transcript of each session, newest first."""
    found: dict[str, Path] = {}
    for path in by_time():
        found.setdefault(session_of(path), path)
    return found


def in_folder(folder: "Path") -> "Iterator[Path]":
    """List Claude Code's transcripts of sessions; those of subagents are one level deeper."""
    yield from folder.glob("*.jsonl")
    yield from folder.glob("*/*.jsonl")


def of_sessions(folder: "Path") -> "list[Path]":
    """Without those of subagents: old clients wrote them into the same folder."""
    return [path for path in in_folder(folder) if not path.name.startswith("agent-")]


def newest_first(paths: "list[Path]") -> "list[Path]":
    return sorted(paths, key=modified_at, reverse=True)


def modified_at(path: "Path") -> float:
    return places.modified_ms(str(path)) / 1000  # 0 if it was deleted meanwhile


def session_of(transcript: "Path") -> str:
    """The session that a transcript's name tells."""
    if agent_of(transcript) is COPILOT:
        return transcript.parent.name
    name = transcript.name.partition(".jsonl")[0]
    return name[-SESSION_CHARS:] if agent_of(transcript) is CODEX else name


def agent_of(transcript: str | os.PathLike[str]) -> CodingAgent:
    path = os.fspath(transcript)
    if tail.is_codex(path):
        return CODEX
    return COPILOT if tail.is_copilot(path) else CLAUDE


def is_kept_by_its_agent(transcript: "Path") -> bool:
    """Whether the transcript lies where its agent writes it, and is no copy or recording."""
    root = claude_folder.transcripts_folder().resolve()
    return agent_of(transcript) is not CLAUDE or transcript.resolve().is_relative_to(root)


def named(name: str) -> CodingAgent:
    """The agent of this name; a scope of Claude Code's settings is Claude Code's."""
    return next((agent for agent in AGENTS if agent.name == name), CLAUDE)
