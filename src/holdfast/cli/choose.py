"""Which window a command speaks of: a transcript named, the session asked for, or the newest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from holdfast.client import switches
from holdfast.window import state as window_state
from holdfast.window.state import State
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError


class NoSuchTranscript(HoldfastError):
    exit_code = 2
    hint = "name a .jsonl file under ~/.claude/projects"


class Compressed(HoldfastError):
    exit_code = 2
    hint = "unpack it, or `holdfast replay` it as it is"


class NoSession(HoldfastError):
    exit_code = 2
    hint = "start Claude Code once the hooks are installed, or name a file: --transcript FILE"


@dataclass(frozen=True, slots=True)
class Chosen:
    state: State
    folder: str


def by_transcript(path: Path) -> Chosen:
    """A transcript on its own: the notes of its session where there are any, else what is here."""
    if not path.is_file():
        raise NoSuchTranscript(f"{path} is not a file")
    if path.suffix == ".gz":
        raise Compressed(f"{path} is compressed, and its end cannot be read alone")
    session_id, agent_id = _names(path)
    folder = places.window(session_id, agent_id)
    state = window_state.load(folder)
    if state.transcript and not _is_same(Path(state.transcript), path):
        folder = places.window(f"{session_id}.{_key(path)}", agent_id)
        state = window_state.load(folder)
    if not state.session_id:
        state.session_id, state.agent_id = session_id, agent_id
        project = switches.project_of(path)
        state.cwd = state.project = project
        state.switches = switches.read(project, os.environ).as_json()
    state.transcript = str(path)
    return Chosen(state, folder)


def windows(session: str = "", agent: str = "", everything: bool = False) -> list[Chosen]:
    """Windows hooks have noted, newest first; those that ended are left out unless asked for."""
    found = [Chosen(state, folder) for folder, state in window_state.all_windows()]
    if session:
        found = [one for one in found if one.state.session_id.startswith(session)]
    if agent:
        found = [one for one in found if one.state.agent_id.startswith(agent)]
    if not everything and not session:
        found = [one for one in found if not _ended(one)]
    return found


def newest(session: str = "", agent: str = "") -> Chosen:
    """The window last heard of, a main one unless an agent was named; ended ones come last.

    Run from inside a session, its own.
    """
    session = session or os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    for everything in (False, True):
        found = windows(session, agent, everything)
        mains = [one for one in found if agent or not one.state.agent_id]
        if mains or found:
            return (mains or found)[0]
    if session or agent:
        wanted = " and ".join(filter(None, (session, agent and f"agent {agent}")))
        raise NoSession(f"no session that was seen here begins with {wanted}")
    raise NoSession("no session has been seen on this machine yet")


def _ended(one: Chosen) -> bool:
    return bool(one.state.ended_ms) or places.is_closed(one.folder)


def _is_same(one: Path, other: Path) -> bool:
    """The same file, not only the same name: two folders may each hold a `transcript.jsonl`."""
    return one.resolve() == other.resolve()


def _key(path: Path) -> str:
    return f"{crc32(str(path.resolve()).encode('utf-8', 'surrogateescape')):08x}"


def _names(path: Path) -> tuple[str, str]:
    """Session and agent by the client's own naming of files."""
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
    if stem.startswith("agent-") and path.parent.name == "subagents":
        return path.parent.parent.name, stem.removeprefix("agent-")
    return stem, ""
