"""Update the archive from the client's transcripts, newest first.

A background process calls this. It reads what changed since the last run, redacts it, compresses
it and appends it to the copy. A kill at any moment leaves the last copy intact.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from holdfast.archive import transcripts
from holdfast.archive.transcript_secrets import LEFT_OUT, Cleaner, Line
from holdfast.archive.transcripts import AGENTS, PLAIN_ENDING, CopyHeader, damage
from holdfast.client.limit_settings import project_of
from holdfast.client.settings_files import transcripts_folder
from holdfast.files import atomic, lock
from holdfast.files.folders import FolderPlace, enter
from holdfast.record.storage import sign
from holdfast.record.user_input import words_of
from holdfast.transcript import Unreadable
from holdfast.transcript.blocks import Malformed
from holdfast.transcript.entries import Prompt
from holdfast.transcript.lookup import subagent_files
from holdfast.transcript.parse import LineTally, parse
from holdfast.transcript.reader import LONGEST_LINE_BYTES, TranscriptSource
from holdfast.wire import log, places

VERSION = 1
MOST_LINES, MOST_BYTES = 64, 256 << 10  # looked through for secrets together
ASKED_CHARS, LONGEST_PATH = 200, 4096
STAMP = "saved.json"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class SaveResult(NamedTuple):
    """How many transcripts were written, how many sessions are left for the next run, and the
    errors."""

    written: int = 0
    left: int = 0
    errors: tuple[str, ...] = ()


class TooLarge(Exception):
    """A session that alone exceeds the limit."""


class _Found(NamedTuple):
    """One of the client's sessions."""

    changed: float
    files: tuple[str, ...]  # its own first, then its subagents'


def save_all(most_bytes: int) -> SaveResult:
    """Save every transcript of the client that changed."""
    with hold_archive():
        return _save_all(most_bytes, float("inf"))


def save_in_turn(most_bytes: int, seconds: float) -> SaveResult:
    """Save as many as the time allows. Does nothing if another process already waits to do so."""
    with _worker_lock() as is_ours:
        return _save_all(most_bytes, time.monotonic() + seconds) if is_ours else SaveResult()


def _save_all(most_bytes: int, give_up: float) -> SaveResult:
    done, floor = SaveResult(), _read_floor(most_bytes)
    used = sum(one.bytes for one in transcripts.sessions())
    for found in _sessions():
        if found.changed <= floor:
            break  # older sessions did not fit either
        if time.monotonic() > give_up:
            done = done._replace(left=done.left + 1)
            continue
        try:
            for source in found.files:
                grown = save(source, most_bytes - _size_beside(source, found.files))
                done, used = done._replace(written=done.written + (grown > 0)), used + grown
        except (Unreadable, TooLarge) as error:  # one bad session must not hold up the others
            done = done._replace(errors=(*done.errors, str(error)))
        except FileNotFoundError:
            continue  # the client has just deleted it
        if used > most_bytes:
            floor = max(floor, transcripts.prune(most_bytes))
            used = sum(one.bytes for one in transcripts.sessions())
    floor = max(floor, transcripts.prune(most_bytes))  # the limit may be lower than it was
    transcripts.forget_removed()
    _note(most_bytes, floor)
    return done


def save(source: str, room: int) -> int:
    """Save one transcript. Returns by how many bytes the archive grew, 0 if nothing changed.
    TooLarge leaves the copy as it was."""
    status = os.stat(source)  # noqa: PTH116
    place = transcripts.place_of(source)
    if _exists_since(place, status.st_mtime_ns):
        return 0
    before, grown = transcripts.read_header(place), 0
    if before is not None and status.st_size < before.source_bytes:
        log.add("WARN", "transcripts", f"{source} became shorter: the longer copy stays")
    elif before is None or before.changed_ns != status.st_mtime_ns or damage(place):
        data = _packed(source, place, before or _first(source), status.st_mtime_ns, room)
        grown = len(data) - places.size_of(place)
        _put(place, data)
    os.utime(place, ns=(status.st_mtime_ns, status.st_mtime_ns))  # its age is the transcript's
    return grown


def _size_beside(source: str, files: tuple[str, ...]) -> int:
    """How much of the archive the other files of a session take."""
    return sum(places.size_of(transcripts.place_of(one)) for one in files if one != source)


def _first(source: str) -> CopyHeader:
    """What is known of a transcript before one line of it is in the archive."""
    path = Path(source)
    project = project_of(path)[:LONGEST_PATH]
    if path.parent.name == AGENTS:
        return CopyHeader(
            source, path.parent.parent.name, path.stem.removeprefix("agent-"), project
        )
    return CopyHeader(source, path.stem, "", project)


def _packed(source: str, place: str, before: CopyHeader, changed_ns: int, room: int) -> bytes:
    """The file as it shall be, within its room. Where a secret is named that lines before may
    quote, all is read once more: then it is known from the start."""
    cleaner, is_same = Cleaner(), before.sign == sign(source, before.source_bytes) != ""
    if is_same and (words := damage(place)):
        log.add("WARN", "transcripts", f"{place} is written anew: {words}")
        is_same = False
    if is_same:
        cleaner.hear(_lines_at(source, before.told))
    packer = _Packer(before if is_same else _first(source), room)
    while not packer.read(source, cleaner):
        packer = _Packer(_first(source), room)
    about = packer.about._replace(
        changed_ns=changed_ns,
        told=cleaner.told,
        sign=sign(source, packer.about.source_bytes),
    )
    packed = transcripts.members(place) if packer.goes_on else b""
    data = transcripts.encode_header(about) + packed + packer.member
    if len(data) > room:
        raise _too_large(source)
    return data


def _too_large(source: str) -> TooLarge:
    return TooLarge(
        f"{source} alone needs more room than there is; raise archive_transcripts_megabytes"
    )


class _Packer:
    """Reads a transcript on from where its copy ends."""

    def __init__(self, about: CopyHeader, room: int) -> None:
        self.about = about
        self._room = room
        self.goes_on = about.source_bytes > 0
        self.member = b""

    def read(self, source: str, cleaner: Cleaner) -> bool:
        """Return False if a secret was found that was unknown when the reading began."""
        known, packing, packed = cleaner.known, transcripts.open_member(), list[bytes]()
        size = 0
        for batch, end in _batches(source, self.about.source_bytes):
            clean = cleaner.without(batch)
            left_out = sum(data == LEFT_OUT for data in clean)
            self.about = self.about._replace(
                asked=self.about.asked or _first_request(clean),
                lines=self.about.lines + len(clean),
                left_out=self.about.left_out + left_out,
                source_bytes=end,
            )
            packed.append(packing.compress(b"".join(clean)))
            size += len(packed[-1])
            if size > self._room:
                raise _too_large(source)
        self.member = b"".join([*packed, packing.flush()]) if packed else b""
        return cleaner.known == known


def _batches(source: str, start: int) -> Iterator[tuple[list[Line], int]]:
    """Whole lines, some at a time, and where those end: one still being written waits."""
    batch: list[Line] = []
    size = end = 0
    for begins, end, data in _lines(source, start):
        batch.append((begins, data))
        size += len(data)
        if len(batch) == MOST_LINES or size > MOST_BYTES:
            yield batch, end
            batch, size = [], 0
    if batch:
        yield batch, end


def _lines(source: str, start: int) -> Iterator[tuple[int, int, bytes]]:
    """Where each begins and ends, and its bytes; of one too long to be held only that it was."""
    end = begins = start
    with TranscriptSource(source) as opened:
        for data in opened.lines(start, LONGEST_LINE_BYTES):
            end += len(data)
            if data.endswith(b"\n"):
                yield begins, end, data if end - begins == len(data) else LEFT_OUT
                begins = end


def _lines_at(source: str, offsets: tuple[int, ...]) -> Iterator[Line]:
    with TranscriptSource(source) as opened:
        for offset in sorted(offsets):
            yield offset, next(opened.lines(offset, LONGEST_LINE_BYTES), b"")


def _first_request(lines: list[bytes]) -> str:
    """What the user asked first."""
    for data in lines:
        with suppress(Malformed):
            entry = parse(data, 0, LineTally())
            if isinstance(entry, Prompt):
                words = " ".join(words_of(entry).typed.split())
                if words:
                    return words[:ASKED_CHARS]
    return ""


def _put(place: str, data: bytes) -> None:
    """On the disk, proven, once this returns; a failed try leaves what was there before."""
    inside, _, name = place.removeprefix(f"{places.home()}/").rpartition("/")
    with enter(FolderPlace(places.home(), inside)) as folder:
        atomic.clear_left(folder)
        atomic.replace_whole(folder, name, data, flushed=True, proven=True)
        atomic.flush(folder)


def _sessions() -> list[_Found]:
    """The client's, newest first; links are not followed."""
    found = []
    root = transcripts_folder()
    for project in _entries(root):
        if not project.is_dir(follow_symlinks=False):
            continue
        for entry in _entries(project.path):
            if _is_transcript(entry) and not transcripts.was_removed(entry.path):
                agents = [str(path) for _, path in subagent_files(entry.path)]
                files = (entry.path, *agents)
                found.append(_Found(max(places.modified_ms(one) / 1000 for one in files), files))
    return sorted(found, reverse=True)


def _is_transcript(entry: os.DirEntry[str]) -> bool:
    is_file = entry.name.endswith(PLAIN_ENDING) and entry.is_file(follow_symlinks=False)
    return is_file and transcripts.place_of(entry.path) != ""


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _read_floor(most_bytes: int) -> float:
    """Sessions that last changed then or before were removed for want of room, and are not archived
    again until the limit is raised."""
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        noted = json.loads(places.read_small(f"{transcripts.folder()}/{STAMP}"))
        if noted["version"] == VERSION and most_bytes <= int(noted["most_bytes"]):
            return float(noted["removed_until"])
    return -1.0


def _note(most_bytes: int, floor: float) -> None:
    noted = {"version": VERSION, "most_bytes": most_bytes, "removed_until": floor}
    with enter(FolderPlace(places.home(), "transcripts")) as folder:
        atomic.clear_left(folder)
        atomic.replace_whole(folder, STAMP, json.dumps(noted).encode())


@contextmanager
def _worker_lock() -> Iterator[bool]:
    """One process works and one waits. A third leaves: the waiting one will see its changes too."""
    waiting = _open_lock("waiting.lock")
    try:
        if not lock.acquire(waiting):
            yield False
            return
        with hold_archive():
            lock.release(waiting)
            yield True
    finally:
        os.close(waiting)


@contextmanager
def hold_archive() -> Iterator[None]:
    """Hold the archive's lock: nobody else writes or removes copies meanwhile."""
    fd = _open_lock("lock")
    try:
        lock.acquire(fd, lock.FOREVER)
        yield
    finally:
        os.close(fd)


def _open_lock(name: str) -> int:
    with enter(FolderPlace(places.home(), "transcripts")) as folder:
        return os.open(name, _FLAGS, 0o600, dir_fd=folder)


def _exists_since(place: str, changed_ns: int) -> bool:
    try:
        return os.stat(place).st_mtime_ns == changed_ns  # noqa: PTH116
    except OSError:
        return False
