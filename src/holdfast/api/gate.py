"""Who may come in (X5): the right host name, no other origin, the token, bounded in size and rate.

One plain ASGI layer in front of everything: what it turns away never reaches a route.
"""

from __future__ import annotations

import hmac
import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 5 << 20
OPEN = frozenset(("/health",))
LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1", "[::1]"))
MOST_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class Rules:
    token: str | None  # None: whoever reaches this address may come in
    hosts: frozenset[str] = LOOPBACK
    most_body: int = MOST_BODY
    per_second: float = 500.0
    burst: float = 2_000.0


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


@dataclass(slots=True)
class _Rate:
    """A bucket per caller that fills again; those not seen for long are forgotten first."""

    per_second: float
    burst: float
    callers: OrderedDict[str, _Bucket] = field(default_factory=OrderedDict)

    def wait_seconds(self, caller: str, now: float) -> float:
        bucket = self.callers.get(caller)
        if bucket is None:
            bucket = self.callers[caller] = _Bucket(self.burst, now)
            if len(self.callers) > MOST_CLIENTS:
                self.callers.popitem(last=False)
        bucket.left = min(self.burst, bucket.left + (now - bucket.at) * self.per_second)
        bucket.at = now
        self.callers.move_to_end(caller)
        if bucket.left < 1:
            return (1 - bucket.left) / self.per_second
        bucket.left -= 1
        return 0.0


class _TooLarge(Exception):
    pass


class Gate:
    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules
        self._rate = _Rate(rules.per_second, rules.burst)
        self._token = b"Bearer " + rules.token.encode() if rules.token else b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        refused = self._refused(scope, headers)
        if refused is not None:
            return await _answer(send, *refused)
        await self._bounded(scope, receive, send)

    def _refused(
        self, scope: Scope, headers: Mapping[bytes, bytes]
    ) -> tuple[int, str, dict[str, str]] | None:
        if _name(headers.get(b"host", b"")) not in self._rules.hosts:
            return 403, "This host name is not served here", {}
        if not self._same_origin(headers):
            return 403, "Requests of other origins are not served", {}
        if scope["path"] not in OPEN and not self._knows_token(headers):
            return 401, "A bearer token is needed", {"WWW-Authenticate": "Bearer"}
        caller = scope["client"][0] if scope.get("client") else ""
        wait = self._rate.wait_seconds(caller, time.monotonic())
        if wait:
            return 429, "Too many requests", {"Retry-After": str(int(wait) + 1)}
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            return 400, "Content-Length is not a number", {}
        if int(length) > self._rules.most_body:
            return 413, f"A body may hold {self._rules.most_body} bytes", {"Connection": "close"}
        return None

    def _same_origin(self, headers: Mapping[bytes, bytes]) -> bool:
        origin = headers.get(b"origin")
        return origin is None or origin.split(b"://")[-1] == headers.get(b"host", b"")

    def _knows_token(self, headers: Mapping[bytes, bytes]) -> bool:
        given = headers.get(b"authorization", b"")
        return not self._token or hmac.compare_digest(given, self._token)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A body without a length is counted as it comes."""
        seen = 0
        started = False

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._rules.most_body:
                raise _TooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, counted, noted)
        except _TooLarge:
            if not started:
                text = f"A body may hold {self._rules.most_body} bytes"
                await _answer(send, 413, text, {"Connection": "close"})


def _name(host: bytes) -> str:
    """The name of a Host header, without its port."""
    try:
        return (urlsplit("//" + host.decode("ascii")).hostname or "").lower()
    except (ValueError, UnicodeDecodeError):
        return ""


async def _answer(send: Send, status: int, text: str, more: dict[str, str]) -> None:
    body = json.dumps({"error": text}).encode()
    headers: list[tuple[bytes, bytes]] = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *((name.lower().encode(), value.encode()) for name, value in more.items()),
    ]
    start: dict[str, Any] = {"type": "http.response.start", "status": status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})
