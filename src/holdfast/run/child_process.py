"""One session of Claude, as a process that cannot outlive us: the pipe we hold is its life."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.run import exit_note, supervisor
from holdfast.run.exit_note import Note

QUIET_SECONDS = 600.0  # then somebody wants to know


class Child:
    """`note` is laid out; it is ours from here on, whoever removes the file meanwhile."""

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
            self._process = _supervised(command, prompt, folder, environment, (life, lock, note))
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
        """Once it has ended: killed, so that nobody has ended what its client left behind."""
        return (self._process.returncode or 0) < 0

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
        """Until the client, and all it left behind, has ended; an empty one for each long silence,
        the next after twice as long."""
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

    def noted(self) -> Note:
        """How it ended, once it has."""
        data = os.pread(self._note, supervisor.NOTE_BYTES, 0)
        os.close(self._note)
        return exit_note.parse(data)

    def last_errors(self) -> str:
        """The end of what it wrote to stderr."""
        assert self._process.stderr is not None
        with self._process.stderr as file:
            return file.read(2 * supervisor.ERROR_BYTES).decode("utf-8", "replace").strip()


def _supervised(
    command: Sequence[str],
    prompt: str,
    folder: Path,
    environment: Mapping[str, str],
    kept: tuple[int, int, int],
) -> subprocess.Popen[bytes]:
    """`kept`: the descriptors a supervisor is given (see `supervise.main`)."""
    program = str(Path(supervisor.__file__).resolve())
    with tempfile.TemporaryFile() as told:  # not a pipe: who never reads blocks nobody
        told.write(prompt.encode("utf-8", "replace"))
        told.seek(0)
        return subprocess.Popen(
            [sys.executable, "-I", "-S", program, *map(str, kept), *command],
            cwd=folder,
            env=dict(environment),
            stdin=told,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=kept,
            start_new_session=True,  # Ctrl-C is ours to pass on
        )
