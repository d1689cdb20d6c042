"""Translate the drivers' errors into Holdfast's. Only errors with a known remedy are translated."""

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
# PostgreSQL's errors are matched by code: their text may quote a row ("Key (path)=(malformed)").
_FULL_STATE, _LOCKED_STATE = "53100", "55P03"
_DENIED_STATES = {
    "25006": "the database may not be written to",  # a standby, or set so
    "42501": "the database lets this role do less than is needed",
}


@contextmanager
def translate_driver_errors() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise translate_error(error) from error


def translate_error(error: DBAPIError) -> Exception:
    """Return Holdfast's error if the meaning is known, else the driver's own."""
    return _known_error(error) or error


def is_failure(error: BaseException) -> bool:
    """Return whether a valid change could not be written; a refused one is no failure."""
    return isinstance(error, StoreError) or not isinstance(error, HoldfastError)


def public_message(error: BaseException) -> str:
    """Describe a failure without addresses or row values, which a driver's text may hold."""
    known = _known_error(error) if isinstance(error, DBAPIError) else None
    shown = known or error
    if isinstance(shown, StoreError):
        return str(shown).partition(":")[0]
    kind = type(error.orig if isinstance(error, DBAPIError) else error).__name__
    return f"a write failed with {kind}; holdfast log has the details"


def affects_all_writes(error: BaseException) -> bool:
    """Return whether the next change would fail in the same way, so retrying is pointless."""
    return isinstance(error, StoreError) or (
        isinstance(error, DBAPIError) and _known_error(error) is not None
    )


def _known_error(error: DBAPIError) -> StoreError | None:
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
