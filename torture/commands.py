"""The programs of Holdfast that are run in a place, each as a command line and as a fork."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.setup.wiring import Program, hook_command, server_entry, this_program

FORKS = Path(__file__).with_name("forks.py")
HOOK, MCP, CLI = "hook", "mcp", "cli"
CLI_WORDS = (sys.executable, "-I", "-m", "holdfast.cli")
CLI_OF_PACKAGE = "import sys; sys.path.insert(0, {!r}); from holdfast.cli.start import main; main()"
END_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Command:
    """What is run: one of the three entries, its arguments, and what it finds in its
    environment besides that of the place."""

    entry: str
    arguments: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    package: str = ""  # another folder than this one's

    @property
    def program(self) -> Program:
        return Program(sys.executable, self.package) if self.package else this_program()

    @property
    def words(self) -> list[str]:
        """As an installed client runs it, without the shell."""
        if self.entry == HOOK:
            return [*self.program.words, *self.arguments]
        if self.entry == MCP:
            entry = server_entry()
            return [entry["command"], *entry["args"]]
        if self.package:
            code = CLI_OF_PACKAGE.format(str(Path(self.package).parent))
            return [sys.executable, "-I", "-c", code, *self.arguments]
        return [*CLI_WORDS, *self.arguments]

    @property
    def line(self) -> list[str]:
        """As it stands in the settings: a hook is a line for the shell."""
        return ["/bin/sh", "-c", hook_command(self.program)] if self.entry == HOOK else self.words


def cli(*arguments: str) -> Command:
    return Command(CLI, arguments)


@dataclass(slots=True)
class ForkedProcess:
    """A process of Holdfast that waits at its gate."""

    pid: int
    _gate: int
    _connection: socket.socket

    def begin(self) -> None:
        os.close(self._gate)

    def wait(self) -> int:
        """Its exit code; negative for a signal."""
        with self._connection, self._connection.makefile("r") as answers:
            return int(answers.readline())


class Forks:
    """The process that has imported Holdfast, in the environment of one place."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._path = str(folder / "forks")
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(FORKS), self._path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=dict(environ),
        )
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"ready\n":
            raise RuntimeError("Holdfast cannot be imported")
        self._owner = self._connect()

    @property
    def pid(self) -> int:
        return self._process.pid

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._path)
        return connection

    def start(
        self,
        command: Command,
        streams: Sequence[int],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        most_bytes: int | None = None,
    ) -> ForkedProcess:
        """Fork; the process waits until `begin`."""
        asked = {
            "entry": command.entry,
            "arguments": command.arguments,
            "cwd": str(cwd),
            "environ": {**environ, **command.environ},
            "most_bytes": most_bytes,
        }
        closed, gate = os.pipe()
        connection = self._connect()
        socket.send_fds(connection, [json.dumps(asked).encode()], [*streams, closed])
        os.close(closed)
        pid = b""
        while not pid.endswith(b"\n"):
            if not (part := connection.recv(1)):
                raise RuntimeError("the process that forks has ended")
            pid += part
        return ForkedProcess(int(pid), gate, connection)

    def end(self) -> None:
        self._owner.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        Path(self._path).unlink(missing_ok=True)
