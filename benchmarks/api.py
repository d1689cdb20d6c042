"""What writing through the API costs, as a ratio to a route of the same server that does nothing.

    python -m benchmarks.api

The server is a process of its own; requests of the kinds take turns, connection by connection kept
alive, so that what else the machine does falls on all of them. The route that does nothing has the
same gate and stands right before the others, so that it is found no later than they are.

Between two turns one request of each kind is refused and rolled back, as happens to every server.
After it a statement has to be prepared again, so what that costs is part of the figures.

A commit is acknowledged once it is on the disk. What that alone costs takes its turn
too: a bare INSERT and COMMIT by the driver, and what a request could reach that did only that.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

from fastapi import Response

from benchmarks.databases import both

Row = tuple[str, str, str]
TOKEN = "benchmark"
ROUNDS = 25
SECONDS_A_TURN = 0.25
BARE = "a bare INSERT and COMMIT"
KINDS: dict[str, tuple[str, dict[str, object]]] = {
    "nothing": ("/nothing", {}),
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
                rates = measure(address, connections)
                for kind in list(KINDS)[1:]:
                    ratio = median(rates[kind]) / median(rates["nothing"])
                    name = f"{kind}, {engine}, {connections} connection(s)"
                    yield name, f"{ratio:.2f}x of a route that does nothing", "≥ 0.4x"
                if BARE in rates:
                    yield _floor(median(rates[BARE]), median(rates["nothing"]), engine)


def _floor(bare: float, nothing: float, engine: str) -> Row:
    most = 1 / (1 / bare + 1 / nothing)
    words = f"{bare / nothing:.2f}x of it; a request with only that in it {most / nothing:.2f}x"
    return f"{BARE}, {engine}, 1 connection", words, "for comparison"


def measure(address: str, connections: int) -> dict[str, list[float]]:
    """Requests per second of each kind, turn by turn."""
    port = _free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.api", "serve", address, str(port)],
        stdout=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        commits = connections == 1 and address.startswith("postgresql")
        return asyncio.run(_turns(port, connections, address if commits else ""))
    finally:
        server.terminate()
        server.wait()


async def _turns(port: int, connections: int, commits_to: str) -> dict[str, list[float]]:
    rates: dict[str, list[float]] = {kind: [] for kind in KINDS}
    if commits_to:
        rates[BARE] = []
    for turn in range(ROUNDS + 1):
        for kind in KINDS:
            await _refused(port)
            rate = await _rate(port, connections, _request(kind))
            if turn:  # the first is for warming up
                rates[kind].append(rate)
        if commits_to:
            rates[BARE].append(await asyncio.to_thread(_commits, commits_to))
    return rates


def _commits(address: str) -> float:
    """Bare ones per second: one row, one table, no index but its key."""
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bare (id bigserial PRIMARY KEY, word text)")
        connection.commit()
        began, done = time.monotonic(), 0
        while time.monotonic() - began < SECONDS_A_TURN:
            connection.execute("INSERT INTO bare (word) VALUES ('one')")
            connection.commit()
            done += 1
        return done / (time.monotonic() - began)


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


def _request(kind: str) -> bytes:
    return _posted(*KINDS[kind])


def _posted(path: str, body: dict[str, object]) -> bytes:
    data = json.dumps(body).encode()
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
    ).encode() + data


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    for _ in range(400):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the server did not start")


def _serve(address: str, port: int) -> None:
    """Our server with one more route; it takes a body like the others and looks at nothing."""
    import uvicorn

    from holdfast.api.app import create
    from holdfast.api.gate import Gate, Rules
    from holdfast.api.responses import said
    from holdfast.api.server import settle_memory
    from holdfast.hub.store.store import Store

    async def nothing(_body: dict[str, object]) -> Response:
        return said({"success": True}, 201)

    app = create(Store.open(address))
    app.add_api_route("/nothing", nothing, methods=["POST"], status_code=201)
    app.router.routes.insert(0, app.router.routes.pop())
    settle_memory()
    gate = Gate(app, Rules(token=TOKEN, per_second=1e9, burst=1e9))
    uvicorn.run(gate, host="127.0.0.1", port=port, log_level="warning", access_log=False)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        _serve(sys.argv[2], int(sys.argv[3]))
    else:
        for row in rows():
            print(*row, sep=" | ", flush=True)
