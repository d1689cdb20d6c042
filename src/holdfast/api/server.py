"""One server in this process, from the first bind to the last write; `holdfast serve` runs it."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from holdfast.api import address as addresses
from holdfast.api.address import Address
from holdfast.api.app import create
from holdfast.api.database import Hub
from holdfast.api.gate import KNOWN, Gate, Rules
from holdfast.api.login import link, lock_file, needs_token, token, token_file
from holdfast.api.past_reader import PastReader
from holdfast.files import lock
from holdfast.hub import rebuild
from holdfast.hub.ingest.background import Warm
from holdfast.hub.store.engine import hide_password
from holdfast.hub.store.store import Store
from holdfast.memory import embedders, sessions
from holdfast.memory.background import Filler
from holdfast.watcher.loop import Watcher
from holdfast.wire import log

HEAD_SECONDS = 30.0
MOST_CONNECTIONS = 600  # of the 1,024 files a process may usually open
MOST_ACCEPTED = 256  # at once, before any of them is counted


class Connection(H11Protocol):
    """A connection with limits before its first request: on the time for the request head, and on
    their number.

    uvicorn waits for the end of a head without a limit; a few hundred connections that never finish
    theirs would use up every file this process may open, including the database's. At the limit, a
    new connection replaces one that never showed the token, so that callers with the token always
    get in. With `tls` the limits hold from before the handshake: asyncio reports a connection of
    its own TLS server only after it.
    """

    _late: asyncio.TimerHandle | None = None
    _since = 0.0
    _was_known = False
    _handshake: asyncio.Task[None] | None = None
    _early = b""  # came with the end of the handshake

    def __init__(self, *given: Any, tls: ssl.SSLContext | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self._tls = tls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        if len(self.connections) > MOST_CONNECTIONS:
            self._make_room()
        self._expect_head()
        if self._tls is not None:
            transport.pause_reading()
            self._handshake = self.loop.create_task(self._start_tls(transport, self._tls))

    async def _start_tls(self, plain: asyncio.Transport, tls: ssl.SSLContext) -> None:
        """Go on over TLS. During the handshake asyncio does not report a lost connection to us."""
        if plain.is_closing():
            return
        try:
            secure = await self.loop.start_tls(plain, self, tls, server_side=True)
            if secure is None or plain.is_closing():
                raise ConnectionAbortedError("closed during the handshake")
        except Exception as error:
            plain.abort()
            self.connection_lost(error)
            return
        super().connection_made(secure)
        self._handshake = None
        if self._early:
            self.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        if self._handshake is not None:  # an answer would go out in the open
            self._early += data
            return
        super().data_received(data)
        self._expect_head()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP. This ends the request it came with: uvicorn would let that answer
        too, on a connection that takes no second answer."""
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def on_response_complete(self) -> None:
        self._was_known = self.is_known  # the next request, perhaps here already, has its own scope
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        """Close the oldest connection without the token, from the address that has most of them;
        else refuse this one."""
        others = [cast("Connection", connection) for connection in self.connections]
        still = [other for other in others if not other.transport.is_closing()]
        if len(still) <= MOST_CONNECTIONS:
            return
        strangers = [one for one in still if one is not self and not one.is_known]
        crowd = Counter(stranger._address for stranger in strangers)
        order = sorted(strangers, key=lambda stranger: (-crowd[stranger._address], stranger._since))
        (order[0] if order else self).transport.abort()

    @property
    def is_known(self) -> bool:
        """Whether a request on this connection came with the token."""
        asked = getattr(self, "scope", None) or {}
        return self._was_known or bool(asked.get(KNOWN))

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _expect_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, lambda: self.transport.close())

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def connection_type(address: Address) -> type[Connection]:
    tls = addresses.load_tls(address) if address.tls_cert else None
    return cast("type[Connection]", partial(Connection, tls=tls))


END_SECONDS = 5
LAST_SECONDS = 20.0  # a hanging database must not keep a server from ending


@dataclass(frozen=True, slots=True)
class Plan:
    """What to serve. `on_link` gets the link to the dashboard once the port is bound; it works
    once."""

    address: Address
    database: str = ""
    on_link: Callable[[str], None] | None = None


def serve(plan: Plan, say: Callable[[str], None]) -> None:
    """Serve until a signal ends it. Every acknowledged write is on disk."""
    addresses.assert_safe(plan.address, needs_token=needs_token())
    rules = Rules(
        token=token() if needs_token() else None,
        hosts=plan.address.names,
        behind_proxy=plan.address.behind_proxy,
    )
    with addresses.bind(plan.address) as listener, _hold_server_file(listener):
        store = _open_store(plan.database, say)
        try:
            _greet(plan, listener, say)
            _run(store, rules, plan, listener)
        finally:
            store.close()
    say("stopped; everything it confirmed is on disk")


@contextmanager
def _hold_server_file(listener: socket.socket) -> Iterator[None]:
    """Hold the lock. No other process can have the port meanwhile, so the file can be removed at
    the end."""
    host, port = listener.getsockname()[:2]
    if host not in ("127.0.0.1", "0.0.0.0"):
        yield
        return
    path = lock_file(port)
    with ExitStack() as held:
        try:
            held.enter_context(lock.hold_file(str(path)))
            held.callback(path.unlink, missing_ok=True)
        except OSError as error:  # the home is not writable: it serves, but `ui` cannot find it
            log.add("WARN", "serve", f"{path} cannot be locked: {error.strerror or error}")
        yield


def _open_store(database: str, say: Callable[[str], None]) -> Store:
    """Open the store. A damaged file is set aside and rebuilt, as `holdfast rebuild` does."""
    healed = rebuild.heal(database)
    if healed is not None:
        n = sum(healed.saved.values())
        words = f"the database was damaged; it is saved as {healed.set_aside}; a new one was filled"
        words += f", with {n:,} rows that could still be read from it"
        log.add("ERROR", "serve", words)
        say(words)
    return Store.open(database)


def _base(plan: Plan, listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    host = f"[{host}]" if ":" in host else host
    return f"{plan.address.scheme}://{host}:{port}"


def _greet(plan: Plan, listener: socket.socket, say: Callable[[str], None]) -> None:
    say(f"serving {_base(plan, listener)}, database {hide_password(plan.database)}")
    if not needs_token():
        say("WARNING: HOLDFAST_API_AUTH=off: every program on this machine may read and write")
    elif "HOLDFAST_API_TOKEN" in os.environ:
        say("the token is the one in HOLDFAST_API_TOKEN")
    else:
        say(f"the token is in {token_file()}")
    say("it also watches every live session; Ctrl-C stops it")


def _run(store: Store, rules: Rules, plan: Plan, listener: socket.socket) -> None:
    app, address = create(store, rules.token), plan.address
    if plan.on_link is not None:
        here = _base(plan, listener).replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")
        plan.on_link(link(here, app.state.tickets.new()))
    settle_memory()
    config = uvicorn.Config(
        Gate(app, rules),
        http=connection_type(address),
        ws="none",
        loop="asyncio",
        backlog=MOST_ACCEPTED,
        lifespan="off",
        log_config=None,
        access_log=False,
        log_level="error",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=END_SECONDS,
    )
    embedders.run_apart()
    hub: Hub = app.state.hub
    warm, watcher = Warm(store, is_watched=hub.has_listeners), Watcher(store, inside="serve")
    filler, past = Filler(sessions.known_projects), PastReader(store)
    for one in (warm, watcher, filler, past):
        one.start()
    try:
        asyncio.run(_Server(config, hub).serve([listener]))
    finally:
        past.stop()
        filler.stop()
        watcher.stop()
        warm.stop()


def settle_memory() -> None:
    """Exempt everything loaded before the first request from garbage collection. A tree of a
    thousand subtasks starts a collection, which made it take 1.4 times as long. Of 170,000
    objects it would find a thousand to free, in a tenth of the start-up time."""
    gc.freeze()
    gc.enable()


class _Server(uvicorn.Server):
    """Ends cleanly on a signal: listeners are closed, and the process exits with 0."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {end: signal.signal(end, self.handle_exit) for end in ENDS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._hub.stop()
        last = threading.Timer(LAST_SECONDS, os._exit, (1,))
        last.daemon = True
        last.start()


ENDS = (signal.SIGINT, signal.SIGTERM)
