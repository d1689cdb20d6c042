"""Archived transcripts on disk: laid out as the client lays out its own, so that whoever has the
path of one finds the other.

    transcripts/<project>/<session>.jsonl.gz
    transcripts/<project>/<session>/subagents/agent-<id>.jsonl.gz

copy_of(path)      sessions(…) -> Session      prune(…)      remove(session)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from holdfast.archive import transcript_file
from holdfast.archive.errors import NoTranscript, SeveralTranscripts
from holdfast.archive.transcript_file import ENDING, About
from holdfast.wire import log, places

AGENTS = "subagents"
PLAIN_ENDING = ".jsonl"
REMOVED = ".removed"  # in place of a session the user removed while the client still has it
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")
_AGENT = re.compile(r"agent-[A-Za-z0-9_-]{1,128}")


class Session(NamedTuple):
    """A session in the archive: its own file, and those of its subagents."""

    id: str
    path: str
    files: tuple[str, ...]
    bytes: int
    changed: float  # when the client last wrote to it

    @property
    def about(self) -> About | None:
        return transcript_file.about(self.path)


def folder() -> str:
    return f"{places.home()}/transcripts"


def place_of(source: str) -> str:
    """Where the client's transcript is or would be archived; empty for any other path."""
    inside = _inside(source.removesuffix(PLAIN_ENDING)) if source.endswith(PLAIN_ENDING) else ""
    return f"{folder()}/{inside}{ENDING}" if inside else ""


def _inside(stem: str) -> str:
    """`project/session`, or `project/session/subagents/agent-id`."""
    parts = stem.split("/")
    if len(parts) > 4 and parts[-2] == AGENTS and _AGENT.fullmatch(parts[-1]):
        session, kept = parts[-3], parts[-4:]
    else:
        session, kept = parts[-1], parts[-2:]
    is_plain = len(kept) > 1 and kept[0] not in ("", ".", "..") and _SESSION.fullmatch(session)
    return "/".join(kept) if is_plain else ""


def copy_of(source: str) -> str:
    """The archived copy of a transcript, by the client's path of it; empty where there is none."""
    place = place_of(source)
    return place if place and os.path.isfile(place) else ""  # noqa: PTH113


def instead_of(source: str) -> str:
    """The path itself while there is a file, else the archived copy, else the path."""
    return source if os.path.exists(source) else copy_of(source) or source  # noqa: PTH110


def copies_of_gone(client_folder: str) -> Iterator[tuple[str, str]]:
    """Of one of the client's folders: each path it has deleted, and the copy."""
    inside = f"{folder()}/{client_folder.rpartition('/')[2]}"
    for session in _of_project(inside):
        for copy in session.files:
            source = f"{client_folder}{copy.removeprefix(inside).removesuffix(ENDING)}"
            if not os.path.exists(source + PLAIN_ENDING) and os.path.exists(copy):  # noqa: PTH110
                yield source + PLAIN_ENDING, copy


def is_gone(session: Session) -> bool:
    """The client has deleted its own: it cannot resume this session any more."""
    about = session.about
    return about is not None and not os.path.exists(about.source)  # noqa: PTH110


def sessions(project_folder: str = "") -> list[Session]:
    """All of them, or those of one folder of the client's, newest first."""
    names = [project_folder] if project_folder else _names(folder())
    found = [one for name in names for one in _of_project(f"{folder()}/{name}")]
    return sorted(found, key=lambda one: one.changed, reverse=True)


def named(start: str) -> Session:
    """The one session whose id begins so."""
    found = [one for one in sessions() if start and one.id.startswith(start)]
    if len({one.id for one in found}) > 1:
        raise SeveralTranscripts(f"{len(found)} archived sessions begin with {start[:80]!r}")
    if not found:
        raise NoTranscript(f"no archived session begins with {start[:80]!r}")
    return found[0]


def prune(most_bytes: int) -> float:
    """Remove sessions until the rest fits: from the newest on, each that finds no room. When the
    newest of them had changed; -1 where all fit. One larger than all the room pushes out no other:
    it is removed, and does not count."""
    room, newest = most_bytes, -1.0
    for one in sessions():
        if one.bytes <= room:
            room -= one.bytes
            continue
        _delete(one)
        log.add("WARN", "transcripts", f"removed session {one.id} ({one.bytes:,} bytes): no room")
        if one.bytes <= most_bytes:
            newest = max(newest, one.changed)
    return newest


def remove(session: Session) -> None:
    """For good: while the client still has its own, a note keeps it from being archived again."""
    is_left = not is_gone(session)
    _delete(session)
    if is_left:
        places.replace_whole(session.path.removesuffix(ENDING) + REMOVED, b"")


def was_removed(source: str) -> bool:
    place = place_of(source)
    return os.path.exists(place.removesuffix(ENDING) + REMOVED)  # noqa: PTH110


def forget_removed() -> None:
    """Notes of sessions the client has deleted by now say nothing any more; nor do the empty
    folders that were left."""
    for name in _names(folder()):
        inside = f"{folder()}/{name}"
        for one in _names(inside):
            if one.endswith(REMOVED) and not _is_listed(name, one.removesuffix(REMOVED)):
                with suppress(OSError):
                    os.unlink(f"{inside}/{one}")  # noqa: PTH108
        with suppress(OSError):
            os.rmdir(inside)  # noqa: PTH106


def _is_listed(project: str, session: str) -> bool:
    from holdfast.client.claude_folder import transcripts_folder

    return (transcripts_folder() / project / f"{session}{PLAIN_ENDING}").exists()


def _delete(session: Session) -> None:
    """The session's own file last: what was begun is found again and finished."""
    import shutil  # whoever only reads does without

    shutil.rmtree(session.path.removesuffix(ENDING), ignore_errors=True)
    with suppress(OSError):
        os.unlink(session.path)  # noqa: PTH108


def _of_project(inside: str) -> Iterator[Session]:
    names = _names(inside)
    stems = {name.removesuffix(ENDING) for name in names if name.endswith(ENDING)}
    agents = {name for name in names if os.path.isdir(f"{inside}/{name}/{AGENTS}")}  # noqa: PTH112
    for stem in stems | agents:
        if _SESSION.fullmatch(stem):
            yield _session(inside, stem)


def _session(inside: str, stem: str) -> Session:
    """Also one whose own file is missing: then its subagents' are all there is of it."""
    path, below = f"{inside}/{stem}{ENDING}", f"{inside}/{stem}/{AGENTS}"
    agents = sorted(f"{below}/{name}" for name in _names(below) if name.endswith(ENDING))
    size, changed = 0, 0.0
    for one in (path, *agents):
        with suppress(OSError):
            told = os.stat(one)  # noqa: PTH116
            size, changed = size + told.st_size, max(changed, told.st_mtime)
    return Session(stem, path, (path, *agents), size, changed)


def _names(inside: str) -> list[str]:
    try:
        return os.listdir(inside)  # noqa: PTH208
    except OSError:
        return []
