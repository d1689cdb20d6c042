"""How long requests take over HTTP, against another version of Holdfast, in alternation.

    git worktree add --detach /tmp/other REVISION
    python -m benchmarks.api_versions /tmp/other/src

Both run with the packages of this environment, each on an empty database of its own.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

from tests.api.live import TOKEN, as_process

import holdfast
from benchmarks.api import KINDS
from benchmarks.databases import kept

Row = tuple[str, str, str]
Request = tuple[str, str, Any]
ROUNDS = 150
WANTED = {"restore": "≤ 1.5", "restore, small": "≤ 1.5"}
SNAPSHOT = {
    "session_id": "bench",
    "trigger": "proactive",
    "context_summary": "All but the tide table is done. " * 20,
    "modified_files": [f"/work/app/src/module_{n}.py" for n in range(400)],
    "key_decisions": [f"decision {n}, with some words beside it" for n in range(400)],
    "active_tasks": [
        {"id": str(n), "description": f"task {n} of many " * 4, "status": "running"}
        for n in range(100)
    ],
}
SMALL = {"session_id": "small", "trigger": "proactive", "context_summary": "Tests are missing"}


class Client:
    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.project = self._make("project", path="/work/app", name="app")["id"]
        for words in ("Build it", "Build it well", "Build it better"):
            about = {"project_id": self.project, "session_id": "bench", "prompt": words}
            request = self._make("request", prompt_type="feature", **about)
            for wave in range(3):
                task = self._make("task", request_id=request["id"], name="t", wave_number=wave)
                for number in range(3):
                    part = {"agent_type": "developer", "agent_id": f"a{number}"}
                    self._make("subtask", task_id=task["id"], description="a part", **part)
        for _ in range(40):
            self.ask("POST", "/api/actions", {**KINDS["POST action"][1], "session_id": "small"})
        self.ask("POST", "/api/compact/save", SMALL)

    def _make(self, noun: str, **body: Any) -> dict[str, Any]:
        made: dict[str, Any] = self.ask("POST", f"/api/{noun}s", body)[noun]
        return made

    def ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
        except ConnectionError:  # kept open for too long: the other server was asked meanwhile
            self._connection.close()
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
        read: dict[str, Any] = json.loads(answer.read())
        assert answer.status < 300, (path, answer.status, read)
        return read


def _restore(session: str) -> Request:
    body = {"session_id": session, "agent_id": "main", "max_tokens": 2000}
    return "POST", "/api/compact/restore", body


ASKED: dict[str, Callable[[Client], Request]] = {
    "action": lambda _: ("POST", *KINDS["POST action"]),
    "message": lambda _: ("POST", *KINDS["POST message"]),
    "save, 50 KB": lambda _: ("POST", "/api/compact/save", SNAPSHOT),
    "hierarchy": lambda client: ("GET", f"/api/hierarchy/{client.project}", None),
    "restore": lambda _: _restore("bench"),
    "restore, small": lambda _: _restore("small"),
}


def rows(other: str) -> Iterator[Row]:
    sources = (other, str(Path(holdfast.__file__).parents[1]))
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder, ExitStack() as stack:
        homes = [Path(folder, str(number)) for number in range(2)]
        for home in homes:
            home.mkdir()
        urls = [stack.enter_context(kept(home)) for home in homes]
        for engine in urls[0]:
            with ExitStack() as servers:
                clients = []
                for source, home, addresses in zip(sources, homes, urls, strict=True):
                    begin = f"import sys; sys.path.insert(0, {source!r}); "
                    program = [
                        sys.executable,
                        "-c",
                        begin + "from holdfast.cli.main import main; main()",
                    ]
                    environ = {"HOME": str(home), "HOLDFAST_HOME": f"{home}/.holdfast"}
                    server = as_process(addresses[engine], program=program, environ=environ)
                    clients.append(Client(servers.enter_context(server).port))
                for kind, request in ASKED.items():
                    before, now = _times(clients, request)
                    figure = f"{now / before:.2f}x: {before:.2f}, then {now:.2f} ms"
                    yield f"{engine}: {kind}", figure, WANTED.get(kind, "≤ 1.3")


def _times(clients: list[Client], request: Callable[[Client], Request]) -> list[float]:
    taken: list[list[float]] = [[] for _ in clients]
    for _ in range(ROUNDS):
        for client, own in zip(clients, taken, strict=True):
            began = time.perf_counter()
            client.ask(*request(client))
            own.append((time.perf_counter() - began) * 1000)
    return [median(own) for own in taken]


if __name__ == "__main__":
    for title, figure, wanted in rows(sys.argv[1]):
        print(f"{title:30} {figure:34} {wanted}", flush=True)
