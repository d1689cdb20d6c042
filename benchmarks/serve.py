"""How soon `holdfast serve` answers, and its memory after 2,000 requests of five kinds.

python -m benchmarks.serve
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.api import KINDS, TOKEN, free_port, wait_for
from holdfast.hub import ids
from holdfast.hub.store.store import Store

Row = tuple[str, str, str]
MOST_MB, MOST_START_SECONDS = 100, 1.0
LOAD = 400  # of each kind
STARTS = 5
SESSION = "bench"
WORDS = "the parser reads gauge files with two headings and reports odd lines "
TASK = {"description": WORDS * 15, "status": "running", "agent_type": "backend"}
SNAPSHOT = {  # 50 KB, as scripts send it that gather everything the interface tells
    "session_id": SESSION,
    "trigger": "auto",
    "context_summary": WORDS * 60,
    "active_tasks": [{"id": f"t{n}", **TASK} for n in range(40)],
}
RESTORED = {"session_id": SESSION, "agent_id": "a1", "agent_type": "backend"}
REQUESTS: tuple[tuple[str, str, Any], ...] = (
    ("POST", *KINDS["POST action"]),  # the first one makes the project of the hierarchy
    ("POST", *KINDS["POST message"]),
    ("POST", "/api/compact/save", SNAPSHOT),
    ("POST", "/api/compact/restore", RESTORED),
    ("GET", f"/api/hierarchy/{ids.project_id('/work/app')}?limit=100", None),
)


def rows() -> Iterator[Row]:
    starts, cpu = [], []
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        address = f"sqlite:///{folder}/holdfast.db"
        Store.open(address).close()
        for last in (*[False] * STARTS, True):
            began = time.perf_counter()
            with _serving(folder, address) as (port, process):
                starts.append(time.perf_counter() - began)
                cpu.append(_cpu_seconds(process.pid))
                if last:
                    yield _memory_after_load(port, process)
    figure = f"{min(starts):.2f} s, {min(cpu):.2f} s of CPU"
    yield "`serve` answers after", figure, f"≤ {MOST_START_SECONDS:g} s"


@contextmanager
def _serving(home: str, address: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    command = [".venv/bin/holdfast", "serve", "--port", str(port), "--database", address]
    environ = {**os.environ, "HOLDFAST_HOME": home, "HOLDFAST_API_TOKEN": TOKEN * 2}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # nobody runs it without its bytecode
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environ) as process:
        try:
            wait_for(port)
            _send(port, "GET", "/health", None)  # it listens before its database is open
            yield port, process
        finally:
            process.terminate()


def _send(port: int, method: str, path: str, body: Any) -> None:
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Authorization": f"Bearer {TOKEN * 2}", "Content-Type": "application/json"}
    asked.request(method, path, json.dumps(body) if body else None, headers)
    answer = asked.getresponse()
    text = answer.read()
    asked.close()
    if answer.status >= 300:
        raise RuntimeError(f"{path} answered {answer.status}: {text[:200]!r}")


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_after_load(port: int, process: subprocess.Popen[bytes]) -> Row:
    for _ in range(LOAD):
        for request in REQUESTS:
            _send(port, *request)
            time.sleep(0.001)  # within the rate that a caller may have
    used = Path(f"/proc/{process.pid}/status").read_text().split("VmRSS:")[1].split()[0]
    name = f"memory of `serve` after {LOAD * len(REQUESTS):,} requests"
    return name, f"{int(used) / 1024:.0f} MB", f"≤ {MOST_MB} MB"


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ", flush=True)
