"""One database, opened once per process: reads on any thread, writes through the one writer."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from sqlalchemy.engine import Connection, Engine

from holdfast.store import schema
from holdfast.store.engine import default_url, open_engine
from holdfast.store.errors import StoreError
from holdfast.store.slips import in_words
from holdfast.store.writer import Writer, write_once

T = TypeVar("T")


class Store:
    """`read`, `write` and `submit` take a function of a connection; `submit` groups commits."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.changed: list[Callable[[], None]] = []  # called after a group was committed
        self._writer: Writer | None = None

    @classmethod
    def open(cls, address: str = "", *, migrate: bool = True) -> Store:
        """Ready for use: made or brought up if `migrate`, and refused if a newer one made it."""
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

    def read(self, query: Callable[[Connection], T]) -> T:
        with in_words(), self.engine.connect() as connection:
            return query(connection)

    def write(self, change: Callable[[Connection], T]) -> T:
        with in_words():
            answer = write_once(self.engine, change)
        self._tell()
        return answer

    def submit(self, change: Callable[[Connection], T]) -> Future[T]:
        if self._writer is None:
            self._writer = Writer(self.engine, self._tell)
        return self._writer.submit(change)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self.engine.dispose()

    def _tell(self) -> None:
        for hear in self.changed:
            hear()
