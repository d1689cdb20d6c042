"""What a save, a restore and the hierarchy cost through the API, compared with another checkout.

    python -m benchmarks.hub                    # times
    python -m benchmarks.hub --against DIR      # as ratios to the checkout in DIR, with its .venv
    python -m benchmarks.hub --against DIR --engine SQLite --only restore --sessions 1

Both servers run at once, each on a database that it has made itself, on SQLite and on PostgreSQL.
Their requests take turns, so that what else the machine does falls on both. Requests that are
refused and rolled back are among them. Everything is measured twice: with one session, and with
1,000 sessions of 1,000 actions beside it. A save holds 50 KB; the hierarchy is that of 100 tasks of
10 subtasks. Beside the time stands the CPU of the server, all its threads together, which other
work on the machine changes little.

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
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from benchmarks.api import REFUSED, TOKEN, free_port, wait_for
from benchmarks.databases import both
from benchmarks.hub_data import REQUESTS, SESSIONS, fill_others, fill_tree
from holdfast.hub.store.engine import open_engine
from holdfast.hub.store.store import Store

Row = tuple[str, str, str]
ROUNDS, WARM_UP = 60, 3
SERVE = "serve"
WANTED = {"save": 0.5, "restore": 0.45, "hierarchy": 0.7, "message": 1.0, "action": 1.0}
MOST_MB, MOST_START_SECONDS = 100, 1.0
LOAD = 400  # of each of the five kinds
STARTS = 5
SETTLED_SECONDS = 0.005  # after an answer, its connection is still to be closed


class Spent(NamedTuple):
    """On one request."""

    ms: float
    cpu_ms: float  # by the server


class Server(NamedTuple):
    port: int
    process: subprocess.Popen[bytes]

    def ask(self, name: str) -> float:
        """Milliseconds of one request on a connection of its own."""
        method, path, body = REQUESTS[name]
        began = time.perf_counter()
        self._sent(method, path, body)
        return (time.perf_counter() - began) * 1000

    def measured(self, name: str) -> Spent:
        before = self.cpu_ms()
        ms = self.ask(name)
        time.sleep(SETTLED_SECONDS)
        return Spent(ms, self.cpu_ms() - before)

    def wait(self) -> None:
        """Until it answers: it listens before its database is open."""
        self._sent("GET", "/health", None)

    def cpu_ms(self) -> float:
        """The CPU of all its threads, to the nanosecond: /proc/PID/stat counts in hundredths."""
        spent = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(one.read_text().split()[0]) for one in spent) / 1e6

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


class Chosen(NamedTuple):
    """What of all this is measured."""

    engines: tuple[str, ...] = ("SQLite", "PostgreSQL")
    requests: tuple[str, ...] = tuple(REQUESTS)
    sessions: tuple[int, ...] = (1, SESSIONS)
    serve: bool = True  # its start and its memory


EVERYTHING = Chosen()


def rows(against: Path | None = None, chosen: Chosen = EVERYTHING) -> Iterator[Row]:
    for engine in chosen.engines:
        with ExitStack() as running:
            stores, servers = [], []
            for folder in [Path.cwd(), *([against] if against else [])]:
                address = running.enter_context(both())[engine]
                servers.append(running.enter_context(_serving(folder, address)))
                stores.append(Store(open_engine(address)))  # at the version of its server
            for store in stores:
                store.write(fill_tree)
            if 1 in chosen.sessions:
                yield from _compared(servers, chosen.requests, f"{engine}, one session")
            if SESSIONS in chosen.sessions:
                for store in stores:
                    _fill(store)
                about = f"{engine}, 1,000 sessions of 1,000 actions"
                yield from _compared(servers, chosen.requests, about)
            for store in stores:
                store.close()
    if chosen.serve:
        yield from _of_serve()


def _fill(store: Store) -> None:
    store.write(fill_others)
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("ANALYZE"))


def _compared(servers: list[Server], requests: Sequence[str], about: str) -> Iterator[Row]:
    spent = {name: [list[Spent]() for _ in servers] for name in requests}
    for round_ in range(WARM_UP + ROUNDS):
        for name in requests if round_ >= WARM_UP else REQUESTS:  # a restore needs a save
            for n in range(len(servers)):
                at = (n + round_) % len(servers)  # each is first as often as the other
                servers[at].be_refused()
                took = servers[at].measured(name)
                if round_ >= WARM_UP:
                    spent[name][at].append(took)
    for name, each in spent.items():
        wanted = f"≤ {WANTED[name]:g}x" if len(servers) > 1 else ""
        yield f"{name}, {about}", _told([_usual(found) for found in each]), wanted


def _told(each: list[Spent]) -> str:
    ours = each[0]
    if len(each) == 1:
        return f"{ours.ms:.1f} ms, {ours.cpu_ms:.2f} of CPU"
    before = each[1]
    wall = f"{ours.ms / before.ms:.2f}x ({ours.ms:.1f} of {before.ms:.1f} ms)"
    cpu = f"{ours.cpu_ms / before.cpu_ms:.2f}x ({ours.cpu_ms:.2f} of {before.cpu_ms:.2f})"
    return f"{wall}, CPU {cpu}"


def _usual(found: list[Spent]) -> Spent:
    """The lowest quarter ends here: what the machine does beside it only adds."""
    ms, cpu_ms = (sorted(side)[len(found) // 4] for side in zip(*found, strict=True))
    return Spent(ms, cpu_ms)


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
    parser.add_argument("--engine", choices=EVERYTHING.engines, help="only this one")
    parser.add_argument("--only", choices=[*REQUESTS, SERVE], action="append")
    parser.add_argument("--sessions", type=int, choices=(1, SESSIONS), help="only this many")
    given = parser.parse_args()
    only = given.only or [*REQUESTS, SERVE]
    requests = tuple(name for name in only if name != SERVE)
    engines = (given.engine,) if given.engine else EVERYTHING.engines
    chosen = Chosen(
        engines if requests else (),
        requests,
        (given.sessions,) if given.sessions else EVERYTHING.sessions,
        SERVE in only,
    )
    for row in rows(given.against and given.against.resolve(), chosen):
        print(*row, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
