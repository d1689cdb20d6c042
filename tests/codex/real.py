"""The real Codex, offline: in a namespace with only loopback, against a scripted Responses API."""

import json
import os
import shlex
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from tests.fetch_client import CODEX_CACHE, codex_binary_of
from tests.trial.namespace import confine

MODEL = "gpt-5.2-codex"
SUMMARY_SIGN = "CONTEXT CHECKPOINT"  # in Codex's own request for a summary
CONFIG = """
model = "{model}"
model_provider = "scripted"
model_auto_compact_token_limit = {limit}
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
base_url = "http://127.0.0.1:1/v1"
"""


@dataclass(frozen=True)
class CodexAnswer:
    """What the scripted model says: words, commands to run, and steps of a plan with their states;
    and the tokens it then reports."""

    text: str
    used: int
    commands: tuple[str, ...] = ()
    plan: tuple[tuple[str, str], ...] = ()


Script = Callable[[int, dict[str, Any]], CodexAnswer]  # number of the request, and its body


@dataclass(frozen=True)
class CodexRun:
    """How the client ended, and what the API was asked."""

    exit_code: int
    timed_out: bool
    said: str
    requests: tuple[dict[str, Any], ...]


def newest_codex() -> Path | None:
    """The Codex that `make client` has fetched."""
    versions = sorted(CODEX_CACHE.iterdir()) if CODEX_CACHE.is_dir() else []
    found = [codex_binary_of(one.name) for one in versions]
    return next((one for one in reversed(found) if one.is_file()), None)


def prepare(home: Path, limit: int) -> None:
    folder = home / ".codex"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(CONFIG.format(model=MODEL, limit=limit))


def environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "dumb", "SCRIPTED_KEY": "none"}


def run(
    binary: Path,
    home: Path,
    project: Path,
    prompt: str,
    script: Script,
    *,
    timeout: float = 100,
    resume: bool = False,
) -> CodexRun:
    """Run one headless session, or go on with the newest one. Its hooks are trusted for this one
    time."""
    out, err = (home / name for name in ("out", "err"))
    words = ["exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check"]
    words += [*(["resume", "--last"] if resume else []), prompt]
    provider = 'model_providers.scripted.base_url="$ANTHROPIC_BASE_URL/v1"'
    line = f"exec {shlex.quote(str(binary))} -c {provider} {shlex.join(words)}"
    with (
        out.open("wb") as stdout,
        err.open("wb") as stderr,
        confine(
            ["/bin/sh", "-c", line],
            folder=project,
            environment=environment(home),
            stdout=stdout,
            stderr=stderr,
        ) as client,
    ):
        server = _Server(script)
        server.socket.close()
        server.socket = client.listener
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        ended = client.ended_within(timeout)
        server.shutdown()
        thread.join()
        server.server_close()
    said = out.read_text(errors="replace") + err.read_text(errors="replace")
    return CodexRun(client.process.returncode, not ended, said, tuple(server.received))


class _Server(ThreadingHTTPServer):
    def __init__(self, script: Script) -> None:
        self.script = script
        self.received: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Door, bind_and_activate=False)


class _Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        server = cast("_Server", self.server)
        with server.lock:
            server.received.append(body)
            number = len(server.received)
            answer = server.script(number, body)
        data = "".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            for event in _events(number, answer)
        ).encode()
        self._send(200, "text/event-stream", data)

    def do_GET(self) -> None:
        self._send(404, "text/plain", b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Silence: `received` is the log."""

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _events(number: int, answer: CodexAnswer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "content": [{"type": "output_text", "text": answer.text}],
        }
    ]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("exec_command", {"cmd": command}) for command in answer.commands
    ]
    if answer.plan:
        steps = [{"step": step, "status": status} for step, status in answer.plan]
        calls.append(("update_plan", {"plan": steps}))
    for place, (name, arguments) in enumerate(calls):
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{number}_{place}",
                "call_id": f"call_{number}_{place}_{uuid4().hex}",
                "name": name,
                "arguments": json.dumps(arguments, ensure_ascii=False),
            }
        )
    usage = {
        "input_tokens": answer.used - 50,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.used,
    }
    done = [{"type": "response.output_item.done", "item": item} for item in items]
    response = {"id": f"resp_{number}"}
    return [
        {"type": "response.created", "response": response},
        *done,
        {"type": "response.completed", "response": response | {"usage": usage}},
    ]
