"""Choose the window that a command is about: a transcript, a named session, or the session at work
in this folder.

Only windows that a hook or the watcher has recorded count: one that a command made for a file would
never end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from holdfast.client import agents
from holdfast.transcript import PACKED, Unreadable, lookup
from holdfast.window import state as window_state
from holdfast.window.state import State
from holdfast.window.windows import LIVE_MS, for_transcript, is_live, is_over
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

MOST_NAME = 200


class NoSuchTranscript(HoldfastError):
    exit_code = 2
    hint = "name a .jsonl file under ~/.claude/projects"


class CompressedSession(HoldfastError):
    exit_code = 2
    hint = "unpack it, or use `holdfast replay FILE`, which reads it as it is"


class NotATranscript(HoldfastError):
    hint = "name a session's .jsonl file under ~/.claude/projects"


class NoSession(HoldfastError):
    hint = (
        "start Claude Code once, after `holdfast install`; or name a file: --transcript FILE; "
        "`holdfast replay --demo` shows a recorded session"
    )


class NoSuchSession(NoSession):
    hint = "`holdfast status --all` lists the sessions of this machine, with their ids"


class NotHere(NoSession):
    hint = "`holdfast status --all` lists the sessions of all folders; name one with --session ID"


class Chosen(NamedTuple):
    state: State
    folder: str


def by_transcript(path: Path) -> Chosen:
    """Choose by a transcript: the recorded state of its session, else a state made from the
    file."""
    if not path.is_file():
        raise NoSuchTranscript(f"{path} is not a file")
    if path.suffix in PACKED:
        raise CompressedSession(f"{path} is compressed, and its end cannot be read alone")
    must_be_transcript(path)
    session_id, agent_id = names_of(path)
    return Chosen(*for_transcript(path, session_id, agent_id))


def must_be_transcript(path: Path) -> None:
    """Raise NotATranscript unless the file has at least one line that Claude Code wrote."""
    try:
        if not lookup.has_lines(path):
            raise NotATranscript(f"{path} holds no line of a session")
    except Unreadable as error:
        raise NoSuchTranscript(str(error)) from None


def windows(session: str = "", agent: str = "", everything: bool = False) -> list[Chosen]:
    """List the windows that hooks or the watcher recorded, newest first.

    Ended ones are left out, unless `everything` is set or a session is named.
    """
    known = window_state.all_windows()
    found = [Chosen(state, folder) for folder, state in known if state.was_live]
    if session:
        found = [one for one in found if one.state.session_id.startswith(session)]
    if agent:
        found = [one for one in found if one.state.agent_id.startswith(agent)]
    if not everything and not session:
        found = [one for one in found if not has_ended(one)]
    return found


def calling_session() -> str:
    """Return the session that runs this shell; empty in a user's own shell."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def newest(session: str = "", agent: str = "") -> Chosen:
    """Choose the newest window of this folder's project, else of the machine. Live ones come first.

    It is a main window unless an agent is named. A command that runs inside a session gets that
    session.
    """
    session = session or calling_session()
    found = windows(session, agent, everything=True)
    mains = [one for one in found if agent or not one.state.agent_id]
    if mains or found:
        return min(mains or found, key=_distance)
    if agent:
        of = f" in a session whose id begins with {session}" if session else " on this machine"
        raise NoSuchSession(f"no agent{of} has an id that begins with {agent}")
    if session:
        raise NoSuchSession(f"no session on this machine has an id that begins with {session}")
    raise NoSession("no session of Claude Code has been found on this machine")


def of_this_folder() -> Chosen:
    """Choose the session that runs this shell, else the newest of this folder's project."""
    return newest() if calling_session() else of_folder(Path.cwd())


def of_folder(folder: Path) -> Chosen:
    """Choose the window at work in this folder, live ones first."""
    known = windows(everything=True)
    here = [one for one in known if is_here(one, folder) and not one.state.agent_id]
    if not here:
        raise NotHere(f"no session of {folder} has been found")
    return min(here, key=_distance)


def _distance(one: Chosen) -> tuple[bool, bool, int]:
    """Return a sort key: windows of this folder first, then live ones, then the innermost
    project."""
    here = is_here(one)
    return not here, has_ended(one), -len(one.state.project) if here else 0


def is_here(one: Chosen, folder: Path | None = None) -> bool:
    """Return whether the folder (default: the current one) is in the session's project."""
    project = one.state.project or one.state.cwd
    try:
        here = folder or Path.cwd()
        return project.startswith("/") and here.is_relative_to(Path(project).resolve())
    except (OSError, ValueError):  # the folder was removed, or the path is not valid
        return False


def others_note(chosen: Chosen, others: str) -> str:
    """Say that more than one session runs in this project, which one was chosen, and how to name
    the `others`; empty if it is the only one or the shell is the session's own."""
    if calling_session() or not is_here(chosen):
        return ""
    now_ms = int(time.time() * 1000)
    live = [
        one
        for one in windows()
        if not one.state.agent_id and is_here(one) and is_live(one.folder, one.state, now_ms)
    ]
    if len(live) < 2:
        return ""
    name = inert(chosen.state.session_id[:8], MOST_NAME)
    return f"{len(live)} sessions run here; this is {name}: {others}"


def has_ended(one: Chosen) -> bool:
    """Return whether a session has ended. Without hooks, one that has been silent for long counts
    as ended."""
    state = one.state
    if not state.started_ms:
        return int(time.time() * 1000) - state.watched_ms >= LIVE_MS
    return is_over(one.folder, state)


@contextmanager
def working_folder(chosen: Chosen) -> Iterator[str]:
    """Yield the folder to work in: the window's, or for a recording one that is removed again.

    A recording is a transcript outside Claude Code's folder that neither a hook nor the watcher has
    reported, for example the one of `--demo`, or a gzip file. A window of it would be taken for a
    session.
    """
    path = Path(chosen.state.transcript)
    if chosen.folder and (chosen.state.was_live or agents.is_kept_by_its_agent(path)):
        yield chosen.folder
        return
    with TemporaryDirectory(prefix="holdfast-") as folder:
        yield folder


def names_of(path: Path) -> tuple[str, str]:
    """Return session and agent from the file's content, else from the client's way of naming
    files."""
    stem = path.name.partition(".jsonl")[0]
    if stem.startswith("agent-") and path.parent.name == "subagents":
        return path.parent.parent.name, stem.removeprefix("agent-")
    return inert(lookup.session_id(path), MOST_NAME) or stem, ""
