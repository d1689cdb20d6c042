"""Update the archive from the client's transcripts, newest first.

A background process calls this. It reads each transcript that changed, redacts it and writes a
compressed copy. A kill at any moment leaves the last copy intact.

A line's texts are checked for secrets after decoding its JSON: escapes such as `\\n` would hide
where a word begins. Most lines hold none and stay byte for byte as they were.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from holdfast.archive import transcripts
from holdfast.archive.transcripts import AGENTS, PLAIN_ENDING, CopyHeader
from holdfast.client.claude_folder import project_of, transcripts_folder
from holdfast.files import lock, small_files
from holdfast.record.secrets import MOST_BARE, ToldSecrets, is_known_bare
from holdfast.record.user_input import words_of
from holdfast.redact.find import find, redact, redact_each, redact_named_values, which_are_clean
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
LEFT_OUT = b'{"type":"holdfast-left-out"}\n'  # stands for a line that could not be redacted
_UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)
_ANSWERS = "answers"


class SaveResult(NamedTuple):
    """How many transcripts were written, how many sessions are left, and the errors."""

    written: int = 0
    left: int = 0
    errors: tuple[str, ...] = ()


class TooLarge(Exception):
    """A session that alone exceeds the limit."""


@contextmanager
def hold_archive(seconds: float = lock.FOREVER) -> Iterator[bool]:
    """Hold the archive's lock: no other process writes or removes copies meanwhile."""
    with lock.hold_file(f"{transcripts.folder()}/lock", seconds) as is_ours:
        yield is_ours


def save_all(most_bytes: int, seconds: float = lock.FOREVER) -> SaveResult:
    """Save the transcripts that changed, as many as the time allows, alone on this machine."""
    give_up = time.monotonic() + seconds
    with hold_archive(seconds) as is_ours:
        return _save_all(most_bytes, give_up) if is_ours else SaveResult()


def _save_all(most_bytes: int, give_up: float) -> SaveResult:
    done, floor = SaveResult(), _read_floor(most_bytes)
    used = sum(session.bytes for session in transcripts.sessions())
    for changed, files in _sessions():
        if changed <= floor:
            break  # older sessions did not fit either
        if time.monotonic() > give_up:
            done = done._replace(left=done.left + 1)
            continue
        try:
            for source in files:
                copies = (transcripts.place_of(file) for file in files if file != source)
                grown = save(source, most_bytes - sum(map(places.size_of, copies)))
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
    noted = {"version": VERSION, "most_bytes": most_bytes, "removed_until": floor}
    small_files.put(f"{transcripts.folder()}/{STAMP}", json.dumps(noted).encode())
    return done


def save(source: str, room: int) -> int:
    """Save one transcript; by how many bytes the archive grew. TooLarge leaves the old copy."""
    status = Path(source).stat()
    place = transcripts.place_of(source)
    if places.size_of(place) and places.modified_ms(place) == places.modified_ms(source):
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
    """The copy, within its room; read again after a secret, which earlier lines may quote."""
    cleaner, known = Cleaner(), -1
    while known != cleaner.known:
        known = cleaner.known
        about, packed = _read(source, cleaner, room)
    return transcripts.encode_header(about) + packed


def _read(source: str, cleaner: Cleaner, room: int) -> tuple[CopyHeader, bytes]:
    """What is known of a transcript after reading it, and its lines, compressed."""
    about, packing = _first(source), zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
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
    """Whole lines, some at a time, and where those end: one still being written waits."""
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
    for data in lines:
        with suppress(Malformed):
            entry = parse(data, 0, LineTally())
            if isinstance(entry, Prompt):
                words = " ".join(words_of(entry).typed.split())
                if words:
                    return words[:ASKED_CHARS]
    return ""


def _sessions() -> list[tuple[float, list[str]]]:
    """When each session changed, and its files, its own first; newest first, without links."""
    listed = []
    root = transcripts_folder()
    for project in _entries(root):
        if not project.is_dir(follow_symlinks=False):
            continue
        for entry in _entries(project.path):
            is_file = entry.name.endswith(PLAIN_ENDING) and entry.is_file(follow_symlinks=False)
            is_wanted = is_file and transcripts.place_of(entry.path)
            if is_wanted and not transcripts.was_removed(entry.path):
                agents = [str(path) for _, path in subagent_files(entry.path)]
                files = [entry.path, *agents]
                listed.append((max(places.modified_ms(file) / 1000 for file in files), files))
    return sorted(listed, reverse=True)


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _read_floor(most_bytes: int) -> float:
    """Sessions that last changed then or before made room: archived again with a higher limit."""
    with suppress(ValueError, TypeError, KeyError, AttributeError, RecursionError):
        noted = json.loads(places.read_small(f"{transcripts.folder()}/{STAMP}"))
        if noted["version"] == VERSION and most_bytes <= int(noted["most_bytes"]):
            return float(noted["removed_until"])
    return -1.0


class Cleaner:
    """Redacts lines. A secret that one line names is recognised in all other lines too."""

    def __init__(self) -> None:
        self._known = ToldSecrets()
        self._bare: dict[str, str] = {}
        self._written: list[bytes] = []  # the same as they stand in JSON

    @property
    def known(self) -> int:
        """How many secrets are recognised without their names."""
        return len(self._bare)

    def _hear(self, texts: Iterable[str]) -> None:
        self._known.hear((0, text) for text in texts)
        bare = [pair for pair in self._known.bare.items() if is_known_bare(pair[0])][:MOST_BARE]
        self._bare = dict(sorted(bare, key=lambda pair: -len(pair[0])))  # one may contain another
        self._written = [msgspec.json.encode(value)[1:-1] for value in self._bare]

    def without(self, lines: Sequence[bytes]) -> list[bytes]:
        """The same lines without secrets, in the same order, each still one line of JSON."""
        read = [_decode(data) for data in lines]
        clean = which_are_clean([said for _, said in read])
        self._hear(said for (_, said), is_clean in zip(read, clean, strict=True) if not is_clean)
        return [
            data if is_clean and not self._quotes(data) else self._cleaned(value, data)
            for (value, _), data, is_clean in zip(read, lines, clean, strict=True)
        ]

    def _quotes(self, data: bytes) -> bool:
        return any(value in data for value in self._written)

    def _cleaned(self, value: Any, data: bytes) -> bytes:
        if value is None:
            text = data.decode("utf-8", "replace").removesuffix("\n")
            return self._without_known(redact(text)).encode() + b"\n"
        try:
            return self._cleaned_json(value)
        except RecursionError:  # nested deeper than any client nests
            return LEFT_OUT

    def _cleaned_json(self, value: Any) -> bytes:
        made = self._each(redact_each(redact_named_values(value)))
        if find("\n".join(_texts(made))):  # what only its key tells, or two texts together
            made = _decode(redact(json.dumps(made)).encode())[0]
        if made is None:
            return LEFT_OUT
        text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace") + b"\n"

    def _each(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._without_known(value)
        if isinstance(value, dict):
            return {self._without_known(key): self._each(inner) for key, inner in value.items()}
        return [self._each(inner) for inner in value] if isinstance(value, list) else value

    def _without_known(self, text: str) -> str:
        for value, placeholder in self._bare.items():
            text = text.replace(value, placeholder)
        return text


def _decode(data: bytes) -> tuple[Any, str]:
    """The decoded line and its texts. A line that is not JSON has no value and is one text."""
    try:
        value = msgspec.json.decode(data)
        return value, "\n".join(_texts(value))
    except _UNREADABLE:
        return None, data.decode("utf-8", "replace")


def _texts(value: Any, key: str = "") -> Iterator[str]:
    """Each text with its key, which may say what it is."""
    if isinstance(value, str):
        yield f'"{key}": "{value}"' if key else value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                yield name
            elif key == _ANSWERS and isinstance(inner, str):
                yield f"{name}\n{inner}"  # a question of the model's, and what the user typed
            yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)
    elif key and isinstance(value, int | float) and not isinstance(value, bool):
        yield f'"{key}": {value}'
