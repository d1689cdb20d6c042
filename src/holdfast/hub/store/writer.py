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
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError

from holdfast.hub.store import events
from holdfast.hub.store.engine import (
    affects_all_writes,
    assert_not_replaced,
    is_failure,
    public_message,
)
from holdfast.hub.store.write_health import WriteHealth
from holdfast.wire.errors import HoldfastError

T = TypeVar("T")
MOST_TOGETHER = 256
TRIES = 5
_RETRIED = ("40001", "40P01")  # PostgreSQL: serialization failure, deadlock
Change: TypeAlias = Callable[[Connection], Any]


def write_once(engine: Engine, change: Callable[[Connection], T]) -> T:
    """Run one change in one transaction. It runs again after a conflict with another writer: a
    deadlock, or a row that was deleted between the change's look and its write."""
    for left in range(TRIES - 1, -1, -1):
        try:
            return _commit(engine, change)
        except DBAPIError as error:
            state = getattr(error.orig, "sqlstate", None)
            is_conflict = state in _RETRIED or isinstance(error, IntegrityError)
            if not left or not is_conflict:
                raise
    raise AssertionError("unreachable")


def _commit(engine: Engine, change: Callable[[Connection], T]) -> T:
    with engine.connect() as connection:
        events.clear(connection)
        with connection.begin():
            answer = change(connection)
            events.write(connection)
        assert_not_replaced(connection)
        return answer


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
        """Return a future that is done once the change is committed. A change whose future is
        cancelled before its turn is never written."""
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


def _update_health(health: WriteHealth, group: list[_Job]) -> WriteHealth:
    failures = [job.error for job in group if job.error is not None and is_failure(job.error)]
    written = sum(1 for job in group if job.error is None)
    error = public_message(failures[-1]) if failures else ""
    return health.after(written, len(failures), error, int(time.time() * 1000))
