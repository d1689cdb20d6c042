"""The version of a database and its upgrade. Migrations are added, never edited.

Reading the version costs one query; Alembic is imported only for an upgrade.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from holdfast.hub.errors import TooNew, TooOld
from holdfast.hub.store.driver_errors import translate_driver_errors
from holdfast.hub.store.engine import WRITES, wait_for_locks

FOLDER = Path(__file__).parent / "migrations"
HEAD = "0005"
KNOWN = ("0001", "0002", "0003", "0004", "0005")
_LOCK = 0x401DFA58  # two servers that start at once upgrade one after the other


def version(connection: Connection) -> str:
    """Return the version; empty for a new database."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return ""
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return str(found or "")


def find_newer(connection: Connection) -> TooNew | None:
    """Return an error if a newer Holdfast has upgraded the database since it was opened."""
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    try:
        refuse_newer(str(found or ""))
    except TooNew as error:
        return error
    return None


def ensure(engine: Engine, *, migrate: bool) -> str:
    """Upgrade the database if needed and allowed; return the version it had before."""
    with translate_driver_errors(), engine.connect() as connection:
        found = version(connection)
    if found == HEAD:
        return found
    refuse_newer(found)
    if not migrate:
        raise TooOld(f"the database is at version {found or 'none'}, this Holdfast needs {HEAD}")
    with translate_driver_errors():
        _upgrade_locked(engine)
    return found


def refuse_newer(found: str) -> None:
    if found and found not in KNOWN:
        raise TooNew(f"the database is at version {found}; this Holdfast knows up to {HEAD}")


def _upgrade_locked(engine: Engine) -> None:
    with engine.connect().execution_options(**WRITES) as connection, connection.begin():
        wait_for_locks(connection)
        if connection.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        found = version(connection)  # another process may have upgraded it meanwhile
        refuse_newer(found)
        if found != HEAD:
            upgrade(connection)


def upgrade(connection: Connection, to: str = "head") -> None:
    """Upgrade inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes["connection"] = connection
    command.upgrade(config, to)
