"""Errors of the drivers, in our words. Only those with a next thing to try are translated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError

from holdfast.store.errors import Corrupt, Denied, NoRoom, StoreError, Unreachable

# A file is only ever set aside for the first kind: a full disk must not look like damage.
_DAMAGE = ("malformed", "not a database", "could not decode to utf-8")
_FULL = ("database or disk is full", "no space left", "disk quota", "53100")
_REFUSED = ("disk i/o error", "file too large")
_DENIED = {
    "readonly database": "the database may not be written to",
    "unable to open": "the database file cannot be opened",
}


@contextmanager
def in_words() -> Iterator[None]:
    try:
        yield
    except DBAPIError as slip:
        raise named(slip) from slip


def named(slip: DBAPIError) -> Exception:
    """The error to show: ours where we know what it means, else the driver's own."""
    return _ours(slip) or slip


def stops_all(slip: BaseException) -> bool:
    """True where the next change would fail in the same way: there is no use in trying each."""
    return isinstance(slip, StoreError) or (
        isinstance(slip, DBAPIError) and _ours(slip) is not None
    )


def _ours(slip: DBAPIError) -> StoreError | None:
    text = f"{slip.orig} {getattr(slip.orig, 'sqlstate', '')}".lower()
    if any(word in text for word in _DAMAGE):
        return Corrupt(f"the database is damaged: {slip.orig}")
    if any(word in text for word in _FULL):
        return NoRoom("the disk is full")
    if any(word in text for word in _REFUSED):
        return NoRoom(f"the disk takes no more: {slip.orig}")
    for word, meaning in _DENIED.items():
        if word in text:
            return Denied(f"{meaning}: {slip.orig}")
    if isinstance(slip, OperationalError) or slip.connection_invalidated:
        return Unreachable(f"the database does not answer: {_first_line(slip.orig)}")
    return None


def _first_line(slip: object) -> str:
    return str(slip).strip().partition("\n")[0]
