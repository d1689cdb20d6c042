"""One session of Claude, as a process that cannot outlive us: the pipe we hold is its life."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.conductor import supervise
from holdfast.wire import places

MOST_LINE = 64 << 20
ERROR_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Note:
    """How a client ended, as its supervisor wrote it down. `exit_code` None: nobody knows."""

    exit_code: int | None = None
    result: str = ""  # the client's own word: success, error_max_turns, …; empty: it gave none
    is_error: bool = True
    not_done: int = 0  # lines on which it names a task so

    @property
    def done(self) -> bool:
        """A client that gave its result and was ended before it went has done its work."""
        return bool(self.result) and not self.is_error and not self.not_done and not self.failed

    @property
    def failed(self) -> bool:
        return (self.exit_code or 0) > 0


def lay_out(path: str) -> None:
    """The note's room on the disk, before there is anything to note."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if os.pwrite(fd, b" " * supervise.NOTE_BYTES, 0) != supervise.NOTE_BYTES:
            raise OSError(f"{path} was cut short")
        os.fsync(fd)
    finally:
        os.close(fd)


def read_note(path: str) -> Note:
    try:
        value = json.loads(places.read_small(path, supervise.NOTE_BYTES))
        code, named = value.get("exit"), value.get("not_done", 0)
        return Note(
            code if isinstance(code, int) else None,
            str(value.get("result", "")),
            bool(value.get("is_error", True)),
            named if isinstance(named, int) else 0,
        )
    except (ValueError, AttributeError, RecursionError):
        return Note()  # blank: the machine went down, or the supervisor was killed


class Child:
    def __init__(
        self,
        command: Sequence[str],
        prompt: str,
        folder: Path,
        environment: Mapping[str, str],
        note: str,
        lock: int,
    ) -> None:
        life, held = os.pipe()
        with tempfile.TemporaryFile() as told:  # not a pipe: a client that never reads blocks none
            told.write(prompt.encode("utf-8", "replace"))
            told.seek(0)
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the child)
            program = str(Path(supervise.__file__).resolve())
            words = [sys.executable, "-I", "-S", program, str(life), str(lock), note, *command]
            self._process = subprocess.Popen(
                words,
                cwd=folder,
                env=dict(environment),
                stdin=told,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                pass_fds=(life, lock),
                start_new_session=True,  # Ctrl-C is ours to pass on
            )
        os.close(life)
        self._held = open(held, "wb", buffering=0)  # noqa: SIM115, PTH123 (closing it is the signal)
        self._timer: threading.Timer | None = None
        self.timed_out = False

    def end_after(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._late)
        self._timer.daemon = True
        self._timer.start()

    def _late(self) -> None:
        self.timed_out = True
        self.end()

    def end(self) -> None:
        """Ask for the end; whoever reads the lines sees it come."""
        self._held.close()

    def lines(self) -> Iterator[bytes]:
        """Until the client, and all it left behind, has ended."""
        assert self._process.stdout is not None
        with self._process.stdout as out:
            while line := out.readline(MOST_LINE):
                yield line
        self._process.wait()
        self.end()
        if self._timer is not None:
            self._timer.cancel()

    def last_errors(self) -> str:
        """The end of what it wrote to stderr."""
        with self._errors as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - ERROR_BYTES))
            return file.read().decode("utf-8", "replace").strip()
