"""One server in this process, from the first bind to the last write; `holdfast serve` runs it.

It listens on loopback, or on another address with TLS or behind a proxy that has it.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import os
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import cast

import h11
import uvicorn
from sqlalchemy.engine import Connection as DbConnection
from uvicorn.protocols.http.h11_impl import H11Protocol

from holdfast.api.app import create
from holdfast.api.gate import KNOWN, LOOPBACK, Gate, Rules
from holdfast.api.login import link, lock_file, needs_token, token, token_file
from holdfast.api.routes.events import Hub
from holdfast.files import lock
from holdfast.hub import rebuild
from holdfast.hub.ingest import gather, sync
from holdfast.hub.ingest import windows as past_windows
from holdfast.hub.ingest.background import Warm
from holdfast.hub.ingest.records import RecordBatch
from holdfast.hub.store.engine import hide_password
from holdfast.hub.store.store import Store
from holdfast.memory import embedders, session_sources
from holdfast.memory.sync import Filler
from holdfast.session import history
from holdfast.session.history import Figures
from holdfast.watcher.loop import Watcher
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError, describe

WILDCARDS = ("0.0.0.0", "::", "")
HEAD_SECONDS = 30.0
MOST_CONNECTIONS = 600  # of the 1,024 files a process may usually open
MOST_ACCEPTED = 256  # at once, before any of them is counted
END_SECONDS = 5
LAST_SECONDS = 20.0  # a hanging database must not keep a server from ending
FILL_SECONDS = 4.0  # before search is indexed: the list of past sessions is read first
ENDS = (signal.SIGINT, signal.SIGTERM)
TLS_HINT = "PEM files: the certificate with its chain, and its key without a passphrase"


class NotSafe(HoldfastError):
    """Others could reach the server without encryption."""

    exit_code = 3


class CannotListen(HoldfastError):
    exit_code = 5


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: bool = False
    allowed: tuple[str, ...] = ()  # further host names we answer to

    @property
    def is_loopback(self) -> bool:
        places = [str(found[4][0]).partition("%")[0] for found in _look_up(self.host, 0)]
        return all(ipaddress.ip_address(place).is_loopback for place in places)

    @property
    def names(self) -> frozenset[str]:
        own = {self.host.strip("[]").lower()} - set(WILDCARDS)
        here = {socket.gethostname().lower()} if not own else set()
        return LOOPBACK | own | here | {name.lower() for name in self.allowed}


def assert_safe(address: Address, *, needs_token: bool) -> None:
    """Refuse an address that would leave the machine unprotected."""
    if bool(address.tls_cert) != bool(address.tls_key):
        raise NotSafe("--tls-cert and --tls-key belong together")
    if not needs_token and (address.behind_proxy or not address.is_loopback):
        hint = "unset it, or serve on 127.0.0.1 without --behind-proxy"
        raise NotSafe("HOLDFAST_API_AUTH=off is for this machine alone", hint)
    if not (address.is_loopback or address.tls_cert or address.behind_proxy):
        words = f"{address.host} can be reached by others, and nothing would be encrypted"
        hint = "--tls-cert FILE --tls-key FILE; or --behind-proxy, where a proxy has the TLS"
        raise NotSafe(words, hint)
    if address.tls_cert:
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(address.tls_cert, address.tls_key, password=lambda: "")
        except (OSError, ValueError) as problem:
            words = f"the TLS files cannot be used: {problem}"
            raise CannotListen(words, TLS_HINT) from problem


def bind(address: Address) -> socket.socket:
    """Bind the port first, so that nothing else is touched if it is taken."""
    family, kind, proto, _, where = _look_up(address.host, address.port)[0]
    listener = socket.socket(family, kind, proto)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.bind(where)
        listener.listen()  # binding alone lets a second server bind too; who comes early waits here
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            words = f"port {address.port} on {address.host} is taken"
            hint = f"is a server running already? else another port: --port {address.port + 1}"
        else:
            words = f"cannot listen on {address.host}:{address.port}: {error.strerror}"
            hint = "a port from 1024 on, and an address of this machine"
        raise CannotListen(words, hint) from error
    return listener


def _look_up(host: str, port: int) -> list[tuple[int, int, int, str, tuple[object, ...]]]:
    name = host.strip("[]") or None
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise CannotListen(f"{host} is no address of this machine") from error
    return list(found)


class Connection(H11Protocol):
    """A connection whose request heads have to come in time, and one of at most 600.

    uvicorn limits neither; a few hundred connections that never finish a head would use up every
    file this process may open, including the database's. At the limit, a new connection replaces
    the oldest one that does not show the token.
    """

    _late: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since = self.loop.time()
        self._make_room()
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_head()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; in the middle of a request, uvicorn would answer twice."""
        if self.conn.our_state is h11.IDLE:
            super().send_400_response(msg)
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _make_room(self) -> None:
        everyone = cast("set[Connection]", self.connections)
        still = [other for other in everyone if not other.transport.is_closing()]
        if len(still) > MOST_CONNECTIONS:
            strangers = [
                other for other in still if not (getattr(other, "scope", None) or {}).get(KNOWN)
            ]
            min(strangers, key=lambda stranger: stranger._since).transport.abort()

    def _expect_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, lambda: self.transport.close())

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to serve. `on_link` gets a link that works once, when the port is bound."""

    address: Address
    database: str = ""
    on_link: Callable[[str], None] | None = None


def serve(plan: Plan, say: Callable[[str], None]) -> None:
    """Serve until a signal ends it. Every acknowledged write is on disk."""
    assert_safe(plan.address, needs_token=needs_token())
    rules = Rules(
        token=token() if needs_token() else None,
        hosts=plan.address.names,
        behind_proxy=plan.address.behind_proxy,
    )
    with bind(plan.address) as listener, _hold_server_file(listener):
        store = _open_store(plan.database, say)
        try:
            _greet(plan, listener, say)
            _run(store, rules, plan, listener)
        finally:
            store.close()
    say("stopped; everything it confirmed is on disk")


@contextmanager
def _hold_server_file(listener: socket.socket) -> Iterator[None]:
    """Hold the lock. Nobody else has the port meanwhile, so the file is removed at the end."""
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
    return f"{'https' if plan.address.tls_cert else 'http'}://{host}:{port}"


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
        http=Connection,
        ssl_certfile=address.tls_cert,
        ssl_keyfile=address.tls_key,
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
    warm = Warm(store, is_watched=hub.has_listeners)
    watcher = Watcher(lambda: store, inside="serve")
    filler, past = (
        Filler(session_sources.known_projects, wait_seconds=FILL_SECONDS),
        PastReader(store),
    )
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


PAST_SECONDS = 30.0


class PastReader:
    """Reads sessions that no hook has reported, in the background: all are listed, then their turns
    become rows. Summaries are compared on another thread, by a model in its own process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._over = threading.Event()
        self._are_read = threading.Event()  # all transcripts have figures: a moment
        self._threads = [
            threading.Thread(target=self._run, args=[step], name="holdfast-past", daemon=True)
            for step in (self._write_rows, self._compare)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Nobody waits for its end: each of its steps is complete or absent."""
        self._over.set()

    def _run(self, step: Callable[[], None]) -> None:
        logged = ""
        while not self._over.is_set():
            try:
                step()
                logged = ""
            except Exception as error:  # a failed look must not end all further ones
                if (words := describe(error)) != logged:
                    log.add("ERROR", "history", words)
                logged = words
            self._over.wait(PAST_SECONDS)

    def _write_rows(self) -> None:
        sources = past_windows.past_sources()
        known = sync.read_positions(self._store, sources)
        new = (gather.gather(source, {}) for source in sources if source not in known)
        self._store.write(partial(_list_past, batches=list(filter(None, new))))
        self._are_read.wait(PAST_SECONDS)
        for source in sources:
            if not self._over.is_set():
                sync.sync(self._store, [source], announce=False, refreshes=False)

    def _compare(self) -> None:
        history.update(self._note, is_over=self._over.is_set)
        self._are_read.set()

    def _note(self, figures: Figures) -> None:
        """They are read in this order."""
        if next(reversed(figures.values())).is_read:
            self._are_read.set()


def _list_past(connection: DbConnection, batches: list[RecordBatch]) -> None:
    """Write the first batch of each session together: 60 transactions took four seconds."""
    for batch in batches:
        sync.ingest_batch(connection, batch, announce=False)
