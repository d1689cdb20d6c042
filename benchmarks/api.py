"""What writing through the API costs, compared with a route that does one bare INSERT and COMMIT.

    python -m benchmarks.api

The server is a process of its own; requests of the kinds take turns, connection by connection kept
alive, so that what else the machine does falls on all of them. Two routes stand beside ours for
comparison, behind the same gate and right before the others: one does nothing, and one writes a row
of one word by the driver alone and commits it, on the disk before it answers, as ours are.

Between two turns one request of each kind is refused and rolled back, as happens to every server.
After it a statement has to be prepared again, so what that costs is part of the figures.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import median

from fastapi import Response

from benchmarks.databases import both

Row = tuple[str, str, str]
TOKEN = "benchmark"
ROUNDS = 25
SECONDS_A_TURN = 0.25
NOTHING, BARE = "nothing", "bare"
WANTED = {"POST message": "≤ 1.5x", "POST action": ""}
KINDS: dict[str, tuple[str, dict[str, object]]] = {
    NOTHING: ("/nothing", {}),
    BARE: ("/bare", {}),
    "POST action": (
        "/api/actions",
        {
            "tool_name": "Bash",
            "tool_type": "builtin",
            "input": "pytest -q tests/test_app.py",
            "exit_code": 0,
            "duration_ms": 1200,
            "file_paths": ["/work/app/tests/test_app.py"],
            "session_id": "bench",
            "project_path": "/work/app",
        },
    ),
    "POST message": (
        "/api/messages",
        {
            "from_agent": "backend",
            "to_agent": "frontend",
            "topic": "task.completed",
            "content": {"endpoint": "/api/login", "method": "POST"},
            "priority": 5,
        },
    ),
}
NOWHERE = "00000000-0000-4000-8000-000000000000"
REFUSED: tuple[tuple[str, dict[str, object], int], ...] = (
    ("/api/subtasks", {"task_id": NOWHERE, "description": "of an unknown task"}, 404),
    ("/api/messages", {**KINDS["POST message"][1], "project_id": NOWHERE}, 404),
)


def rows() -> Iterator[Row]:
    with both() as addresses:
        for engine, address in addresses.items():
            for connections in (1, 32):
                rates = {
                    kind: median(found) for kind, found in measure(address, connections).items()
                }
                about = f"{engine}, {connections} connection(s)"
                for kind in ("POST message", "POST action"):
                    ratio = rates[BARE] / rates[kind]
                    told = f"{ratio:.2f}x of a bare write; {rates[kind]:,.0f} per second"
                    yield f"{kind}, {about}", told, WANTED[kind]
                told = f"{rates[BARE] / rates[NOTHING]:.2f}x of it; {rates[BARE]:,.0f} bare ones"
                yield f"a route that does nothing, {about}", told, "for comparison"


def measure(address: str, connections: int) -> dict[str, list[float]]:
    """Requests per second of each kind, turn by turn."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.api", "serve", address, str(port)],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        return asyncio.run(_turns(port, connections))
    finally:
        server.terminate()
        server.wait()


async def _turns(port: int, connections: int) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for turn in range(ROUNDS + 1):
        for kind in KINDS:
            await _refused(port)
            rate = await _rate(port, connections, _posted(*KINDS[kind]))
            if turn:  # the first is for warming up
                rates[kind].append(rate)
    return rates


async def _refused(port: int) -> None:
    for path, body, status in REFUSED:
        head = await _answer(port, _posted(path, body))
        if not head.startswith(b"HTTP/1.1 %d" % status):
            raise RuntimeError(f"the server answered {head[:200]!r}, not {status}")


async def _answer(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return head


async def _rate(port: int, connections: int, request: bytes) -> float:
    until = time.monotonic() + SECONDS_A_TURN
    began = time.monotonic()
    done = await asyncio.gather(*(_caller(port, request, until) for _ in range(connections)))
    return sum(done) / (time.monotonic() - began)


async def _caller(port: int, request: bytes, until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    done = 0
    while time.monotonic() < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 20"):
            raise RuntimeError(f"the server answered {head[:200]!r}")
        await reader.readexactly(_length(head))
        done += 1
    writer.close()
    await writer.wait_closed()
    return done


def _length(head: bytes) -> int:
    return int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])


def _posted(path: str, body: dict[str, object]) -> bytes:
    data = json.dumps(body).encode()
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    ).encode() + data


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    for _ in range(400):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the server did not start")


def _serve(address: str, port: int) -> None:
    """Our server with two more routes; they take a body like the others and look at nothing."""
    import uvicorn

    from holdfast.api.app import create
    from holdfast.api.gate import Gate, Rules
    from holdfast.api.responses import respond
    from holdfast.api.server import Connection, settle_memory
    from holdfast.hub.store.store import Store

    app, write = create(Store.open(address)), _bare(address)

    async def nothing(_body: dict[str, object]) -> Response:
        return respond({"success": True}, 201)

    async def bare(_body: dict[str, object]) -> Response:
        write()
        return respond({"success": True}, 201)

    for route in (nothing, bare):
        app.add_api_route(f"/{route.__name__}", route, methods=["POST"], status_code=201)
        app.router.routes.insert(0, app.router.routes.pop())
    settle_memory()
    gate = Gate(app, Rules(token=TOKEN, per_second=1e9, burst=1e9))
    uvicorn.run(gate, http=Connection, ws="none", port=port, log_level="warning", access_log=False)


def _bare(address: str) -> Callable[[], None]:
    """One row, one table, no index but its key; by the driver alone."""
    if address.startswith("sqlite"):
        file = sqlite3.connect(address.removeprefix("sqlite:///"), isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL"):
            file.execute(f"PRAGMA {pragma}")
        file.execute("CREATE TABLE IF NOT EXISTS bare (id integer PRIMARY KEY, word text)")

        def to_file() -> None:
            file.execute("BEGIN IMMEDIATE")
            file.execute("INSERT INTO bare (word) VALUES (?)", ("one",))
            file.execute("COMMIT")

        return to_file
    import psycopg

    server = psycopg.connect(address)
    server.execute("CREATE TABLE IF NOT EXISTS bare (id bigserial PRIMARY KEY, word text)")
    server.commit()

    def to_server() -> None:
        server.execute("INSERT INTO bare (word) VALUES (%s)", ("one",))
        server.commit()

    return to_server


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        _serve(sys.argv[2], int(sys.argv[3]))
    else:
        for row in rows():
            print(*row, sep=" | ", flush=True)
