"""Update the archive from the client's transcripts, newest first.

A background process calls this. It reads each transcript that changed, redacts it and writes a
compressed copy. A kill at any moment leaves the last copy intact.
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
from holdfast.archive.transcript_secrets import LEFT_OUT, Cleaner
from holdfast.archive.transcripts import AGENTS, PLAIN_ENDING, CopyHeader
from holdfast.client.limit_settings import project_of
from holdfast.client.settings_files import transcripts_folder
from holdfast.files import lock, small_files
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
    """Save as many as the time allows, once no other process does."""
    give_up = time.monotonic() + seconds
    with lock.hold_file(f"{transcripts.folder()}/lock", seconds) as is_ours:
        return _save_all(most_bytes, give_up) if is_ours else SaveResult()


def _save_all(most_bytes: int, give_up: float) -> SaveResult:
    done, floor = SaveResult(), _read_floor(most_bytes)
    used = sum(session.bytes for session in transcripts.sessions())
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
            used = sum(session.bytes for session in transcripts.sessions())
    floor = max(floor, transcripts.prune(most_bytes))  # the limit may be lower than it was
    transcripts.forget_removed()
    _note(most_bytes, floor)
    return done


def save(source: str, room: int) -> int:
    """Save one transcript. Returns by how many bytes the archive grew, 0 if nothing changed.
    TooLarge leaves the copy as it was."""
    status = Path(source).stat()
    place = transcripts.place_of(source)
    if _exists_since(place, status.st_mtime_ns):
        return 0
    before, grown = transcripts.read_header(place), 0
    if before is not None and status.st_size < before.source_bytes:
        log.add("WARN", "transcripts", f"{source} became shorter: the longer copy stays")
    else:
        data = _packed(source, room)
        grown = len(data) - places.size_of(place)
        small_files.put(place, data, proven=True)
    os.utime(place, ns=(status.st_mtime_ns, status.st_mtime_ns))  # its age is the transcript's
    return grown


def _size_beside(source: str, files: tuple[str, ...]) -> int:
    """How much of the archive the other files of a session take."""
    return sum(places.size_of(transcripts.place_of(file)) for file in files if file != source)


def _first(source: str) -> CopyHeader:
    """What is known of a transcript before one line of it is in the archive."""
    path = Path(source)
    project = project_of(path)[:LONGEST_PATH]
    if path.parent.name == AGENTS:
        return CopyHeader(
            source, path.parent.parent.name, path.stem.removeprefix("agent-"), project
        )
    return CopyHeader(source, path.stem, "", project)


def _packed(source: str, room: int) -> bytes:
    """The copy, within its room. Lines may quote a secret that a later line names: where one was
    found, all is read once more."""
    cleaner, known = Cleaner(), -1
    while known != cleaner.known:
        known = cleaner.known
        about, packed = _read(source, cleaner, room)
    return transcripts.encode_header(about) + packed


def _read(source: str, cleaner: Cleaner, room: int) -> tuple[CopyHeader, bytes]:
    """What is known of a transcript after reading it, and its lines, compressed."""
    about, packing = _first(source), transcripts.open_member()
    packed: list[bytes] = []
    for batch, end in _batches(source):
        clean = cleaner.without(batch)
        about = about._replace(
            asked=about.asked or _first_request(clean),
            lines=about.lines + len(clean),
            left_out=about.left_out + sum(data == LEFT_OUT for data in clean),
            source_bytes=end,
        )
        packed.append(packing.compress(b"".join(clean)))
        if sum(map(len, packed)) > room:
            break
    packed.append(packing.flush())
    if sum(map(len, packed)) > room:
        raise TooLarge(
            f"{source} alone needs more room than there is; raise archive_transcripts_megabytes"
        )
    return about, b"".join(packed)


def _batches(source: str) -> Iterator[tuple[list[bytes], int]]:
    """Whole lines, some at a time, and where those end: one still being written waits. Of one too
    long to be held only that it was."""
    batch: list[bytes] = []
    size = end = begins = 0
    with TranscriptSource(source) as opened:
        for data in opened.lines(0, LONGEST_LINE_BYTES):
            end += len(data)
            if not data.endswith(b"\n"):
                continue
            batch.append(data if end - begins == len(data) else LEFT_OUT)
            size, begins = size + len(data), end
            if len(batch) == MOST_LINES or size > MOST_BYTES:
                yield batch, end
                batch, size = [], 0
    if batch:
        yield batch, begins


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


def _sessions() -> list[_Found]:
    """The client's, newest first; links are not followed."""
    listed = []
    root = transcripts_folder()
    for project in _entries(root):
        if not project.is_dir(follow_symlinks=False):
            continue
        for entry in _entries(project.path):
            if _is_transcript(entry) and not transcripts.was_removed(entry.path):
                agents = [str(path) for _, path in subagent_files(entry.path)]
                files = (entry.path, *agents)
                listed.append(_Found(max(places.modified_ms(file) / 1000 for file in files), files))
    return sorted(listed, reverse=True)


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
    """Sessions that last changed then or before were removed to make room, and are not archived
    again until the limit is raised."""
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        noted = json.loads(places.read_small(f"{transcripts.folder()}/{STAMP}"))
        if noted["version"] == VERSION and most_bytes <= int(noted["most_bytes"]):
            return float(noted["removed_until"])
    return -1.0


def _note(most_bytes: int, floor: float) -> None:
    noted = {"version": VERSION, "most_bytes": most_bytes, "removed_until": floor}
    small_files.put(f"{transcripts.folder()}/{STAMP}", json.dumps(noted).encode())


@contextmanager
def hold_archive() -> Iterator[None]:
    """Hold the archive's lock: no other process writes or removes copies meanwhile."""
    with lock.hold_file(f"{transcripts.folder()}/lock", lock.FOREVER):
        yield


def _exists_since(place: str, changed_ns: int) -> bool:
    try:
        return Path(place).stat().st_mtime_ns == changed_ns
    except OSError:
        return False
