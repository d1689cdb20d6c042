"""One database, opened once per process: reads on any thread, writes in transactions.

Changes that are submitted are written one after the other by one thread: SQLite allows only one
writer anyway. A change is one transaction, and runs again after a conflict with another writer.
Failures are counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine, ExceptionContext
from sqlalchemy.exc import DBAPIError, IntegrityError

from holdfast.hub.errors import Corrupt, StoreError
from holdfast.hub.store import schema
from holdfast.hub.store.engine import (
    WRITES,
    assert_not_replaced,
    default_url,
    file_identity,
    is_failure,
    known_error,
    open_engine,
    public_message,
    translate_driver_errors,
)
from holdfast.hub.store.rows import clear_events, write_events
from holdfast.wire import log

T = TypeVar("T")
AUTOCOMMIT = {"isolation_level": "AUTOCOMMIT"}
TRIES = 5
RECENT_MS = 10 * 60_000  # a server that fails now and then is no healthier between two failures
_RETRIED = ("40001", "40P01")  # PostgreSQL: serialization failure, deadlock


class Store:
    """`read`, `write` and `submit` take a function of a connection."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._writing = engine.execution_options(**WRITES)
        self._reading = engine if self.is_sqlite else engine.execution_options(**AUTOCOMMIT)
        self.changed: list[Callable[[], None]] = []  # called after a commit
        self._writer = ThreadPoolExecutor(1, "holdfast-writer")
        self.write_health = WriteHealth()  # of submitted writes
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
        """Write on the writing thread, and count how it ends; one cancelled before is never
        written."""
        return self._writer.submit(self._write_counted, change)

    def _write_counted(self, change: Callable[[Connection], T]) -> T:
        now_ms = int(time.time() * 1000)
        try:
            answer = self._write_once(change)
        except BaseException as error:
            if is_failure(error):
                self.write_health = self.write_health.after(now_ms, public_message(error))
            raise
        self.write_health = self.write_health.after(now_ms)
        self._notify()
        return answer

    def _write_once(self, change: Callable[[Connection], T]) -> T:
        """Run one change in one transaction. It runs again after a conflict with another writer: a
        deadlock, or a row that was deleted between the change's look and its write."""
        for left in range(TRIES - 1, -1, -1):
            try:
                return self._commit(change)
            except DBAPIError as error:
                state = getattr(error.orig, "sqlstate", None)
                is_conflict = state in _RETRIED or isinstance(error, IntegrityError)
                if not left or not is_conflict:
                    raise
        raise AssertionError("unreachable")

    def _commit(self, change: Callable[[Connection], T]) -> T:
        with self._writing.connect() as connection:
            clear_events(connection)
            with connection.begin():
                # A newer Holdfast may have upgraded it: tables may mean something else.
                found = connection.exec_driver_sql(schema.ASK_VERSION).scalar()
                if found != schema.HEAD:
                    schema.refuse_newer(found or "")
                answer = change(connection)
                write_events(connection)
            assert_not_replaced(connection)
            return answer

    def close(self) -> None:
        """Write what was submitted, then stop."""
        self._writer.shutdown()
        self.engine.dispose()

    def _note(self, error: ExceptionContext) -> None:
        found = error.sqlalchemy_exception
        known = known_error(found) if isinstance(found, DBAPIError) else None
        if isinstance(known, Corrupt) and self.damage is None:
            self._damage = known, self._file()
            log.add("ERROR", "store", f"{known}; {known.hint}")

    def _file(self) -> object:
        return file_identity(self.engine.url.database or "") if self.is_sqlite else None

    def _notify(self) -> None:
        for listener in tuple(self.changed):
            listener()


@dataclass(frozen=True, slots=True)
class WriteHealth:
    """Writes of a server since it started. Refused requests (404, 409) count as neither."""

    written: int = 0
    failed: int = 0
    failed_ms: int = 0  # when the last one failed
    since_failure: int = 0  # written after it
    last_error: str = ""  # no address, no value of a row: /health asks for no token

    def after(self, now_ms: int, error: str = "") -> WriteHealth:
        """Return the health after one more write, which may have failed."""
        if error:
            return WriteHealth(self.written, self.failed + 1, now_ms, 0, error)
        return replace(self, written=self.written + 1, since_failure=self.since_failure + 1)

    def is_degraded(self, now_ms: int) -> bool:
        """Return whether a write failed lately, or none has succeeded since."""
        return self.failed > 0 and (self.since_failure == 0 or now_ms - self.failed_ms < RECENT_MS)
