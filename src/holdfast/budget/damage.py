"""A ledger that cannot be read is not written over: a newer one is refused, a damaged one kept."""

from __future__ import annotations

import os
from itertools import count

from holdfast.budget import ledger
from holdfast.budget.errors import NewerLedger
from holdfast.wire import log


def set_aside_if_damaged(path: str) -> str:
    """Where it went, or empty; NewerLedger for one that a newer Holdfast wrote."""
    found, slip = ledger.checked(path)
    if ledger.is_newer(found):
        raise NewerLedger(f"{path} was written by a newer Holdfast, and was left alone")
    if not slip and (found or not _holds_something(path)):
        return ""
    names = (f"{path}.damaged{f'-{n}' if n else ''}" for n in count())
    aside = next(name for name in names if not os.path.lexists(name))
    os.rename(path, aside)  # noqa: PTH104
    log.add("WARN", "budget", f"{path} was damaged: it is kept as {aside}")
    return aside


def _holds_something(path: str) -> bool:
    """It is there, though nothing was read of it: not ours to read, or no plain file."""
    try:
        return os.lstat(path).st_size > 0
    except OSError:
        return False
