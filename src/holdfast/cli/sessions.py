"""Which session a word on the command line means: a transcript file, the start of an id, or, with
no word, the session at work in this folder.

A session that hooks or the watcher have recorded is preferred. Otherwise its transcript is read, or
the archived copy of it if Claude Code has deleted that.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from holdfast.archive import transcripts as archive
from holdfast.archive.transcripts import (
    ArchivedSession,
    CopyHeader,
    DamagedTranscript,
    NoArchivedTranscript,
)
from holdfast.cli.terminal import say
from holdfast.client import agents
from holdfast.client.agents import by_time, in_folder, modified_at, newest_first, of_sessions
from holdfast.client.claude_folder import project_of, transcripts_folder
from holdfast.client.memory_folder import slug
from holdfast.text.fence import shown
from holdfast.transcript import PACKED, Unreadable, lookup
from holdfast.window import state as window_state
from holdfast.window.live_windows import LIVE_MS, for_transcript, is_live, is_over
from holdfast.window.state import State
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

MOST_NAME = 200
LOOKED_AT = 40  # transcripts, the newest first
NOT_RESUMABLE = "Claude Code has deleted its transcript, so `claude --resume` cannot open it"


class NoSuchTranscript(HoldfastError):
    exit_code = 2
    hint = "name a session's .jsonl file under ~/.claude/projects"


class NoSession(HoldfastError):
    hint = "start Claude Code in a project, or look at the recorded example: holdfast replay --demo"


class NoSuchSession(NoSession):
    hint = "`holdfast status --all` lists the sessions of this machine, with their ids"


class Chosen(NamedTuple):
    """A session's window: its state, and its folder, which is empty for an archived copy."""

    state: State
    folder: str


def choose(word: str = "", *, quiet: bool = False, only_here: bool = False) -> Chosen:
    """Choose a session. `quiet` prints no notes about which one it is. With `only_here` it must
    belong to this folder's project, unless it is named."""
    if "/" in word or word.endswith((".jsonl", *PACKED)) or (word and Path(word).is_file()):
        return of_file(Path(word))
    start = word or calling_session()
    try:
        chosen = _recorded(start) if start else _newest_here(only_here)
    except NoSession:
        path = _transcript_of(start) if start else next(iter(by_time()), None)
        if path is None or (only_here and not start):
            raise
        chosen = of_file(path)
    if chosen.state.was_live:
        if copy := _copy_if_gone(chosen.state.transcript):
            say_damaged(copy)
            chosen = Chosen(State(**{**vars(chosen.state), "transcript": copy}), chosen.folder)
    elif not quiet and Path(chosen.state.transcript).suffix not in PACKED:
        name = shown(agents.session_of(Path(chosen.state.transcript))[:8])
        say(f"note: no hook has run in session {name}; read from its transcript", err=True)
    if not (word or quiet):
        say_where(chosen)
    return chosen


def _newest_here(only_here: bool) -> Chosen:
    """Choose the session of this folder: the recorded one, unless it has ended and a transcript
    that no hook has recorded is newer; else the nearest recorded one."""
    # Claude Code may use one name for two folders, so the files' content decides
    known = (path for path in _transcripts_here() if path.suffix not in PACKED)
    path = next((path for path in known if project_of(path) and is_here(of_file(path))), None)
    try:
        recorded = at_work()
    except NoSession:
        if path is None and only_here:
            raise
        return of_file(path) if path else _recorded("")
    is_newer = path and modified_at(path) > modified_at(Path(recorded.state.transcript))
    return of_file(path) if path and is_newer and has_ended(recorded) else recorded


def at_work(folder: Path | None = None) -> Chosen:
    """Choose the recorded session of this shell, else that of the folder, live ones first."""
    if folder is None and calling_session():
        return _recorded(calling_session())
    here = [window for window in windows(everything=True) if is_here(window, folder)]
    mains = [window for window in here if not window.state.agent_id]
    if not mains:
        raise NoSuchSession(f"no session of {folder or Path.cwd()} has been found")
    return min(mains, key=_distance)


def windows(start: str = "", everything: bool = False) -> list[Chosen]:
    """List the windows that hooks or the watcher recorded, newest first.

    Ended ones are left out, unless `everything` is set or a session is named.
    """
    known = (Chosen(state, folder) for folder, state in window_state.all_windows())
    recorded = [
        window
        for window in known
        if window.state.was_live and window.state.session_id.startswith(start)
    ]
    return [window for window in recorded if everything or start or not has_ended(window)]


def calling_session() -> str:
    """Return the session that runs this shell; empty in a user's own shell."""
    return os.environ.get("CLAUDE_CODE_SESSION_ID", "")


def of_file(path: Path) -> Chosen:
    """Choose by a transcript: the recorded state of its session, else a state made from the file,
    or from the archived copy if the file is gone."""
    if copy := _copy_if_gone(str(path.absolute())):
        return _of_gzip(copy)
    if not path.is_file():
        raise NoSuchTranscript(f"{path} is not a file")
    try:
        if not lookup.has_lines(path):
            raise NoSuchTranscript(f"{path} holds no line of a session")
    except Unreadable as error:
        raise NoSuchTranscript(str(error)) from None
    if path.suffix in PACKED:
        return _of_gzip(str(path))
    return Chosen(*for_transcript(path, *_names_of(path)))


def _names_of(path: Path) -> tuple[str, str]:
    """Return session and agent from the file's content, else from the client's way of naming
    files."""
    stem = path.name.partition(".jsonl")[0]
    if stem.startswith("agent-") and path.parent.name == "subagents":
        return path.parent.parent.name, stem.removeprefix("agent-")
    return inert(lookup.session_id(path), MOST_NAME) or stem, ""


def is_here(chosen: Chosen, folder: Path | None = None) -> bool:
    """Return whether the folder (default: the current one) is in the session's project."""
    project = chosen.state.project or chosen.state.cwd
    try:
        here = folder or Path.cwd()
        return project.startswith("/") and here.is_relative_to(Path(project).resolve())
    except (OSError, ValueError):  # the folder was removed, or the path is not valid
        return False


def has_ended(chosen: Chosen) -> bool:
    """Return whether a session has ended. Without hooks, one that has been silent for long counts
    as ended."""
    state = chosen.state
    if not state.started_ms:
        return int(time.time() * 1000) - state.watched_ms >= LIVE_MS
    return is_over(chosen.folder, state)


def say_others(chosen: Chosen, command: str) -> None:
    """Say that more than one session runs in this project, and which one was chosen."""
    if calling_session() or not is_here(chosen):
        return
    now_ms = int(time.time() * 1000)
    mains = [window for window in windows() if not window.state.agent_id and is_here(window)]
    live = sum(is_live(window.folder, window.state, now_ms) for window in mains)
    if live > 1:
        others = f"`holdfast {command} ID` for another; `holdfast status --all` lists them"
        name = inert(chosen.state.session_id[:8])
        say(f"note: {live} sessions run here; this is {name}: {others}", err=True)


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


def find_archived(start: str) -> ArchivedSession | None:
    with suppress(NoArchivedTranscript):
        return archive.find_session(start)
    return None


def newest_compacted(but: Path) -> Path | None:
    for path in by_time()[:LOOKED_AT]:
        with suppress(OSError), path.open("rb") as file:
            if path != but and any(sign in line for line in file for sign in agents.COMPACTED):
                return path
    return None


def say_damaged(copy: str) -> None:
    """Report a damaged copy. What is left of it is shown; it is an error if nothing is."""
    words = archive.damage(copy)
    if words and archive.is_empty(copy):
        raise DamagedTranscript(f"the archived {shown(copy)}: {words}")
    if words:
        say(f"note: the archived {shown(copy)}: {words}", err=True)


def _recorded(start: str) -> Chosen:
    """Choose the nearest recorded window, a main one if there is one."""
    known = windows(start, everything=True)
    if known:
        mains = [window for window in known if not window.state.agent_id]
        return min(mains or known, key=_distance)
    if start:
        raise NoSuchSession(f"no session on this machine has an id that begins with {start}")
    raise NoSession("no session of Claude Code has been found on this machine")


def _distance(chosen: Chosen) -> tuple[bool, bool, int]:
    """Return a sort key: windows of this folder first, then live ones, then the innermost
    project."""
    here = is_here(chosen)
    return not here, has_ended(chosen), -len(chosen.state.project) if here else 0


def _transcript_of(start: str) -> Path | None:
    """Find the transcript of the session whose id begins so, else the archived copy of one."""
    known = [*in_folder(transcripts_folder()), *agents.other_transcripts(os.environ)]
    named = [path for path in known if agents.session_of(path).startswith(start)]
    if len({path.name for path in named}) > 1:
        words = f"{len(named)} sessions begin with {inert(start, 80)}"
        raise HoldfastError(words, "write more of the id, or name the file", 2)
    if named:
        return max(named, key=modified_at)
    archived = find_archived(start)
    if archived is not None and archive.is_gone(archived):
        _say_gone(archived.path)
    return Path(archived.path) if archived else None


def _transcripts_here() -> list[Path]:
    """List the transcripts of this folder, else of the nearest folder above it that has any."""
    here = Path.cwd().resolve()
    known = newest_first(list(agents.other_transcripts(os.environ)))[:LOOKED_AT]
    others = [(project_of(path), path) for path in known]
    for place in (here, *here.parents):
        claudes = of_sessions(transcripts_folder() / slug(str(place)))
        paths = [*claudes, *(path for project, path in others if project == str(place))]
        if paths:
            return newest_first(paths)
    return []


def _of_gzip(path: str) -> Chosen:
    from holdfast.session.window_brief import state_of  # `status` seldom needs it

    if about := archive.read_header(path):
        say_damaged(path)
    named = about or CopyHeader("", *_names_of(Path(path)), lookup.folder_of(path))
    return Chosen(state_of(path, named), "")


def _copy_if_gone(source: str) -> str:
    copy = "" if Path(source).exists() else archive.copy_of(source)
    if copy:
        _say_gone(copy)
    return copy


def _say_gone(copy: str) -> None:
    say(f"note: {NOT_RESUMABLE}; this is from the archived {shown(copy)}", err=True)


def say_where(chosen: Chosen) -> None:
    """Say of which project a session is that was taken because this folder has none."""
    project = chosen.state.project or chosen.state.cwd
    if project and not calling_session() and not is_here(chosen):
        say(f"note: this folder has no session; this one is of {shown(project)}", err=True)
