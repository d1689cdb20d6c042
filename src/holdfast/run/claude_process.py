"""One session of Claude as a child process that cannot outlive us: it lives while we hold its pipe.

How it ended is written by its supervisor into a small file that we create before the start. What a
killed supervisor leaves behind becomes our child on Linux, and is ours to end.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.files.unnamed import unnamed_file
from holdfast.run import supervisor
from holdfast.wire import places

SUCCESS = "success"
QUIET_SECONDS = 600.0  # then the user is told that it is silent


@dataclass(frozen=True, slots=True)
class ExitNote:
    """How a session ended. An `exit_code` of None means unknown."""

    exit_code: int | None = None
    result: str = ""  # as Claude Code reports it: success, error_max_turns, …; empty if it did not
    is_error: bool = True
    not_done: int = 0  # how often it calls something not done

    @property
    def done(self) -> bool:
        """Whether the work is done. It also is if the session was ended after it had given its
        result."""
        return self.is_success and not self.not_done

    @property
    def is_success(self) -> bool:
        """Whether Claude Code ended well, whatever it says about its tasks."""
        return self.result == SUCCESS and not self.is_error and (self.exit_code or 0) <= 0


def note_path(folder: str, session_id: str) -> str:
    return f"{folder}/{places.plain(session_id)}.end"


def create_note(path: str) -> int:
    """Create the note with its full size before the start; returns it open, for the supervisor."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if os.pwrite(fd, b" " * supervisor.NOTE_BYTES, 0) != supervisor.NOTE_BYTES:
            raise OSError(f"{path} was cut short")
        places.flush_to_disk(fd)
    except OSError:
        os.close(fd)
        raise
    return fd


def read_note(path: str) -> ExitNote:
    return parse_note(places.read_small(path, supervisor.NOTE_BYTES))


def parse_note(data: bytes) -> ExitNote:
    try:
        value = json.loads(data)
        code, named = value.get("exit"), value.get("not_done", 0)
        return ExitNote(
            code if isinstance(code, int) else None,
            str(value.get("result", "")),
            bool(value.get("is_error", True)),
            named if isinstance(named, int) else 0,
        )
    except (ValueError, AttributeError, RecursionError):
        return ExitNote()  # blank: the machine crashed, or the supervisor was killed


def remove_note(folder: str, session_id: str) -> None:
    """Remove a note that is in the journal."""
    with suppress(OSError):
        os.unlink(note_path(folder, session_id))  # noqa: PTH108 (as `places` has it)


def remove_notes(folder: str) -> None:
    """Remove all notes, once no session runs and the journal has them."""
    for path in Path(folder).glob("*.end"):
        with suppress(OSError):
            path.unlink()


class ClaudeProcess:
    """A running session. `note` is the open exit note, which this object closes."""

    def __init__(
        self,
        command: Sequence[str],
        prompt: str,
        folder: Path,
        environment: Mapping[str, str],
        note: int,
        lock: int,
    ) -> None:
        life, held = os.pipe()
        self._held = open(held, "wb", buffering=0)  # noqa: SIM115, PTH123 (closing it is the signal)
        self._note = note
        try:
            self._process = _start_supervisor(
                command, prompt, folder, environment, (life, lock, note)
            )
        except OSError:
            self._held.close()
            os.close(note)
            raise
        finally:
            os.close(life)
        self._timer: threading.Timer | None = None
        self.timed_out = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def supervisor_died(self) -> bool:
        """Whether the supervisor was killed, so that what Claude left behind still runs."""
        return (self._process.returncode or 0) < 0

    def end_after(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._late)
        self._timer.daemon = True
        self._timer.start()

    def _late(self) -> None:
        self.timed_out = True
        self.end()

    def end(self) -> None:
        """Ask it to end. The reader of `lines` sees when it has."""
        self._held.close()

    def lines(self) -> Iterator[bytes]:
        """Lines until Claude and all it left behind have ended. An empty line stands for a long
        silence, the next one after twice as long."""
        assert self._process.stdout is not None
        parts, quiet_seconds = supervisor.Lines(), QUIET_SECONDS
        with self._process.stdout as out:
            while True:
                if not select.select([out], [], [], quiet_seconds)[0]:
                    quiet_seconds *= 2
                    yield b""
                    continue
                data = os.read(out.fileno(), 1 << 16)
                yield from filter(None, parts.feed(data or b"\n"))
                if not data:
                    break
        self._process.wait()
        self.end()
        if self._timer is not None:
            self._timer.cancel()

    def read_exit_note(self) -> ExitNote:
        """How it ended. To be called after the end."""
        data = os.pread(self._note, supervisor.NOTE_BYTES, 0)
        os.close(self._note)
        return parse_note(data)

    def last_errors(self) -> str:
        """The end of what it wrote to stderr."""
        assert self._process.stderr is not None
        with self._process.stderr as file:
            return file.read(2 * supervisor.ERROR_BYTES).decode("utf-8", "replace").strip()


def _start_supervisor(
    command: Sequence[str],
    prompt: str,
    folder: Path,
    environment: Mapping[str, str],
    kept: tuple[int, int, int],
) -> subprocess.Popen[bytes]:
    """Start the supervisor. `kept` are the descriptors it gets (see `supervisor.main`)."""
    program = str(Path(supervisor.__file__).resolve())
    # A file, not a pipe: a client that never reads its prompt must not block us.
    with unnamed_file(prompt.encode("utf-8", "replace")) as prompt_file:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", program, *map(str, kept), *command],
            cwd=folder,
            env=dict(environment),
            stdin=prompt_file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=kept,
            start_new_session=True,  # Ctrl-C reaches only us, and we pass it on
        )


@contextmanager
def adopt_orphans() -> Iterator[None]:
    """Adopt orphans while sessions run, and stop afterwards: a process that goes on would collect
    other programs' daemons as dead children."""
    supervisor.adopt()
    try:
        yield
    finally:
        supervisor.adopt(on=False)


def find_strays(but: Collection[int]) -> list[int]:
    """List children that a killed supervisor left; `but` are the living supervisors.

    Programs that we run ourselves (git, for example) are in our own process session; supervisors
    never are.
    """
    ours = os.getsid(0)
    return [pid for pid, session in supervisor.children() if session != ours and pid not in but]


def end_strays(found: Callable[[], list[int]]) -> None:
    """End all of them. The list is read again each time, because supervisors start meanwhile."""
    if supervisor.LINUX:
        supervisor.end_all(found, 0, lambda: time.sleep(0.05))
