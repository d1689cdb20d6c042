"""`holdfast serve` in a place: started as users start it, killed, and spoken to by HTTP."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import threading
from dataclasses import dataclass, field
from typing import Any

from torture.commands import cli
from torture.place import Place

TOKEN = "a-token-for-torture-only"
START_SECONDS = 60
ASK_SECONDS = 300  # a request that is given up too early would still be done later


@dataclass(frozen=True, slots=True)
class Answered:
    """Status 0: nothing came back, so nobody knows whether it was done."""

    status: int
    body: Any


@dataclass(slots=True)
class Server:
    place: Place
    port: int = 0
    process: subprocess.Popen[str] | None = None
    log: list[str] = field(default_factory=list)
    _reader: threading.Thread | None = None

    def start(self) -> None:
        command = cli("serve", "--port", str(self.port)).words
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.place.projects[0],
            env={**self.place.environ, "HOLDFAST_API_TOKEN": TOKEN},
        )
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log.append(line.rstrip())
            if found := re.match(r"serving https?://\S+:(\d+),", line):
                self.port = int(found[1])
                break
        else:
            raise RuntimeError(f"serve did not start: {self.log[-5:]}")
        self._reader = threading.Thread(target=self._drain, args=(self.process,), daemon=True)
        self._reader.start()

    def _drain(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.log.append(line.rstrip())

    def end(self, sig: int = signal.SIGTERM) -> int:
        """Its exit code; it must end by itself at SIGTERM."""
        if self.process is None:
            return 0
        self.process.send_signal(sig)
        code = self.process.wait(START_SECONDS)
        if self._reader is not None:
            self._reader.join(START_SECONDS)
        if self.process.stderr is not None:
            self.process.stderr.close()
        self.process = None
        return code

    def ask(self, method: str, path: str, body: Any = None) -> Answered:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ASK_SECONDS)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            connection.request(
                method, path, json.dumps(body) if body is not None else None, headers
            )
            found = connection.getresponse()
            return Answered(found.status, json.loads(found.read() or b"null"))
        except (OSError, ValueError, http.client.HTTPException):
            return Answered(0, None)
        finally:
            connection.close()
