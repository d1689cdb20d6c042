"""Which transcript a word on the command line means: a file, the start of a session's id, or, with
no word, the newest one. If Claude Code has deleted it, the archived copy is read.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import click

from holdfast.archive import transcripts
from holdfast.archive import transcripts as archive
from holdfast.archive.errors import DamagedTranscript, NoArchivedTranscript
from holdfast.archive.transcripts import ArchivedSession, CopyHeader, damage, is_empty
from holdfast.cli import choose_session
from holdfast.cli.choose_session import Chosen, NoSession, NoSuchTranscript
from holdfast.cli.options import is_file_name
from holdfast.cli.terminal import say
from holdfast.client import agents
from holdfast.client.limit_settings import project_of
from holdfast.client.memory_folder import slug
from holdfast.client.settings_files import transcripts_folder
from holdfast.client.transcript_files import (
    by_time,
    in_folder,
    modified_at,
    newest_first,
    of_sessions,
)
from holdfast.text import fence
from holdfast.text.fence import shown
from holdfast.text.numbers import short
from holdfast.transcript import PACKED, lookup
from holdfast.window.state import State
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

LOOKED_AT = 40  # files, the newest first


class NoTranscriptYet(HoldfastError):
    exit_code = 2
    hint = "`holdfast replay --demo` shows a recorded session; or name a transcript, a .jsonl file"


class NoSuchName(NoSuchTranscript):
    hint = "`holdfast status --all` lists sessions with their ids; without one, the newest is taken"


class SeveralSessions(HoldfastError):
    exit_code = 2
    hint = "write more of the id, or name the file"


def find(word: str = "") -> Path:
    """Return the transcript's path. The error lists what there is instead."""
    if not word:
        return newest()
    path = Path(word)
    if path.is_file():
        return path
    if is_file_name(word):
        raise NoSuchTranscript(f"{path} is not a file")
    return _of_session(word)


def newest() -> Path:
    """Return the newest transcript of this folder's project, else of all."""
    everywhere = _of_folder(Path.cwd()) or by_time()
    if not everywhere:
        raise NoTranscriptYet(f"Claude Code has no transcript in {transcripts_folder()}")
    return everywhere[0]


def _of_folder(folder: Path) -> list[Path]:
    """List the transcripts of this folder, else of the nearest folder above it that has any."""
    here = folder.resolve()
    others = [
        (project_of(path), path)
        for path in newest_first(list(agents.other_transcripts(os.environ)))[:LOOKED_AT]
    ]
    for one in (here, *here.parents):
        claudes = of_sessions(transcripts_folder() / slug(str(one)))
        found = [*claudes, *(path for project, path in others if project == str(one))]
        if found:
            return newest_first(found)
    return []


def newest_compacted(but: Path) -> Path | None:
    """Return the newest transcript with a compaction, among the last ones."""
    found = (one for one in by_time()[:LOOKED_AT] if one != but)
    return next((one for one in found if _is_compacted(one)), None)


def _of_session(start: str) -> Path:
    everywhere = [*in_folder(transcripts_folder()), *agents.other_transcripts(os.environ)]
    found = [one for one in everywhere if agents.session_of(one).startswith(start)]
    if len({one.name for one in found}) > 1:
        raise SeveralSessions(f"{len(found)} sessions begin with {inert(start, 80)}")
    if found:
        return max(found, key=modified_at)
    try:
        return Path(archive.find_session(start).path)
    except NoArchivedTranscript:
        words = f"there is no file {inert(start, 80)}, and no session id begins with it"
        raise NoSuchName(words) from None


def _is_compacted(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return any(sign in line for line in file for sign in agents.COMPACTED)
    except OSError:
        return False


def say_where(project: str) -> None:
    """Say of which project a session is that was taken because this folder has none."""
    if project and not choose_session.is_here(Chosen(State(project=project), "")):
        say(f"note: this folder has no session; this one is of {shown(project)}", err=True)


DAY_SECONDS = 86_400
NOT_RESUMABLE = "Claude Code has deleted its transcript, so `claude --resume` cannot open it"


def choose_to_read(
    transcript: Path | None, session: str = "", agent: str = "", *, quiet: bool = False
) -> Chosen:
    """Choose a session to read.

    Other than `choose_session.newest`, it accepts a gzip file, the archived copy of a deleted
    transcript, and a session that no hook has reported. `quiet` suppresses the note about the last.
    """
    if transcript is not None:
        return _by_file(transcript)
    try:
        known = choose_session.newest(session, agent)
    except NoSession:
        if not agent and (path := _unreported(session or choose_session.calling_session(), quiet)):
            return _by_file(path)
        one = find_archived(session) if session and not agent else None
        if one is None:
            raise
        return _of_copy(one.path)
    copy = _copy_if_gone(known.state.transcript)
    if not copy:
        return known
    _say_gone(copy)
    _say_damaged(copy)
    return Chosen(State(**{**vars(known.state), "transcript": copy}), known.folder)


def choose_to_save(session: str = "", anywhere: bool = False, *, quiet: bool = False) -> Chosen:
    """Choose a session to save. It must belong to this folder's project, unless one is named or
    `anywhere` is set, because a checkpoint goes into the folder of its session."""
    session = session or choose_session.calling_session()
    try:
        if session or anywhere:
            return choose_session.newest(session)
        return choose_session.of_folder(Path.cwd())
    except NoSession:
        path = _unreported(session, quiet) if session or anywhere else _unreported_here(quiet)
        if path is None:
            raise
        return choose_session.by_transcript(path)


def _unreported(session: str, quiet: bool = False) -> Path | None:
    """Return the transcript of a session that ran before the hooks were installed."""
    try:
        path = find(session)
    except SeveralSessions:
        raise
    except HoldfastError:
        return None
    return _without_hooks(path, quiet)


def _unreported_here(quiet: bool = False) -> Path | None:
    """Return such a transcript of this folder. Claude Code may use one name for two folders, so the
    file's content decides."""
    path = next(iter(_of_folder(Path.cwd())), None)
    if path is None or not choose_session.is_here(choose_session.by_transcript(path)):
        return None
    return _without_hooks(path, quiet)


def _without_hooks(path: Path, quiet: bool = False) -> Path | None:
    if path.suffix == ".gz":
        return None
    if not quiet:
        name = shown(agents.session_of(path)[:8])
        say(f"note: no hook has run in session {name}; read from its transcript", err=True)
    return path


def _by_file(path: Path) -> Chosen:
    if copy := _copy_if_gone(str(path.absolute())):
        return _of_copy(copy)
    choose_session.must_be_transcript(path)
    if path.suffix not in PACKED:
        return choose_session.by_transcript(path)
    return _of_gzip(str(path))


def _of_copy(copy: str) -> Chosen:
    _say_gone(copy)
    return _of_gzip(copy)


def _of_gzip(path: str) -> Chosen:
    from holdfast.events.window_brief import state_of  # `status` seldom needs it

    about = transcripts.read_header(path)
    if about:
        _say_damaged(path)
        return Chosen(state_of(path, about), "")
    session_id, agent_id = choose_session.names_of(Path(path))
    folder = lookup.folder_of(path)
    return Chosen(state_of(path, CopyHeader("", session_id, agent_id, folder)), "")


def _copy_if_gone(source: str) -> str:
    return "" if os.path.exists(source) else transcripts.copy_of(source)  # noqa: PTH110


def _say_gone(copy: str) -> None:
    say(f"note: {NOT_RESUMABLE}; this is from the archived {shown(copy)}", err=True)


def _say_damaged(copy: str) -> None:
    """Report a damaged copy. What is left of it is shown; it is an error if nothing is."""
    words = damage(copy)
    if words and is_empty(copy):
        raise DamagedTranscript(f"the archived {shown(copy)}: {words}")
    if words:
        say(f"note: the archived {shown(copy)}: {words}", err=True)


def find_archived(start: str) -> ArchivedSession | None:
    """Return the archived session whose id begins with this; None if there is none."""
    try:
        return transcripts.find_session(start)
    except NoArchivedTranscript:
        return None


def list_gone(project: str, everywhere: bool) -> bool:
    """Print the sessions that only the archive has; return False if there are none."""
    listed = transcripts.sessions("" if everywhere else slug(project))
    gone = [one for one in listed if transcripts.is_gone(one)]
    if gone:
        words = "Claude Code has deleted their transcripts, so `claude --resume` cannot open them"
        say(f"archived: {words}; `holdfast resume ID` prints a brief for a new one", err=True)
    width = shutil.get_terminal_size((120, 24)).columns
    for one in gone:
        say(short(_line(one), width))
    return bool(gone)


def _line(one: ArchivedSession) -> str:
    about = one.about
    age = f"{(time.time() - one.changed) / DAY_SECONDS:.0f} days"
    first_prompt = shown(fence.clean(about.asked)) if about else ""
    return f"{shown(one.id[:8])} {age:>9} archived    {first_prompt}"


def show(one: ArchivedSession, as_text: bool, as_json: bool) -> None:
    """Print the brief of an archived session; with `as_text`, nothing else."""
    from holdfast.events.window_brief import brief_of

    brief, is_gone = brief_of(one), transcripts.is_gone(one)
    _say_damaged(one.path)
    if as_json:
        session = {"session_id": one.id, "path": one.path, "client_has_it": not is_gone}
        click.echo(json.dumps({**session, "brief": brief.text}))
        return
    say(brief.text)
    if as_text:
        return
    if is_gone:
        new = f'claude "$(holdfast resume {shown(one.id[:8])} --load)"'
        say(f"{NOT_RESUMABLE}. A new session with this brief: {new}", err=True)
    else:
        say(f"Claude Code still has it: claude --resume {shown(one.id)}", err=True)
