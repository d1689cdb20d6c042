"""A copy of a SQLite file, made once a night, for rows that no page of a damaged file holds."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.hub.store.schema import check_integrity
from holdfast.hub.store.store import Store

EVERY_SECONDS = 20 * 3600


def path_of(store: Store) -> Path:
    return Path(f"{store.engine.url.database}.nightly")


def copy(store: Store, every_seconds: float = EVERY_SECONDS) -> bool:
    """Copy the file unless there is a fresh copy; return whether it was copied. A damaged file
    replaces no sound copy: then this raises."""
    target = path_of(store)
    if not store.is_sqlite or (target.exists() and _age_seconds(target) < every_seconds):
        return False
    check_integrity(store.engine)
    draft = Path(f"{target}.draft")
    draft.unlink(missing_ok=True)
    connection = store.engine.raw_connection()
    try:
        driver: Any = connection.driver_connection
        driver.execute("VACUUM INTO ?", (str(draft),))
        draft.chmod(0o600)
        draft.replace(target)
    finally:
        connection.close()
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return True


def _age_seconds(path: Path) -> float:
    return time.time() - path.stat().st_mtime
