"""How a client ended, in a small file of its session: laid out by us, written by its supervisor."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.run import supervisor
from holdfast.wire import places

SUCCESS = "success"


@dataclass(frozen=True, slots=True)
class Note:
    """`exit_code` None: nobody knows."""

    exit_code: int | None = None
    result: str = ""  # the client's own word: success, error_max_turns, …; empty: it gave none
    is_error: bool = True
    not_done: int = 0  # lines on which it names a task so

    @property
    def done(self) -> bool:
        """A client that gave its result and was ended before it went has done its work."""
        return self.is_success and not self.not_done

    @property
    def is_success(self) -> bool:
        """By the client's word and its exit code, whatever it says of its tasks."""
        return self.result == SUCCESS and not self.is_error and (self.exit_code or 0) <= 0


def path_of(folder: str, session_id: str) -> str:
    return f"{folder}/{places.plain(session_id)}.end"


def lay_out(path: str) -> int:
    """The note's room on the disk, before there is anything to note; open, to be handed on."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if os.pwrite(fd, b" " * supervisor.NOTE_BYTES, 0) != supervisor.NOTE_BYTES:
            raise OSError(f"{path} was cut short")
        os.fsync(fd)
    except OSError:
        os.close(fd)
        raise
    return fd


def read(path: str) -> Note:
    return parse(places.read_small(path, supervisor.NOTE_BYTES))


def parse(data: bytes) -> Note:
    try:
        value = json.loads(data)
        code, named = value.get("exit"), value.get("not_done", 0)
        return Note(
            code if isinstance(code, int) else None,
            str(value.get("result", "")),
            bool(value.get("is_error", True)),
            named if isinstance(named, int) else 0,
        )
    except (ValueError, AttributeError, RecursionError):
        return Note()  # blank: the machine went down, or the supervisor was killed


def drop(folder: str, session_id: str) -> None:
    """Once the journal has it."""
    with suppress(OSError):
        os.unlink(path_of(folder, session_id))  # noqa: PTH108 (as `places` has it)


def drop_all(folder: str) -> None:
    """Once no session runs and the journal has what they told."""
    for path in Path(folder).glob("*.end"):
        with suppress(OSError):
            path.unlink()
