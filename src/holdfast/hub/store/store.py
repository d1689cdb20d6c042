"""One database, opened once per process: reads on any thread, writes through the one writer."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine, ExceptionContext
from sqlalchemy.exc import DBAPIError

from holdfast.hub.errors import Corrupt, StoreError, TooNew
from holdfast.hub.store import schema
from holdfast.hub.store.engine import (
    WRITES,
    default_url,
    file_identity,
    open_engine,
    translate_driver_errors,
    translate_error,
)
from holdfast.hub.store.write_health import WriteHealth
from holdfast.hub.store.writer import Writer, write_once
from holdfast.wire import log

T = TypeVar("T")
AUTOCOMMIT = {"isolation_level": "AUTOCOMMIT"}
LOOK_SECONDS = 1.0


class Store:
    """`read`, `write` and `submit` take a function of a connection; `submit` groups commits."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = engine.execution_options(**WRITES)
        self._reading = engine if self.is_sqlite else engine.execution_options(**AUTOCOMMIT)
        self.changed: list[Callable[[], None]] = []  # called after a group was committed
        self.outgrown: TooNew | None = None  # set once a newer Holdfast has upgraded the database
        self._looked_s = time.monotonic()  # when its version was looked at
        self._writer: Writer | None = None
        self._damage: tuple[Corrupt, object] | None = None  # and the file it was found in
        event.listen(engine, "handle_error", self._note)

    @classmethod
    def open(cls, address: str = "", *, migrate: bool = True) -> Store:
        """Open a database: create or upgrade it if `migrate`, refuse one of a newer Holdfast."""
        engine = open_engine(address or default_url())
        try:
            schema.ensure(engine, migrate=migrate)
        except StoreError:
            engine.dispose()
            raise
        return cls(engine)

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @property
    def damage(self) -> Corrupt | None:
        """The damage found in this file since it was opened; a replaced file has none."""
        if self._damage is not None and self._damage[1] != self._file():
            self._damage = None
        return self._damage[0] if self._damage else None

    @property
    def write_health(self) -> WriteHealth:
        """The health of submitted writes; empty in a process that submits none."""
        return self._writer.health if self._writer is not None else WriteHealth()

    def read(self, query: Callable[[Connection], T], *, in_transaction: bool = False) -> T:
        """Call `query` with a connection. PostgreSQL gives each statement what is committed when it
        starts, in a transaction or not, so there is one only for settings that end with it: its
        begin and end would be a round trip each."""
        engine = self.engine if in_transaction else self._reading
        with translate_driver_errors(), engine.connect() as connection:
            return query(connection)

    def write(self, change: Callable[[Connection], T]) -> T:
        with translate_driver_errors():
            answer = self._write_once(change)
        self._notify()
        return answer

    def submit(self, change: Callable[[Connection], T]) -> Future[T]:
        """Return a future that is done once the change is committed, alone or with others."""
        if self._writer is None:
            self._writer = Writer(self._write_once, self._notify)
        return self._writer.submit(change)

    def _write_once(self, change: Callable[[Connection], T]) -> T:
        def checked(connection: Connection) -> T:
            self._refuse_outgrown(connection)
            return change(connection)

        return write_once(self._writing, checked)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self.engine.dispose()

    def look_at_version(self, connection: Connection) -> None:
        """Note whether a newer Holdfast has upgraded the database since it was opened."""
        before, self.outgrown = self.outgrown, None
        try:
            schema.refuse_newer(schema.read_version(connection))
        except TooNew as error:
            self.outgrown = error
            if before is None:
                log.add("ERROR", "store", f"{error}; {error.hint}")

    def _refuse_outgrown(self, connection: Connection) -> None:
        """Refuse a write: tables of a newer version may mean something else. It looks once a second
        at most, because each look is one more round trip of a write."""
        now = time.monotonic()
        if now - self._looked_s >= LOOK_SECONDS:
            self.look_at_version(connection)
            self._looked_s = now
        if self.outgrown is not None:
            raise self.outgrown

    def _note(self, error: ExceptionContext) -> None:
        found = error.sqlalchemy_exception
        known = translate_error(found) if isinstance(found, DBAPIError) else None
        if isinstance(known, Corrupt) and self.damage is None:
            self._damage = known, self._file()
            log.add("ERROR", "store", f"{known}; {known.hint}")

    def _file(self) -> object:
        return file_identity(self.engine.url.database or "") if self.is_sqlite else None

    def _notify(self) -> None:
        for listener in self.changed:
            listener()
