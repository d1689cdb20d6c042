"""Where the time of a request goes: by what the profiler saw, on every thread that worked for it.

    python -m benchmarks.hub_profile

The application runs in this process on a SQLite file, without a socket. Waiting is left out, and
so is the server's own HTTP parser; a profiled function takes about twice its time, so only the
shares are told."""

from __future__ import annotations

import asyncio
import cProfile
import gc
import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.hub_data import REQUESTS, fill_tree
from holdfast.api.app import create
from holdfast.hub.store.store import Store

ROUNDS = 40
PARTS = (  # the first that fits, by the path of the function's file and its name
    ("waiting", ("selectors.py", "threading.py", ":_gather", ":_worker", "benchmarks/")),
    ("the database", ("do_execute", "do_commit", "do_rollback", "psycopg/", "_fetch", "fetchall")),
    ("SQLAlchemy", ("sqlalchemy/",)),
    ("secrets", ("holdfast/redact/",)),
    ("the brief", ("holdfast/brief/", "holdfast/budget/", "holdfast/text/")),
    ("rows and queries", ("holdfast/hub/", "holdfast/checkpoint/")),
    ("parse, validate, answer", ("holdfast/api/", "fastapi/", "starlette/", "pydantic/", "json/")),
    ("the loop and its threads", ("asyncio/", "concurrent/", "contextlib.py")),
)
NAMES = [name for name, _ in PARTS[1:]] + ["other"]


def shares() -> Iterator[tuple[str, dict[str, float]]]:
    """Of each kind of request, the share of each part."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        store = Store.open(f"sqlite:///{folder}/holdfast.db")
        store.write(fill_tree)
        for name in REQUESTS:
            yield name, asyncio.run(_profiled(store, name))
        store.close()


async def _profiled(store: Store, name: str) -> dict[str, float]:
    app, loop = create(store), asyncio.get_running_loop()
    loop.set_default_executor(pool := ThreadPoolExecutor(1))  # one thread reads, so one is watched
    own, writing, reading = (cProfile.Profile(builtins=False) for _ in range(3))
    method, path, body = REQUESTS[name]
    asked = app, method, path, json.dumps(body).encode() if body else b""
    for _ in range(3):
        await _call(*asked)
    gc.collect()
    store.submit(lambda _: writing.enable()).result()
    pool.submit(reading.enable).result()
    own.enable()
    for _ in range(ROUNDS):
        await _call(*asked)
    own.disable()
    pool.submit(reading.disable).result()
    store.submit(lambda _: writing.disable()).result()
    spent = dict.fromkeys([name for name, _ in PARTS] + ["other"], 0.0)
    for one in (own, writing, reading):
        for entry in one.getstats():
            spent[_part(entry.code)] += entry.inlinetime
    total = sum(spent[part] for part in NAMES)
    return {part: spent[part] / total for part in NAMES}


def _part(code: Any) -> str:
    if isinstance(code, str):
        return "other"
    told = f"{code.co_filename}:{code.co_name}"
    return next((part for part, marks in PARTS if any(one in told for one in marks)), "other")


async def _call(app: Any, method: str, path: str, data: bytes) -> None:
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1"), (b"content-length", b"%d" % len(data))],
    }
    told: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    async def send(message: Any) -> None:
        told.append(message)

    await app(scope, receive, send)
    if told[0]["status"] >= 300:
        raise RuntimeError(f"{path} answered {told!r:.300}")


def table() -> Iterator[str]:
    yield " | ".join(["| request", *NAMES]) + " |"
    yield "|---" * (1 + len(NAMES)) + "|"
    for kind, parts in shares():
        yield " | ".join([f"| {kind}", *(f"{share:.0%}" for share in parts.values())]) + " |"


if __name__ == "__main__":
    print(*table(), sep="\n")
