"""Errors of the drivers, in our words. Only those with a next thing to try are translated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError

from holdfast.hub.errors import Corrupt, Denied, NoRoom, StoreError, Unreachable
from holdfast.wire.errors import HoldfastError

# A file is only ever set aside for the first kind: a full disk must not look like damage.
_DAMAGE = ("malformed", "not a database", "could not decode to utf-8")
_FULL = ("database or disk is full", "no space left", "disk quota")
_REFUSED = ("disk i/o error", "file too large")
_DENIED = {
    "readonly database": "the database may not be written to",
    "unable to open": "the database file cannot be opened",
}
# PostgreSQL's by number alone: its words may be those of a row ("Key (path)=(malformed)").
_FULL_STATE, _LOCKED_STATE = "53100", "55P03"
_DENIED_STATES = {
    "25006": "the database may not be written to",  # a standby, or set so
    "42501": "the database lets this role do less than is needed",
}


@contextmanager
def in_words() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise named(error) from error


def named(error: DBAPIError) -> Exception:
    """The error to show: ours where we know what it means, else the driver's own."""
    return _ours(error) or error


def is_failure(error: BaseException) -> bool:
    """True where a valid change could not be written; one that was refused is no failure."""
    return isinstance(error, StoreError) or not isinstance(error, HoldfastError)


def in_public(error: BaseException) -> str:
    """A failure in words anybody may read: no address, and no value of a row, which the words of a
    driver may hold."""
    ours = _ours(error) if isinstance(error, DBAPIError) else None
    shown = ours or error
    if isinstance(shown, StoreError):
        return str(shown).partition(":")[0]
    kind = type(error.orig if isinstance(error, DBAPIError) else error).__name__
    return f"a write failed with {kind}; holdfast log has the details"


def stops_all(error: BaseException) -> bool:
    """True where the next change would fail in the same way: there is no use in trying each."""
    return isinstance(error, StoreError) or (
        isinstance(error, DBAPIError) and _ours(error) is not None
    )


def _ours(error: DBAPIError) -> StoreError | None:
    state = getattr(error.orig, "sqlstate", None) or ""
    text = "" if state else str(error.orig).lower()
    if any(word in text for word in _DAMAGE):
        return Corrupt(f"the database is damaged: {error.orig}")
    if state == _FULL_STATE or any(word in text for word in _FULL):
        return NoRoom("the disk is full")
    if any(word in text for word in _REFUSED):
        return NoRoom(f"the disk takes no more: {error.orig}")
    if state in _DENIED_STATES:
        return Denied(f"{_DENIED_STATES[state]}: {_first_line(error.orig)}")
    for word, meaning in _DENIED.items():
        if word in text:
            return Denied(f"{meaning}: {error.orig}")
    if state == _LOCKED_STATE:
        return Unreachable("the database is busy: another session holds a lock")
    if isinstance(error, OperationalError) or error.connection_invalidated:
        return Unreachable(f"the database does not answer: {_first_line(error.orig)}")
    return None


def _first_line(error: object) -> str:
    return str(error).strip().partition("\n")[0]
