"""One thread writes. Changes that wait together are committed together: a commit costs as much as
several writes, and SQLite allows only one writer anyway.

A change validates before it writes, so a refused one (`HoldfastError`) has changed nothing. Any
other error rolls the group back, and each change is retried alone. If the database itself does not
answer, all of them fail at once. Failures are counted.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from holdfast.hub.store import pending_writes
from holdfast.hub.store.batch import RowChanged
from holdfast.hub.store.engine import (
    IDLE_SECONDS,
    WRITES,
    affects_all_writes,
    assert_not_replaced,
    has_moved,
    is_failure,
    public_message,
)
from holdfast.hub.store.write_health import WriteHealth
from holdfast.wire.errors import HoldfastError

T = TypeVar("T")
MOST_TOGETHER = 256
TRIES = 5
_RETRIED = ("40001", "40P01")  # PostgreSQL: serialization failure, deadlock


class Ticket(Protocol):
    """The caller's future: of a thread or of an event loop."""

    def done(self) -> bool: ...
    def set_result(self, result: Any, /) -> None: ...
    def set_exception(self, exception: BaseException, /) -> None: ...


@dataclass(slots=True)
class Job(Generic[T]):
    """A change and, once it is done, its result or error."""

    change: Callable[[Connection], T]
    ticket: Ticket
    answer: T | None = None
    error: BaseException | None = None

    def resolve(self) -> None:
        if self.ticket.done():  # the caller no longer waits
            return
        if self.error is None:
            self.ticket.set_result(self.answer)
        else:
            self.ticket.set_exception(self.error)


def resolve_all(jobs: list[Job[Any]]) -> None:
    for job in jobs:
        job.resolve()


Inbox: TypeAlias = Callable[[list[Job[Any]]], None]


Check: TypeAlias = Callable[[Connection], None]


def write_once(engine: Engine, change: Callable[[Connection], T], check: Check) -> T:
    """Run one change on its own connection. `check` may refuse it first, in its transaction."""
    with engine.connect().execution_options(**WRITES) as connection:
        return _retry(connection, change, check)


def _retry(connection: Connection, change: Callable[[Connection], T], check: Check) -> T:
    """Run a change in one transaction; retry it after a conflict with another writer, or if a row
    that was assumed to exist is gone."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return _commit(connection, change, check)
        except (RowChanged, IntegrityError):
            if not left or not pending_writes.mistrust(connection):
                raise
        except DBAPIError as error:
            if not left or getattr(error.orig, "sqlstate", None) not in _RETRIED:
                raise
    raise AssertionError("unreachable")


def _commit(connection: Connection, change: Callable[[Connection], T], check: Check) -> T:
    """Nothing may stay pending after an error: whoever reads with this connection next would
    write it."""
    pending_writes.clear(connection)
    try:
        with connection.begin():
            check(connection)
            answer = change(connection)
            pending_writes.settle(connection, last=True)
    except BaseException:
        pending_writes.clear(connection)
        raise
    assert_not_replaced(connection)
    return answer


class Writer:
    """Owns the writing thread of one process."""

    def __init__(
        self, engine: Engine, check: Check, settled: Callable[[], None] = lambda: None
    ) -> None:
        self._engine, self._check = engine, check
        self._settled = settled
        self.health = WriteHealth()
        self._jobs: queue.SimpleQueue[tuple[Job[Any], Inbox] | None] = queue.SimpleQueue()
        self._used_at = 0.0
        self._connection: Connection | None = None  # asking a pool costs a round trip each time
        self._thread = threading.Thread(target=self._run, name="holdfast-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job[Any], inbox: Inbox) -> None:
        """Queue a job. Once it is committed or refused, `inbox` gets it with the other jobs of its
        group for the same inbox: waking a thread costs as much as a statement."""
        self._jobs.put((job, inbox))

    def close(self) -> None:
        """Write the queued jobs, then stop."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (gathered := self._gather()) is not None:
            group = [(job, inbox) for job, inbox in gathered if not job.ticket.done()]
            if group:
                self._write([job for job, _ in group])
                self.health = _update_health(self.health, [job for job, _ in group])
                _deliver(group)
                self._settled()
        self._hang_up()

    def _transact(self, change: Callable[[Connection], T]) -> T:
        """Run a change on the writer's own connection; a broken connection is replaced."""
        if time.monotonic() - self._used_at > IDLE_SECONDS:
            self._hang_up()  # the pool tests it first: the server may have restarted
        if self._connection is not None and has_moved(self._connection):
            self._hang_up()
        if self._connection is None:
            self._connection = self._engine.connect().execution_options(**WRITES)
        try:
            return _retry(self._connection, change, self._check)
        except HoldfastError:
            raise
        except BaseException:
            self._give_up()
            raise
        finally:
            self._used_at = time.monotonic()

    def _give_up(self) -> None:
        """Discard the connection, so that the pool does not hand it out again."""
        if self._connection is not None:
            with suppress(DBAPIError):
                self._connection.invalidate()
        self._hang_up()

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(DBAPIError):
                connection.close()

    def _gather(self) -> list[tuple[Job[Any], Inbox]] | None:
        first = self._jobs.get()
        if first is None:
            return None
        group = [first]
        while len(group) < MOST_TOGETHER:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is None:
                self._jobs.put(None)
                break
            group.append(job)
        return group

    def _write(self, group: list[Job[Any]]) -> None:
        if len(group) == 1:
            return self._alone(group[0])
        try:
            answers = self._transact(lambda c: [_answer(c, job) for job in group])
        except BaseException as trouble:
            for job in group:
                if affects_all_writes(trouble):
                    job.error = trouble
                else:
                    self._alone(job)
            return
        for job, (answer, error) in zip(group, answers, strict=True):
            job.answer, job.error = answer, error

    def _alone(self, job: Job[Any]) -> None:
        try:
            job.answer = self._transact(job.change)
        except BaseException as error:
            job.error = error


def _answer(connection: Connection, job: Job[Any]) -> tuple[Any, HoldfastError | None]:
    before = pending_writes.mark(connection)
    try:
        return job.change(connection), None
    except HoldfastError as refused:
        pending_writes.back_to(connection, before)
        return None, refused


def _update_health(health: WriteHealth, jobs: list[Job[Any]]) -> WriteHealth:
    failures = [job.error for job in jobs if job.error is not None and is_failure(job.error)]
    written = sum(1 for job in jobs if job.error is None)
    error = public_message(failures[-1]) if failures else ""
    return health.after(written, len(failures), error, int(time.time() * 1000))


def _deliver(group: list[tuple[Job[Any], Inbox]]) -> None:
    inboxes: dict[Inbox, list[Job[Any]]] = {}
    for job, inbox in group:
        inboxes.setdefault(inbox, []).append(job)
    for inbox, jobs in inboxes.items():
        inbox(jobs)
