"""The journal of a run: one line per event, on disk before anything depends on it.

It is replaced as a whole, so no line is ever torn. An unreadable line is damage: a copy of the file
is set aside, and the readable lines continue.

The journal of a plan lies in a folder named by the paths of the plan and the project, not by the
plan's content, so that an edited plan continues. Two locks beside it allow one runner per plan, and
none while sessions of the last one are still ending.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import msgspec

from holdfast.files import lock, small_files
from holdfast.files.small_files import NotStored
from holdfast.plan.task import digest
from holdfast.wire import places
from holdfast.wire.errors import HoldfastError

VERSION = 1
PATIENCE_SECONDS = 30.0  # longer than a supervisor needs to end its processes
NEWER = "use the Holdfast version that wrote it, or move the folder away to start again"
RUNNING = "wait for it, or end it with Ctrl-C: what it has done stays done"


class JournalError(HoldfastError):
    """Work that cannot be recorded does not start: the next run would do it again."""

    exit_code = 4
    hint = "free disk space, or remove what blocks the file; what is done stays done"


class TaskShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """The share of a task that a session was given: all of it, or some of its files."""

    id: str
    hash: str = ""
    files: tuple[str, ...] | None = None  # None: the whole task
    of_files: tuple[str, ...] = ()  # the files of its patterns when the task was cut
    piece: str = ""  # how the session knows it, if not by the task's id

    @property
    def name(self) -> str:
        return self.piece or self.id


class Line(msgspec.Struct, frozen=True, tag_field="kind", kw_only=True):
    at_ms: int = 0


class Begun(Line, frozen=True, tag="run", kw_only=True):
    """The first line."""

    version: int = VERSION


class Started(Line, frozen=True, tag="started", omit_defaults=True):
    session: str
    batch: str = ""
    attempt: int = 1
    tasks: tuple[TaskShare, ...] = ()
    estimated_tokens: int = 0
    high_tokens: int = 0


class Ended(Line, frozen=True, tag="ended", omit_defaults=True):
    session: str
    result: str = ""  # done, failed, stopped
    exit: int | None = None  # None: nobody saw it
    error: str = ""
    halt: str = ""  # for whom a task waits, or why the plan stops, in the words of the session
    summary: str = ""  # what it reports to have done and found out
    used_tokens: int = 0  # the largest size of its window
    grown_tokens: int = 0  # how much of that the work took
    compactions: int = 0
    credited: tuple[int, ...] = ()  # the tasks that a failed session did nevertheless
    waiting: tuple[int, ...] = ()  # the tasks that wait for a person
    missing: tuple[str, ...] = ()  # files of its finished tasks that are not there


class Saved(Line, frozen=True, tag="checkpoint"):
    session: str
    path: str | None = None  # None: it left no transcript


_DECODER = msgspec.json.Decoder(Begun | Started | Ended | Saved)


class Journal:
    """Open it under the plan's lock, so that there is one writer."""

    def __init__(self, folder: str, only_read: bool = False) -> None:
        self.path = f"{folder}/journal.jsonl"
        self._lock = threading.Lock()
        self.notes: list[str] = []
        data = self._read()
        texts = [text for text in data.splitlines() if text.strip()]
        self.lines = [line for text in texts if (line := _decode(text)) is not None]
        if len(self.lines) < len(texts) and not only_read:
            self._set_aside(data, len(texts) - len(self.lines))

    def add(self, line: Line) -> None:
        """Add a line. It is on disk when this returns; JournalError if it cannot be."""
        with self._lock:
            lines = [*(self.lines or [Begun()]), line]
            self._write(self.path, _encode(lines))
            self.lines = lines

    def _write(self, path: str, data: bytes) -> None:
        try:
            small_files.put(path, data)
        except NotStored as error:
            raise JournalError(str(error)) from error

    def _read(self) -> bytes:
        """The whole file, empty if there is none. JournalError if it cannot be read: with an
        empty journal all finished work would be done again."""
        try:
            with os.fdopen(places.open_regular(self.path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror or error}") from error

    def _set_aside(self, data: bytes, bad: int) -> None:
        names = (f"{self.path}.damaged-{number}" for number in count(1))
        aside = next(name for name in names if not os.path.lexists(name))
        self._write(aside, data)
        self._write(self.path, _encode(self.lines))
        self.notes.append(
            f"the journal was damaged: {bad} of its lines could not be read, the rest is used; "
            f"the damaged file is {aside}"
        )


def _encode(lines: list[Line]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _decode(text: bytes) -> Line | None:
    try:
        line: Line = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(line, Begun) and line.version > VERSION:
        raise JournalError(f"the journal of this plan is of version {line.version}", NEWER, 3)
    return line


def journal_folder(plan: Path, root: Path) -> str:
    name = digest([os.path.realpath(plan), os.fspath(root.resolve())])
    return f"{places.home()}/runs/{name}"


@contextmanager
def hold_plan(folder: str, patience: float = PATIENCE_SECONDS) -> Iterator[int]:
    """Hold both locks; yields the descriptor of the one that supervisors share."""
    with ExitStack() as stack:
        own, shared = (_open(f"{folder}/{name}", stack) for name in ("conductor", "lock"))
        if not lock.acquire(own):
            raise HoldfastError("another process runs this plan already", RUNNING, 3)
        if not lock.acquire(shared, patience):
            raise HoldfastError("a session of the last run is still ending", RUNNING, 3)
        yield shared


def _open(path: str, stack: ExitStack) -> int:
    try:
        fd = lock.open_file(path)
    except OSError as error:
        raise JournalError(f"{path} cannot be written: {error.strerror or error}") from error
    stack.callback(os.close, fd)
    return fd


def is_running(folder: str) -> bool:
    """Whether a runner, or a session of one that is still ending, holds the plan. Never waits."""
    return lock.is_held(f"{folder}/lock")
