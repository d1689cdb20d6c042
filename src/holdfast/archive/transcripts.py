"""Archived transcripts on disk: compressed copies, laid out as the client lays out its own.

    transcripts/<project>/<session>.jsonl.gz
    transcripts/<project>/<session>/subagents/agent-<id>.jsonl.gz

A copy is a gzip whose empty first member carries a header in its extra field: which transcript it
is of, how far it goes, and how many lines it must have to be whole.
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.files.folders import names_in
from holdfast.transcript import GZIP_MAGIC
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

VERSION = 1
ENDING = ".jsonl.gz"
MOST_HEADER = 60_000
_HAS_EXTRA = 4
_NAME = b"HF"
_FIXED = 16  # ten bytes of gzip, the length of all extra fields, our name, the length of ours
_EMPTY = b"\x03\x00" + bytes(8)  # a deflate stream of nothing, its checksum and length
AGENTS = "subagents"
PLAIN_ENDING = ".jsonl"
REMOVED = ".removed"  # stands for a session that the user removed while the client still has it
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")
_AGENT = re.compile(r"agent-[A-Za-z0-9_-]{1,128}")


class NoArchivedTranscript(HoldfastError):
    """No archived transcript has this id."""

    hint = "`holdfast transcripts` lists them"


class DamagedTranscript(HoldfastError):
    """The archived copy of a transcript cannot be read."""

    hint = "where Claude Code still has the session, the end of the next one writes it again"


class CopyHeader(NamedTuple):
    """The header of a copy. It covers the first `source_bytes` of the client's file."""

    source: str
    session_id: str
    agent_id: str = ""
    project: str = ""
    asked: str = ""  # the first words of the user, secrets out
    lines: int = 0
    left_out: int = 0  # lines too long to be read
    source_bytes: int = 0


def encode_header(about: CopyHeader) -> bytes:
    """The empty first member, with JSON. Bytes of a path that are not text survive."""
    text = json.dumps({"version": VERSION, **about._asdict()}, ensure_ascii=False)
    data = text.encode("utf-8", "surrogatepass")
    lengths = (len(data) + 4).to_bytes(2, "little"), len(data).to_bytes(2, "little")
    start = GZIP_MAGIC + bytes([_HAS_EXTRA, 0, 0, 0, 0, 0, 255])
    return start + lengths[0] + _NAME + lengths[1] + data + _EMPTY


def read_header(path: str) -> CopyHeader | None:
    """The header of a copy; None if the file is missing or not an archived transcript."""
    data = places.read_small(path, _FIXED + MOST_HEADER)
    if data[:3] != GZIP_MAGIC or len(data) < _FIXED or data[12:14] != _NAME:
        return None
    try:
        header = json.loads(data[_FIXED : _FIXED + int.from_bytes(data[14:16], "little")])
        is_ours = header.pop("version") == VERSION
        return CopyHeader(**header) if is_ours else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


class ArchivedSession(NamedTuple):
    """A session in the archive: its own file, and those of its subagents."""

    id: str
    path: str
    files: tuple[str, ...]
    bytes: int
    changed: float  # when the client last wrote to it

    @property
    def about(self) -> CopyHeader | None:
        return read_header(self.path)


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
    return place if place and Path(place).is_file() else ""


def copies_of_gone(client_folder: str) -> Iterator[tuple[str, str]]:
    """Of one of the client's folders: each path it has deleted, and the copy."""
    inside = f"{folder()}/{client_folder.rpartition('/')[2]}"
    for session in _of_project(inside):
        for copy in session.files:
            source = f"{client_folder}{copy.removeprefix(inside).removesuffix(ENDING)}"
            if not Path(source + PLAIN_ENDING).exists() and Path(copy).exists():
                yield source + PLAIN_ENDING, copy


def is_gone(session: ArchivedSession) -> bool:
    """The client has deleted its own: it cannot resume this session any more."""
    about = session.about
    return about is not None and not (about.source and Path(about.source).exists())


def sessions(project_folder: str = "") -> list[ArchivedSession]:
    """All of them, or those of one folder of the client's, newest first."""
    names = [project_folder] if project_folder else names_in(folder())
    copies = [copy for name in names for copy in _of_project(f"{folder()}/{name}")]
    return sorted(copies, key=lambda copy: copy.changed, reverse=True)


def find_session(start: str) -> ArchivedSession:
    """The one session whose id begins with `start`."""
    matches = [session for session in sessions() if start and session.id.startswith(start)]
    if len({match.id for match in matches}) > 1:
        raise NoArchivedTranscript(
            f"{len(matches)} archived sessions begin with {start[:80]!r}",
            "give more characters of the id; `holdfast transcripts` lists them",
            2,
        )
    if not matches:
        raise NoArchivedTranscript(f"no archived session begins with {start[:80]!r}")
    return matches[0]


def prune(most_bytes: int) -> float:
    """Remove sessions until the rest fits, newest first: each that does not fit is removed.

    Returns when the newest removed session had changed, or -1 if all fit. A session larger than
    the whole limit is removed without counting, so that it pushes out no other.
    """
    room, newest = most_bytes, -1.0
    for session in sessions():
        if session.bytes <= room:
            room -= session.bytes
            continue
        _delete(session)
        log.add(
            "WARN",
            "transcripts",
            f"removed session {session.id} ({session.bytes:,} bytes): no room",
        )
        if session.bytes <= most_bytes:
            newest = max(newest, session.changed)
    return newest


def remove(session: ArchivedSession) -> None:
    """Remove a session for good: a note keeps it from being archived again."""
    is_left = not is_gone(session)
    _delete(session)
    if is_left:
        places.replace_whole(session.path.removesuffix(ENDING) + REMOVED, b"")


def was_removed(source: str) -> bool:
    place = place_of(source)
    return Path(place.removesuffix(ENDING) + REMOVED).exists()


def forget_removed() -> None:
    """Delete the notes of sessions that the client has deleted too, and empty folders."""
    for name in names_in(folder()):
        inside = f"{folder()}/{name}"
        for file in names_in(inside):
            if file.endswith(REMOVED) and not _is_listed(name, file.removesuffix(REMOVED)):
                with suppress(OSError):
                    Path(f"{inside}/{file}").unlink()
        with suppress(OSError):
            Path(inside).rmdir()


def _is_listed(project: str, session: str) -> bool:
    from holdfast.client.claude_folder import transcripts_folder

    return (transcripts_folder() / project / f"{session}{PLAIN_ENDING}").exists()


def _delete(session: ArchivedSession) -> None:
    """Delete the session's own file last: an interrupted removal is found again and finished."""
    import shutil  # readers do not need it

    shutil.rmtree(session.path.removesuffix(ENDING), ignore_errors=True)
    with suppress(OSError):
        Path(session.path).unlink()


def _of_project(inside: str) -> Iterator[ArchivedSession]:
    names = names_in(inside)
    stems = {name.removesuffix(ENDING) for name in names if name.endswith(ENDING)}
    agents = {name for name in names if Path(f"{inside}/{name}/{AGENTS}").is_dir()}
    for stem in stems | agents:
        if _SESSION.fullmatch(stem):
            yield _session(inside, stem)


def _session(inside: str, stem: str) -> ArchivedSession:
    """A session, even if its own file is missing and only its subagents' files are left."""
    path, below = f"{inside}/{stem}{ENDING}", f"{inside}/{stem}/{AGENTS}"
    agents = sorted(f"{below}/{name}" for name in names_in(below) if name.endswith(ENDING))
    size, changed = 0, 0.0
    for agent in (path, *agents):
        with suppress(OSError):
            status = Path(agent).stat()
            size, changed = size + status.st_size, max(changed, status.st_mtime)
    return ArchivedSession(stem, path, (path, *agents), size, changed)


def damage(path: str) -> str:
    """What is wrong with a copy, in words; empty if it is whole. Reads all of it."""
    about = read_header(path)
    if about is None:
        return "it is damaged, or of another version of Holdfast"
    whole, is_damaged = _whole_lines(path)
    if whole == about.lines and not is_damaged:
        return ""
    return f"it is damaged: {min(whole, about.lines):,} of {about.lines:,} lines can be read"


def is_empty(path: str) -> bool:
    """Whether not a single line of it can be read."""
    return _whole_lines(path, 1)[0] == 0


def damaged_copies(seconds: float) -> list[str]:
    """What is wrong with each damaged copy, in the time given; first those whose source is gone."""
    give_up, troubles = time.monotonic() + seconds, list[str]()
    for session in sorted(sessions(), key=is_gone, reverse=True):
        for path in session.files:
            if time.monotonic() > give_up:
                return troubles
            if words := damage(path):
                troubles.append(f"the archived {path}: {words}")
    return troubles


def _whole_lines(path: str, most: int = -1) -> tuple[int, bool]:
    """How many lines can be read (at most `most`), and whether an error stopped the reading."""
    from holdfast.transcript import Unreadable
    from holdfast.transcript.reader import LONGEST_LINE_BYTES, TranscriptSource

    count = 0
    try:
        with TranscriptSource(path) as source:
            for data in source.lines(0, LONGEST_LINE_BYTES):
                count += data.endswith(b"\n")
                if count == most:
                    break
            return count, source.is_damaged
    except Unreadable:
        return count, True
