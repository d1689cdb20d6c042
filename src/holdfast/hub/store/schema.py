"""Which version a database is, and bringing it up. Migrations are added, never edited.

Asking costs one query; Alembic is only imported where there is something to do.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from holdfast.hub.errors import TooNew, TooOld
from holdfast.hub.store.driver_errors import in_words
from holdfast.hub.store.engine import WRITES, patient

FOLDER = Path(__file__).parent / "migrations"
HEAD = "0005"
KNOWN = ("0001", "0002", "0003", "0004", "0005")
_LOCK = 0x401DFA58  # two servers that start at once bring it up one after the other


def version(connection: Connection) -> str:
    """Empty for a database nobody has made yet."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return ""
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return str(found or "")


def outgrown(connection: Connection) -> TooNew | None:
    """Asked by a server that runs: another may have brought the database up meanwhile."""
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    try:
        refuse_newer(str(found or ""))
    except TooNew as error:
        return error
    return None


def ensure(engine: Engine, *, migrate: bool) -> str:
    """The version it had before; afterwards it is ours, or refused."""
    with in_words(), engine.connect() as connection:
        found = version(connection)
    if found == HEAD:
        return found
    refuse_newer(found)
    if not migrate:
        raise TooOld(f"the database is at version {found or 'none'}, this Holdfast needs {HEAD}")
    with in_words():
        _bring_up(engine)
    return found


def refuse_newer(found: str) -> None:
    if found and found not in KNOWN:
        raise TooNew(f"the database is at version {found}; this Holdfast knows up to {HEAD}")


def _bring_up(engine: Engine) -> None:
    with engine.connect().execution_options(**WRITES) as connection, connection.begin():
        patient(connection)
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        found = version(connection)  # somebody else may have done it while we waited
        refuse_newer(found)
        if found != HEAD:
            bring_up(connection)


def bring_up(connection: Connection, to: str = "head") -> None:
    """Inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["connection"] = connection
    command.upgrade(config, to)
