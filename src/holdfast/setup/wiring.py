"""What we put into Claude Code: the command lines of hooks and status line, and an MCP server.

Each command line ends in `|| :`. Claude Code takes exit code 2 as "block", and Python exits with 2
if its script is gone: without those four characters, `pip uninstall`, a moved folder or a half-done
upgrade would block every prompt.
"""

import shlex
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import holdfast
from holdfast.client.agents import AGENTS, CodingAgent
from holdfast.client.hook_outputs import MATCHER
from holdfast.files import plugin_environment

ENTRY = "holdfast/hook/__main__.py"
LAUNCHER = "/bin/holdfast"  # of a plugin
OR_NOTHING = " || :"  # whatever happens to our files, the shell exits with 0
OUR_FILES = b"holdfast/"  # in every line of ours
SERVER, SERVER_ENTRY = "holdfast", "holdfast/mcp/__main__.py"
STATUS_WORD, WRAPS = "statusline", "--wraps"
ARCHIVE_WORD, ARCHIVE_EVENT, ARCHIVE_TIMEOUT = "archive", "PostToolUse", 10
# Prints the second half of a brief: the client takes 10,000 characters per hook, and runs hooks
# with the same command once.
SECOND_WORD, SECOND_EVENT, SECOND_MATCHER = "second", "SessionStart", "compact"

ROOT = "${CLAUDE_PLUGIN_ROOT}"
# Some clients tell a server no place: `plugin` in our own folder says where the environment is.
PLUGIN_SERVER = (
    f'r="{ROOT}"; [ -z "$r" ] || exec sh "$r/bin/holdfast" mcp; '
    'read -r d <"${HOLDFAST_HOME:-$HOME/.holdfast}/plugin"; exec "$d/environment/bin/holdfast" mcp'
)
PLUGIN_LAUNCHER = f'sh "{ROOT}{LAUNCHER}"'
ENVIRONMENT_EVENTS = {"SessionStart": "start", "UserPromptSubmit": "tell"}

# Seconds, as Claude Code counts them. Without a value, SessionEnd is killed after about 1.5 s. A
# hook needs less than half of them, unless a session has megabytes of pasted text and the machine
# is overloaded.
TIMEOUTS = {
    "SessionStart": 20,
    "UserPromptSubmit": 5,
    "PostToolUse": 10,
    "PostToolUseFailure": 10,
    "SubagentStart": 5,
    "SubagentStop": 5,
    "Stop": 5,
    "PreCompact": 30,
    "PostCompact": 20,
    "SessionEnd": 10,
}
CONTEXT_EVENTS = frozenset(
    ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart")
)
ASYNC_EVENTS = frozenset(("PostToolUse", "PostToolUseFailure"))

HookTable = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Program:
    """One Holdfast on this machine: its interpreter, and the folder of its package."""

    python: str
    package: str

    @property
    def words(self) -> list[str]:
        """The command of every hook. -I and -S: nothing of the project or of `site` is imported."""
        return [self.python, "-I", "-S", f"{self.package}/hook/__main__.py"]

    @property
    def missing(self) -> str:
        """Which of its files is gone; empty if none is."""
        files = (self.python, self.words[-1])
        return next((file for file in files if not Path(file).is_file()), "")


def this_program() -> Program:
    # Links are kept: a virtual environment's python is a link, and only that finds its packages.
    python, package = sys.executable, str(Path(holdfast.__file__).parent)
    return Program(*map(plugin_environment.lasting, (python, package)))


@dataclass(frozen=True, slots=True)
class HoldfastCommand:
    """A command line in our form, of this Holdfast or another."""

    program: Program
    arguments: tuple[str, ...]


def hook_command(program: Program | None = None, *arguments: str) -> str:
    """The command line of every hook; the payload names the event."""
    return shlex.join([*(program or this_program()).words, *arguments]) + OR_NOTHING


def prints_second_half(command: object) -> bool:
    found = read_command(command)
    return found is not None and found.arguments == (SECOND_WORD,)


def status_command(theirs: str | None = None, program: Program | None = None) -> str:
    """Our status line. It contains the user's own command, which it runs first, so that neither
    can be lost without the other. If ours cannot run, the shell runs theirs."""
    words = [*(program or this_program()).words, STATUS_WORD]
    return hook_command(program, STATUS_WORD) if theirs is None else _wrapping(words, theirs)


def _wrapping(words: list[str], theirs: str) -> str:
    return f'set -- {shlex.quote(theirs)} ; {shlex.join([*words, WRAPS])} "$1" || eval "$1"'


def can_start(command: str) -> bool:
    """True if the program of this command line exists."""
    return any(Path(word).is_file() for word in _words(command)[:1])


def hook_table(archive_chars: int = 0, program: Program | None = None) -> HookTable:
    """The hooks by event, as in settings.json and a plugin's hooks.json. With `archive_chars`,
    longer results are archived."""
    starts = program or this_program()
    table: HookTable = {event: [{"hooks": [_hook(event, starts)]}] for event in TIMEOUTS}
    second = {**_hook(SECOND_EVENT, starts), "command": hook_command(starts, SECOND_WORD)}
    table[SECOND_EVENT].append({"matcher": SECOND_MATCHER, "hooks": [second]})
    if archive_chars:
        # not asynchronous: such a hook cannot shorten a result
        command = hook_command(starts, ARCHIVE_WORD, str(archive_chars))
        archiving = {"type": "command", "command": command, "timeout": ARCHIVE_TIMEOUT}
        table[ARCHIVE_EVENT].append({"matcher": MATCHER, "hooks": [archiving]})
    return table


def agent_table(agent: CodingAgent) -> HookTable:
    """The hooks for an agent that has its own file of hooks."""
    table = hook_table()
    for event, hook in _hooks_in(table):
        hook["timeout"] = min(hook["timeout"], agent.most_seconds.get(event, hook["timeout"]))
        hook.update(_room(agent, event))
    return table


def _room(agent: CodingAgent, event: str) -> dict[str, int]:
    """How long an output an agent is asked to take; it warns where it takes none."""
    speaks = agent.context_tokens and event in CONTEXT_EVENTS
    return {"additionalContextLimit": agent.context_tokens} if speaks else {}


def plugin_table() -> HookTable:
    """The hooks of the portable plugin, for every agent. One quoted command each: some ignore
    `args`."""
    table = hook_table()
    for event, hook in _hooks_in(table):
        word = f" {SECOND_WORD}" if prints_second_half(hook["command"]) else ""
        hook["command"] = f"{PLUGIN_LAUNCHER} hook{word}{OR_NOTHING}"
        for agent in AGENTS:
            hook.update(_room(agent, event))
    for event, word in ENVIRONMENT_EVENTS.items():
        command = f"{PLUGIN_LAUNCHER} environment {word}{OR_NOTHING}"
        hook = {"type": "command", "command": command, "timeout": TIMEOUTS[event]}
        table[event].append({"hooks": [hook]})
    return table


def _hooks_in(table: HookTable) -> Iterator[tuple[str, dict[str, Any]]]:
    for event, groups in table.items():
        yield from ((event, hook) for group in groups for hook in group["hooks"])


def archive_chars(commands: Iterable[tuple[str, str]]) -> int:
    """The limit for archiving in our installed commands; 0 if there is none."""
    return next((limit for _, command in commands if (limit := archives_from(command))), 0)


def archives_from(command: object) -> int:
    """The limit in a command that archives; 0 for any other command."""
    found = read_command(command)
    if found is None or found.arguments[:1] != (ARCHIVE_WORD,):
        return 0
    return int(found.arguments[1])


def status_line(theirs: str | None = None) -> dict[str, Any]:
    return {"type": "command", "command": status_command(theirs), "padding": 0}


def server_entry(program: Program | None = None) -> dict[str, Any]:
    """The entry of our MCP server. -I: nothing of the project can be imported."""
    starts = program or this_program()
    script = f"{starts.package}/mcp/__main__.py"
    return {"type": "stdio", "command": starts.python, "args": ["-I", script]}


def plugin_server() -> dict[str, Any]:
    """The entry of our MCP server in a plugin."""
    return {"command": "sh", "args": ["-c", PLUGIN_SERVER]}


def read_server(entry: object) -> Program | None:
    """The Holdfast that this entry starts; None if it is not an entry in our form."""
    arguments = entry.get("args") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(arguments, list) or len(arguments) != 2:
        return None
    begins, _, ends = PLUGIN_SERVER.partition(ROOT)
    line = str(arguments[1])
    if arguments[0] == "-c" and line.startswith(begins) and line.endswith(ends):
        root = line[len(begins) : -len(ends)]
        return Program(f"{root}/bin/holdfast", f"{root}/lib/holdfast")
    if arguments[0] != "-I" or not str(arguments[1]).endswith("/" + SERVER_ENTRY):
        return None
    return Program(str(entry.get("command")), str(Path(arguments[1]).parents[1]))


def read_command(command: object) -> HoldfastCommand | None:
    """Parse a command line in our form; None for any other.

    `ruff check src/holdfast/hook/__main__.py` is someone else's hook, and so is a pipe around ours.
    Up to 0.1.0 a line ended without `|| :`. A plugin's line starts its launcher.
    """
    # shlex takes seconds for a long text, and settings may hold any text.
    if not isinstance(command, str) or not (ENTRY in command or LAUNCHER in command):
        return None
    words = _words(command)
    launched = words[:1] == ["sh"] and words[2:3] == ["hook"] and words[-2:] == ["||", ":"]
    if launched and words[1].endswith(LAUNCHER) and _are_arguments(words[3:-2]):
        root = words[1].removesuffix(LAUNCHER)
        return HoldfastCommand(Program(words[1], f"{root}/lib/holdfast"), tuple(words[3:-2]))
    if words[:2] == ["set", "--"]:
        inner, theirs = words[4:-4], words[2:3]
        found = _read_words([*inner, *theirs])
        same = found is not None and _wrapping(inner[:-1], *theirs) == command
        return found if same else None
    found = _read_words(_words(command.removesuffix(OR_NOTHING)))
    # It must be quoted as we quote it: in `--wraps a;b` the shell would see more than one word.
    wraps = found is not None and WRAPS in found.arguments
    return None if wraps and shlex.join(words) != command else found


def is_ours(command: object, packages: Collection[str]) -> bool:
    """True for a command line in our form of one of these packages."""
    found = read_command(command)
    return found is not None and found.program.package in packages


def is_written_by_us(command: object) -> bool:
    """True only for a line that this Holdfast writes. `is_ours` checks the form and the package,
    but such a line may start any program: `"$(rm -r ~)/python" -I …/__main__.py`.
    """
    ours = (), (SECOND_WORD,), (STATUS_WORD,), (ARCHIVE_WORD, str(archives_from(command)))
    return command in [hook_command(None, *arguments) for arguments in ours]


def wrapped_in(command: object) -> str | None:
    """The user's status line inside ours; None if there is none, or the command is not ours."""
    found = read_command(command)
    return found.arguments[2] if found is not None and len(found.arguments) == 3 else None


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _read_words(words: list[str]) -> HoldfastCommand | None:
    flags = list(takewhile(lambda word: word.startswith("-"), words[1:]))
    script, rest = words[1 + len(flags) :][:1], words[2 + len(flags) :]
    if "-I" not in flags or not script or not script[0].endswith("/" + ENTRY):
        return None
    if not _are_arguments(rest):
        return None
    return HoldfastCommand(Program(words[0], str(Path(script[0]).parents[1])), tuple(rest))


def _are_arguments(rest: list[str]) -> bool:
    if len(rest) == 2 and rest[0] == ARCHIVE_WORD:
        return rest[1].isdecimal() and len(rest[1]) < 10 and int(rest[1]) > 0
    wraps = len(rest) == 3 and rest[:2] == [STATUS_WORD, WRAPS]
    return wraps or rest in ([], [STATUS_WORD], [SECOND_WORD])


def _hook(event: str, program: Program) -> dict[str, Any]:
    hook = {"type": "command", "command": hook_command(program), "timeout": TIMEOUTS[event]}
    return {**hook, "async": True} if event in ASYNC_EVENTS else hook
