"""A request's body is bounded in size and in time, also where nobody said how long it will be."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    words: str
    headers: tuple[tuple[bytes, bytes], ...] = ()

    @classmethod
    def too_large(cls, most: int) -> Refusal:
        return cls(413, f"A body may hold {most} bytes", ((b"connection", b"close"),))


async def answer(send: Send, refusal: Refusal) -> None:
    body = json.dumps({"error": refusal.words}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        *refusal.headers,
    ]
    start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": body})


async def bounded(app: ASGIApp, most: int, scope: Scope, receive: Receive, send: Send) -> None:
    """Run `app`; once the body is too long or too slow, what it would answer no longer counts."""
    seen = 0
    end = asyncio.get_running_loop().time() + BODY_SECONDS  # of all of it, or it could drip on
    whole = started = False
    refusal: Refusal | None = None

    async def counted() -> Message:
        nonlocal seen, whole, refusal
        if whole:
            return await receive()  # waits for the client to leave
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            refusal = Refusal(408, "The body did not come in time", ((b"connection", b"close"),))
            return {"type": "http.disconnect"}
        seen += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if seen > most:
            refusal = Refusal.too_large(most)
            return {"type": "http.disconnect"}
        return message

    async def passed(message: Message) -> None:
        nonlocal started
        if refusal is None or started:
            started = True
            await send(message)

    try:
        await app(scope, counted, passed)
    except Exception:
        if refusal is None or started:
            raise
    if refusal is not None and not started:
        await answer(send, refusal)
