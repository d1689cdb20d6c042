"""The client as a user meets it: in a terminal, here a pseudo-terminal, inside the same cage."""

import contextlib
import fcntl
import os
import pty
import re
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.trial.cycle import MODEL
from tests.trial.namespace import ConfinedProcess, Patience, confine
from tests.trial.run import notes_folder, prepare_home, trial_environment
from tests.trial.script import Kind, ReceivedRequest, Script
from tests.trial.scripted_api import ScriptedApi

from .stage import LOUD, Stage

ROWS, COLUMNS = 50, 150
_CONTROL = re.compile(r"\x1b(?:\[[0-9;?<>=]*[a-zA-Z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()].|.)")


class Terminal:
    """What is typed, what was painted since the start, and what the API was asked meanwhile."""

    def __init__(self, keys: int, client: ConfinedProcess, api: ScriptedApi, debug: Path) -> None:
        self._keys, self._client, self._api, self._debug = keys, client, api, debug
        self._bytes = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def painted(self) -> str:
        """All text without blanks: the client moves the cursor over them, and paints changes."""
        return "".join(_CONTROL.sub("", self._bytes.decode(errors="replace")).split())

    def asked(self, kind: Kind) -> list[ReceivedRequest]:
        return [request for request in self._api.received if request.kind == kind]

    @property
    def debug_log(self) -> str:
        """The only place where a hook's status is told, besides the screen."""
        return self._debug.read_text(errors="replace") if self._debug.exists() else ""

    def type_line(self, words: str) -> None:
        """As fingers do: Enter comes once the words are seen."""
        seen = len(self.painted)
        os.write(self._keys, words.encode())
        self.wait(lambda: "".join(words.split()) in self.painted[seen:])
        os.write(self._keys, b"\r")

    def wait(self, happened: Callable[[], bool], seconds: float = 40.0) -> None:
        until = time.monotonic() + seconds
        while not happened():
            late = time.monotonic() > until or self._client.ended_within(0.05)
            assert not late or happened(), f"not seen; painted last: …{self.painted[-800:]}"

    def ended_within(self, seconds: float) -> bool:
        return self._client.ended_within(seconds)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the other side is closed
            while data := os.read(self._keys, 65536):
                self._bytes += data


@contextlib.contextmanager
def in_a_terminal(
    binary: Path, stage: Stage, script: Script, settings: Mapping[str, Any] | None
) -> Iterator[Terminal]:
    """The client, started without a prompt; it and all it started end with the block. Without
    `settings`, those that are there stay."""
    prepare_home(stage.home, stage.project, settings)
    debug = notes_folder(stage.home) / "debug"
    keys, screen = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    name = os.ttyname(screen)
    # It leads a session of its own, so the terminal that it opens becomes its own, too.
    command = ["/bin/sh", "-c", f'exec "$@" <{name} >{name} 2>&1', "sh", str(binary.resolve())]
    try:
        with (
            (notes_folder(stage.home) / "stderr").open("wb") as stderr,
            confine(
                [*command, "--model", MODEL, "--debug-file", str(debug)],
                folder=stage.project,
                environment=trial_environment(stage.home, {**LOUD, "TERM": "xterm-256color"}),
                stdout=stderr,
                stderr=stderr,
            ) as client,
            ScriptedApi(
                script, listener=client.listener, before_answer=Patience(client.process.pid)
            ) as api,
        ):
            yield Terminal(keys, client, api, debug)
    finally:
        os.close(screen)
        os.close(keys)
