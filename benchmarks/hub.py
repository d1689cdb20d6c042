"""What a save, a restore and the hierarchy cost through the API, compared with another checkout.

    python -m benchmarks.hub                    # times, and where the time goes
    python -m benchmarks.hub --against DIR      # as ratios to the checkout in DIR, with its .venv

Both servers run at once, each on a database that it has made itself, on SQLite and on PostgreSQL.
Their requests take turns, so that what else the machine does falls on both. Requests that are
refused and rolled back are among them. Everything is measured twice: with one session, and with
1,000 sessions of 1,000 actions beside it. A save holds 50 KB; the hierarchy is that of 100 tasks of
10 subtasks.

At last it is told how soon `holdfast serve` answers, and its memory after 2,000 requests.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from benchmarks import hub_profile
from benchmarks.api import REFUSED, TOKEN, free_port, wait_for
from benchmarks.databases import both
from benchmarks.hub_data import REQUESTS, fill_others, fill_tree
from holdfast.hub.store.engine import open_engine
from holdfast.hub.store.store import Store

Row = tuple[str, str, str]
ROUNDS = 60
WANTED = {"save": 0.5, "restore": 0.45, "hierarchy": 0.7, "message": 1.0, "action": 1.0}
MOST_MB, MOST_START_SECONDS = 100, 1.0
LOAD = 400  # of each of the five kinds
STARTS = 5


class Server(NamedTuple):
    port: int
    process: subprocess.Popen[bytes]

    def ask(self, name: str) -> float:
        """Milliseconds of one request on a connection of its own."""
        method, path, body = REQUESTS[name]
        began = time.perf_counter()
        self._sent(method, path, body)
        return (time.perf_counter() - began) * 1000

    def wait(self) -> None:
        """Until it answers: it listens before its database is open."""
        self._sent("GET", "/health", None)

    def be_refused(self) -> None:
        for path, body, status in REFUSED:
            self._sent("POST", path, body, status)

    def _sent(self, method: str, path: str, body: Any, status: int | None = None) -> None:
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {TOKEN * 2}", "Content-Type": "application/json"}
        asked.request(method, path, json.dumps(body) if body else None, headers)
        answer = asked.getresponse()
        told = answer.read()
        asked.close()
        if answer.status != status and (status or answer.status >= 300):
            raise RuntimeError(f"{path} answered {answer.status}: {told[:200]!r}")


def rows(against: Path | None = None) -> Iterator[Row]:
    for engine in ("SQLite", "PostgreSQL"):
        with ExitStack() as running:
            stores, servers = [], []
            for folder in [Path.cwd(), *([against] if against else [])]:
                address = running.enter_context(both())[engine]
                servers.append(running.enter_context(_serving(folder, address)))
                stores.append(Store(open_engine(address)))  # at the version of its server
            for store in stores:
                store.write(fill_tree)
            yield from _compared(servers, f"{engine}, one session")
            for store in stores:
                store.write(fill_others)
                with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
                    c.execute(sa.text("ANALYZE"))
            yield from _compared(servers, f"{engine}, 1,000 sessions of 1,000 actions")
            for store in stores:
                store.close()
    yield from _of_serve()


def _compared(servers: list[Server], about: str) -> Iterator[Row]:
    spent = {name: [list[float]() for _ in servers] for name in REQUESTS}
    for round_ in range(ROUNDS + 3):
        for name in REQUESTS:
            for n in range(len(servers)):
                at = (n + round_) % len(servers)  # each is first as often as the other
                servers[at].be_refused()
                took = servers[at].ask(name)
                if round_ >= 3:
                    spent[name][at].append(took)
    for name, times in spent.items():
        ours = _usual(times[0])
        if len(servers) == 1:
            yield f"{name}, {about}", f"{ours:.1f} ms", ""
            continue
        other = _usual(times[1])
        told = f"{ours / other:.2f}x ({ours:.1f} of {other:.1f} ms)"
        yield f"{name}, {about}", told, f"≤ {WANTED[name]:g}x"


def _usual(times: list[float]) -> float:
    """The lowest quarter ends here: what the machine does beside it only adds."""
    return sorted(times)[len(times) // 4]


@contextmanager
def _serving(folder: Path, address: str) -> Iterator[Server]:
    """`holdfast serve` of a checkout, with a home of its own."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as home:
        port = free_port()
        command = [str(folder / ".venv" / "bin" / "holdfast"), "serve", "--port", str(port)]
        process = subprocess.Popen(
            [*command, *(["--database", address] if address else [])],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment() | {"HOLDFAST_HOME": home, "HOLDFAST_API_TOKEN": TOKEN * 2},
        )
        try:
            wait_for(port)
            server = Server(port, process)
            server.wait()
            yield server
        finally:
            process.terminate()
            process.wait()


def _environment() -> dict[str, str]:
    """Nobody runs it without its bytecode."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def _of_serve() -> Iterator[Row]:
    """How soon it answers, and what it holds after a load. The first start writes the bytecode."""
    starts, cpu = [], []
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        address = f"sqlite:///{folder}/holdfast.db"
        Store.open(address).close()
        for last in (*[False] * STARTS, True):
            began = time.perf_counter()
            with _serving(Path.cwd(), address) as server:
                starts.append(time.perf_counter() - began)
                cpu.append(_cpu_seconds(server.process.pid))
                if last:
                    yield from _loaded(server)
    told = f"{min(starts):.2f} s, {min(cpu):.2f} s of CPU"
    yield "`serve` answers after", told, f"≤ {MOST_START_SECONDS:g} s"


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _loaded(server: Server) -> Iterator[Row]:
    """The hierarchy needs a project: the first action makes it."""
    for name in ("action", *(name for _ in range(LOAD) for name in REQUESTS)):
        server.ask(name)
        time.sleep(0.001)  # within the rate that a caller may have
    told = Path(f"/proc/{server.process.pid}/status").read_text().split("VmRSS:")[1].split()[0]
    name = f"memory of `serve` after {LOAD * len(REQUESTS):,} requests"
    yield name, f"{int(told) / 1024:.0f} MB", f"≤ {MOST_MB} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, with its .venv")
    given = parser.parse_args()
    for row in rows(given.against and given.against.resolve()):
        print(*row, sep=" | ", flush=True)
    print(*hub_profile.table(), sep="\n")


if __name__ == "__main__":
    main()
