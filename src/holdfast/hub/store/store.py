"""One database, opened once per process: reads on any thread, writes in transactions.

Changes that are submitted are written by one thread. Those that wait together are committed
together: a commit costs as much as several writes, and SQLite allows only one writer anyway. A
change validates before it writes, so a refused one (`HoldfastError`) has changed nothing. Any other
error rolls the group back, and each change is retried alone. If the database itself does not
answer, all of them fail at once. Failures are counted.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine, ExceptionContext
from sqlalchemy.exc import DBAPIError, IntegrityError

from holdfast.hub.errors import Corrupt, StoreError, TooNew
from holdfast.hub.store import events, schema
from holdfast.hub.store.engine import (
    WRITES,
    affects_all_writes,
    assert_not_replaced,
    default_url,
    file_identity,
    is_failure,
    open_engine,
    public_message,
    translate_driver_errors,
    translate_error,
)
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

T = TypeVar("T")
Change: TypeAlias = Callable[[Connection], Any]
AUTOCOMMIT = {"isolation_level": "AUTOCOMMIT"}
LOOK_SECONDS = 1.0
MOST_TOGETHER = 256
TRIES = 5
RECENT_MS = 10 * 60_000  # a server that fails now and then is no healthier between two failures
_RETRIED = ("40001", "40P01")  # PostgreSQL: serialization failure, deadlock


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
            events.clear(connection)
            with connection.begin():
                self._refuse_outgrown(connection)
                answer = change(connection)
                events.write(connection)
            assert_not_replaced(connection)
            return answer

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


@dataclass(slots=True)
class _Job:
    change: Change
    future: Future[Any]
    answer: Any = None
    error: BaseException | None = None

    def resolve(self) -> None:
        if self.error is None:
            self.future.set_result(self.answer)
        else:
            self.future.set_exception(self.error)


class Writer:
    """Owns the writing thread of one process. `write` runs one change in one transaction."""

    def __init__(self, write: Callable[[Change], Any], settled: Callable[[], None]) -> None:
        self._write_once, self._settled = write, settled
        self.health = WriteHealth()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="holdfast-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Callable[[Connection], T]) -> Future[T]:
        """A change whose future is cancelled before its turn is never written."""
        future: Future[T] = Future()
        self._jobs.put(_Job(change, future))
        return future

    def close(self) -> None:
        """Write the queued changes, then stop."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (gathered := self._gather()) is not None:
            group = [job for job in gathered if job.future.set_running_or_notify_cancel()]
            if group:
                self._write(group)
                self.health = _update_health(self.health, group)
                for job in group:
                    job.resolve()
                self._settled()

    def _gather(self) -> list[_Job] | None:
        job = self._jobs.get()
        group: list[_Job] = []
        while job is not None:
            group.append(job)
            if len(group) == MOST_TOGETHER or self._jobs.empty():
                return group
            job = self._jobs.get()
        if group:
            self._jobs.put(None)
        return group or None

    def _write(self, group: list[_Job]) -> None:
        if len(group) == 1:
            return self._alone(group[0])
        try:
            answers = self._write_once(lambda c: [_answer(c, job) for job in group])
        except BaseException as error:
            for job in group:
                if affects_all_writes(error):
                    job.error = error
                else:
                    self._alone(job)
            return None
        for job, (answer, refused) in zip(group, answers, strict=True):
            job.answer, job.error = answer, refused

    def _alone(self, job: _Job) -> None:
        try:
            job.answer = self._write_once(job.change)
        except BaseException as error:
            job.error = error


def _answer(connection: Connection, job: _Job) -> tuple[Any, HoldfastError | None]:
    before = events.mark(connection)
    try:
        return job.change(connection), None
    except HoldfastError as refused:
        events.back_to(connection, before)
        return None, refused


@dataclass(frozen=True, slots=True)
class WriteHealth:
    """Writes of a server since it started. Refused requests (404, 409) count as neither."""

    written: int = 0
    failed: int = 0
    failed_ms: int = 0  # when the last one failed
    since_failure: int = 0  # written after it
    last_error: str = ""  # no address, no value of a row: /health asks for no token

    def after(self, written: int, failed: int, error: str, now_ms: int) -> WriteHealth:
        """Return the health after one more group of writes, some of which may have failed."""
        if not failed:
            more = self.since_failure + written
            return replace(self, written=self.written + written, since_failure=more)
        return WriteHealth(self.written + written, self.failed + failed, now_ms, written, error)

    def is_degraded(self, now_ms: int) -> bool:
        """Return whether a write failed lately, or none has succeeded since."""
        return self.failed > 0 and (self.since_failure == 0 or now_ms - self.failed_ms < RECENT_MS)


def _update_health(health: WriteHealth, group: list[_Job]) -> WriteHealth:
    failures = [job.error for job in group if job.error is not None and is_failure(job.error)]
    written = sum(1 for job in group if job.error is None)
    error = public_message(failures[-1]) if failures else ""
    return health.after(written, len(failures), error, int(time.time() * 1000))
