"""A Messages API on loopback that answers from a script and remembers every request.

An answer is sent as soon as its request is complete (unless the API is told to be patient), so the
time between two requests is Claude Code's own and its hooks'.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from tests.trial.script import Kind, ReceivedRequest, Script, ScriptedAnswer, ScriptedError, Step

# From Claude Code's own prompt for the summary, the same in 2.1.197 and 2.1.325.
_SUMMARY_PROMPT = "Your task is to create a detailed summary of the conversation"
_AGENT_HEADER = "x-claude-code-agent-id"
# Versions without the header say it in the first block of the system prompt.
_AGENT_MARKS = ("cc_is_subagent=true", "You are an agent for Claude Code")
Event = dict[str, Any]


def kind_of(body: Mapping[str, Any], agent_id: str = "") -> Kind:
    """The kind of a request: a summary, a subagent's turn, a side question (no tools) or a turn."""
    if _SUMMARY_PROMPT in _last_words(body):
        return "summary"
    if agent_id or any(mark in json.dumps(body.get("system", "")) for mark in _AGENT_MARKS):
        return "agent"
    return "main" if body.get("tools") else "side"


def _last_words(body: Mapping[str, Any]) -> str:
    """The own text of the last message that is not the system's, without tool results: a file may
    quote the prompt."""
    said = (one["content"] for one in reversed(body.get("messages", ())) if one["role"] != "system")
    content = next(said, "")
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content if block.get("type") == "text")


class ScriptedApi:
    """Serves a script until closed; `received` is what the model would have read."""

    def __init__(
        self,
        script: Script,
        *,
        listener: socket.socket | None = None,
        log: Path | None = None,
        before_answer: Callable[[], None] | None = None,
    ) -> None:
        self.received: list[ReceivedRequest] = []
        self._script = script
        self._log = log
        self._before_answer = before_answer
        self._lock = threading.Lock()
        self._server = _Server(self, listener)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        host, port = self._server.socket.getsockname()[:2]
        return f"http://{host}:{port}"

    def answer(self, body: dict[str, Any], agent_id: str) -> tuple[int, Step]:
        """Record the request and ask the script; the number makes the answer's ids unique."""
        with self._lock:
            number = len(self.received) + 1
            kind = kind_of(body, agent_id)
            request = ReceivedRequest(number, kind, agent_id, time.monotonic(), body)
            self.received.append(request)
            self._write_down(request)
        if self._before_answer is not None:
            self._before_answer()
        with self._lock:
            return number, self._script(request)

    def __enter__(self) -> ScriptedApi:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _write_down(self, request: ReceivedRequest) -> None:
        if self._log is None:
            return
        line = json.dumps({"kind": request.kind, "agent_id": request.agent_id, **request.body})
        with self._log.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class _Server(ThreadingHTTPServer):
    """Listens on loopback, or on a socket made elsewhere (inside the client's namespace)."""

    def __init__(self, api: ScriptedApi, listener: socket.socket | None) -> None:
        self.api = api
        super().__init__(("127.0.0.1", 0), _Door, bind_and_activate=listener is None)
        if listener is not None:
            self.socket.close()
            self.socket = listener


class _Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # the client keeps its connection open

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.partition("?")[0]
        if path == "/v1/messages/count_tokens":
            self._send_json(200, {"input_tokens": max(1, len(raw) // 4)})
        elif path == "/v1/messages":
            self._send_step(json.loads(raw))
        else:
            self._send_json(404, as_error(ScriptedError(404, "not_found_error", path)))

    def do_GET(self) -> None:
        self._send_json(404, as_error(ScriptedError(404, "not_found_error", self.path)))

    def do_HEAD(self) -> None:
        self._send(200, "text/plain", b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Silence: `received` is the log."""

    def _send_step(self, body: dict[str, Any]) -> None:
        api = cast("_Server", self.server).api
        number, step = api.answer(body, self.headers.get(_AGENT_HEADER, ""))
        model = str(body.get("model", ""))
        if isinstance(step, ScriptedError):
            self._send_json(step.status, as_error(step))
        elif body.get("stream"):
            events = as_events(step, number=number, model=model)
            self._send(200, "text/event-stream; charset=utf-8", events)
        else:
            self._send_json(200, as_message(step, number=number, model=model))

    def _send_json(self, status: int, value: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, content_type: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def as_message(answer: ScriptedAnswer, *, number: int, model: str) -> dict[str, Any]:
    """The whole answer, as a request without `stream` gets it."""
    return {
        "id": f"msg_scripted{number:06d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(answer, number),
        "stop_reason": answer.stops_for,
        "stop_sequence": None,
        "usage": asdict(answer.usage),
    }


def as_events(answer: ScriptedAnswer, *, number: int, model: str) -> bytes:
    """The same answer as the event stream the client normally asks for."""
    message = as_message(answer, number=number, model=model)
    return b"".join(_encode(event) for event in _events(message))


def as_error(refusal: ScriptedError) -> dict[str, Any]:
    """An error in the API's own form."""
    return {"type": "error", "error": {"type": refusal.error_type, "message": refusal.message}}


def _blocks(answer: ScriptedAnswer, number: int) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for place, tool in enumerate(answer.tools):
        name = f"toolu_scripted{number:06d}x{place}"
        blocks.append(
            {"type": "tool_use", "id": name, "name": tool.name, "input": dict(tool.arguments)}
        )
    return blocks


def _events(message: dict[str, Any]) -> Iterator[Event]:
    final_usage = message["usage"]
    opening = {**message, "content": [], "stop_reason": None}
    opening["usage"] = {**final_usage, "output_tokens": 1}
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        yield from _block_events(index, block)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": final_usage}
    yield {"type": "message_stop"}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[Event]:
    if block["type"] == "text":
        empty: Event = {"type": "text", "text": ""}
        delta: Event = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _encode(event: Event) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
