"""Errors of the drivers, in our words. Only those with a next thing to try are translated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError

from holdfast.store.errors import Corrupt, StoreError, Unreachable

_DAMAGE = ("malformed", "not a database", "disk image", "disk i/o error")
_FULL = ("database or disk is full", "no space left")


class NoRoom(StoreError):
    """The disk is full: nothing was written."""

    exit_code = 4
    hint = "free some space; what was committed before is safe"


@contextmanager
def in_words() -> Iterator[None]:
    try:
        yield
    except DBAPIError as slip:
        raise named(slip) from slip


def named(slip: DBAPIError) -> Exception:
    """The error to show: ours where we know what it means, else the driver's own."""
    text = str(slip.orig).lower()
    if any(word in text for word in _DAMAGE):
        return Corrupt(f"the database is damaged: {slip.orig}")
    if any(word in text for word in _FULL):
        return NoRoom("the disk is full")
    if isinstance(slip, OperationalError):
        return Unreachable(f"the database does not answer: {slip.orig}")
    return slip
