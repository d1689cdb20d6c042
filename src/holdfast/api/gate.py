"""Who may use the server: the right host name, no other origin, the token, bounded in size and
rate.

It is one plain ASGI layer in front of everything: a refused request never reaches a route.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

START, PLACE = "/", "/ui/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types svelte-trusted-html"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
BODY_SECONDS = 30.0


CLOSE = {"Connection": "close"}


def refuse(status: int, words: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": words}, status, headers)


def _too_large(most: int) -> JSONResponse:
    return refuse(413, f"A body may hold {most} bytes", CLOSE)


async def _read_body(receive: Receive, most: int) -> bytes | JSONResponse:
    """Read the whole body, or return why it is refused. All of it has to come in time, or it could
    drip for ever."""
    parts: list[bytes] = []
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while (message := await receive())["type"] == "http.request":
                parts.append(message.get("body", b""))
                if sum(map(len, parts)) > most:
                    return _too_large(most)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        return refuse(408, "The body did not come in time", CLOSE)
    return refuse(400, "The client left before its body was here")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body, and then waits for the client to leave."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay


MOST_CALLERS = 10_000


@dataclass(slots=True)
class Rate:
    """A bucket of requests per caller that fills again."""

    per_second: float
    burst: float
    callers: dict[Hashable, tuple[float, float]] = field(default_factory=dict)

    def wait_seconds(self, caller: Hashable, now: float) -> float:
        """Return how long the caller has to wait; 0: it may pass. `now` never goes back."""
        left, at = self.callers.pop(caller, (self.burst, now))
        left = min(self.burst, left + (now - at) * self.per_second)
        self.callers[caller] = (left - 1 if left >= 1 else left, now)
        if len(self.callers) > MOST_CALLERS:
            del self.callers[next(iter(self.callers))]  # the one not seen for longest
        return 0.0 if left >= 1 else (1 - left) / self.per_second


MOST_BODY = 5 << 20
OPEN = frozenset(("/health", "/api/login"))
LOOPBACK = frozenset(("127.0.0.1", "localhost", "::1"))
ONCE = frozenset(b"host origin referer authorization content-length x-forwarded-for".split())
NO_TOKEN = refuse(401, "A bearer token is needed", {"WWW-Authenticate": "Bearer"})
# A proxy may believe the one and we the other: the rest would pass as a request of its own.
TWO_LENGTHS = refuse(400, "Content-Length and Transfer-Encoding exclude each other", CLOSE)
TWICE = refuse(400, "A header that may come once came twice")
OWN_PAGES = frozenset((b"", b"same-origin", b"none"))

_HOST = re.compile(rb"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::\d{1,5})?")

KNOWN = "holdfast.known"  # in a scope: this request came with the token

Headers: TypeAlias = dict[bytes, bytes]
Token: TypeAlias = str | Callable[[], str]  # one that may change is asked for at each request


@dataclass(frozen=True, slots=True)
class Rules:
    token: Token | None  # None: every caller may pass
    hosts: frozenset[str] = LOOPBACK
    most_body: int = MOST_BODY
    per_second: float = 500.0
    burst: float = 2_000.0
    behind_proxy: bool = False


class Gate:
    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        if rules.token == "":
            raise ValueError("an empty token would let everybody in")
        self._app = app
        self._rules = rules
        self._rate = Rate(rules.per_second, rules.burst)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        send = _with_policy(send)
        headers = _single_headers(scope["headers"])
        if headers is None:
            return await TWICE(scope, receive, send)
        if b"content-length" in headers and b"transfer-encoding" in headers:
            return await TWO_LENGTHS(scope, receive, send)
        scope[KNOWN] = self._knows(headers)
        refusal = self._refused(scope, headers)
        if refusal is not None:
            return await refusal(scope, receive, send)
        if callable(self._rules.token) and scope[KNOWN]:
            send = self._while_known(scope, headers, receive, send)
        body = await _read_body(receive, self._rules.most_body)
        if not isinstance(body, bytes):
            return await body(scope, receive, send)
        # Every body is read as JSON: curl sends a form type by default, and scripts that hide its
        # output would not see that their save was refused. Other origins are refused above.
        others = [pair for pair in scope["headers"] if pair[0] != b"content-type"]
        scope["headers"] = [*others, (b"content-type", b"application/json")]
        await self._app(scope, _replay(body, receive), send)

    def _knows(self, headers: Headers) -> bool:
        token = self._rules.token
        if token is None:
            return True
        token = token if isinstance(token, str) else token()
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        is_it = hmac.compare_digest(given.strip(), token.encode())
        return bool(token) and scheme.lower() == b"bearer" and is_it

    def _while_known(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> Send:
        """End a stream or a long poll when its token changes; writes are still answered."""
        over = False

        async def passed(message: Message) -> None:
            nonlocal over
            if over:
                return
            begins = message["type"] == "http.response.start" and scope["method"] == "GET"
            if not (begins or message.get("more_body")) or self._knows(headers):
                return await send(message)
            over = True
            await (
                NO_TOKEN(scope, receive, send) if begins else send({"type": "http.response.body"})
            )

        return passed

    def _refused(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        known = scope[KNOWN]
        wait = self._rate.wait_seconds((self._caller(scope, headers), known), time.monotonic())
        if wait:
            return refuse(429, "Too many requests", {"Retry-After": str(int(wait) + 1)})
        if not self._is_served(_name(headers.get(b"host", b"")), scope):
            return refuse(403, "This host name is not served here; see --allow-host")
        # a page or one of its files; these need no token
        is_page = scope["path"] in (START, PLACE[:-1]) or scope["path"].startswith(PLACE)
        asks_page = is_page and scope["method"] in ("GET", "HEAD")
        if not (asks_page or _from_own_page(headers)):  # any site may link to a page
            return refuse(403, "Requests of other origins are not served")
        if not (known or asks_page or scope["path"] in OPEN):
            return NO_TOKEN
        return self._too_long(headers.get(b"content-length", b"0"))

    def _caller(self, scope: Scope, headers: Headers) -> str:
        """Name the caller's bucket; strangers cannot empty that of callers with the token."""
        if self._rules.behind_proxy and b"x-forwarded-for" in headers:
            # The last one is what the proxy saw; those before it anybody can write.
            return headers[b"x-forwarded-for"].rpartition(b",")[2].strip().decode("latin-1")
        return str(scope["client"][0]) if scope.get("client") else ""

    def _is_served(self, name: str, scope: Scope) -> bool:
        """Whether the host is a name of ours, or where the request came to: no DNS rebinding."""
        reached = scope["server"][0] if scope.get("server") else ""
        return name in self._rules.hosts or (name != "" and name == reached)

    def _too_long(self, length: bytes) -> JSONResponse | None:
        if not length.isdigit():
            return refuse(400, "Content-Length is not a number")
        if len(length) > 15 or int(length) > self._rules.most_body:
            return _too_large(self._rules.most_body)
        return None


def _with_policy(send: Send) -> Send:
    """Add the browser policy to every answer, also to a refusal."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
        await send(message)

    return told


def _single_headers(pairs: list[tuple[bytes, bytes]]) -> Headers | None:
    """Return the headers; None if one that we check came twice: a reader might use the other."""
    headers: Headers = {}
    for name, value in pairs:
        if name in headers and name in ONCE:
            return None
        headers[name] = value
    return headers


def _from_own_page(headers: Headers) -> bool:
    """Whether a browser sent this from our own page. Programs send none of these headers. A page
    on another port is "same-site" and not ours. Bodies need no JSON type, so a form of any page
    could send one: an old browser that names no origin for a form still names the page it came
    from."""
    if headers.get(b"sec-fetch-site", b"") not in OWN_PAGES:
        return False
    host = headers.get(b"host", b"").lower()
    own = (b"http://" + host, b"https://" + host)
    origin, page = headers.get(b"origin"), headers.get(b"referer")
    if origin is None and page is not None:
        return page.lower().startswith(tuple(one + b"/" for one in own)) or page.lower() in own
    return origin is None or origin.lower() in own


def _name(host: bytes) -> str:
    """Return the name in a Host header, without its port; empty if it is invalid."""
    match = _HOST.fullmatch(host.lower())
    return (match[1] or match[2]).decode("ascii") if match else ""
