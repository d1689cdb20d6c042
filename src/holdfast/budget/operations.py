"""What a user, or the model through a tool, can do to the budget: pin, unpin, evict, estimate,
allot. `events.window_budget.status` shows the result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from zlib import crc32

from holdfast.budget import ledger
from holdfast.budget.compartments import NAMES, PREFERENCES
from holdfast.budget.ledger import (
    MOST_CHARS,
    MOST_EVICTED,
    MOST_PIN,
    MOST_PINS,
    InvalidPin,
    InvalidShare,
    NoSuchPin,
    Pin,
    TooManyPins,
    UsersPin,
    set_aside_if_damaged,
)
from holdfast.files import small_files
from holdfast.files.small_files import StoreBusy
from holdfast.redact import redact

PATIENCE_SECONDS = 5.0
LEFT_OVER = 0.05  # set shares must leave this much to each other compartment


def pin(
    text: str,
    *,
    now_ms: int,
    compartment: str = PREFERENCES,
    scope: str = "project",
    project: str = "",
    session_id: str = "",
    by: str = "",
) -> Pin:
    """Put a text into every brief of its scope until it is unpinned. Pinning it twice is once, and
    what the user pinned stays the user's. Only the user pins for all projects."""
    if scope == "user" and by != ledger.USER:
        raise InvalidPin("only the user pins for all projects, in a terminal of their own")
    words = " ".join(redact(text).split())
    if not 0 < len(words) <= MOST_PIN:
        raise InvalidPin(f"a pin has 1 to {MOST_PIN} characters, this one {len(words):,}")
    _must_be_compartment(compartment)
    new = Pin(f"{crc32(words.encode()):08x}", words, compartment, scope, now_ms, by)

    def change(found: dict[str, Any]) -> None:
        nonlocal new
        rows = _rows(found, "pins")
        before = [row.get("by", "") for row in rows if row.get("id") == new.id]
        new = new._replace(by=before[0]) if before and by != ledger.USER else new
        rows = [row for row in rows if row.get("id") != new.id]
        if len(rows) >= MOST_PINS or sum(map(_length, rows)) + len(words) > MOST_CHARS:
            raise TooManyPins(f"{MOST_PINS} pins or {MOST_CHARS:,} characters of one scope")
        found["pins"] = [*rows, {k: v for k, v in new._asdict().items() if k != "scope"}]

    _change(scope, project, session_id, change)
    return new


def unpin(pin_id: str, *, project: str = "", session_id: str = "", by: str = ledger.USER) -> Pin:
    """Remove a pin by its id or the start of it, in any scope. The model removes only its own."""
    pins = ledger.read(project, session_id).pins
    found = [one for one in pins if pin_id and one.id.startswith(pin_id)]
    if len({one.id for one in found}) != 1:
        raise NoSuchPin(f"{'no pin begins' if not found else 'several pins begin'} with {pin_id}")
    if any(by not in (ledger.USER, one.by) for one in found):
        raise UsersPin(f"{found[-1].id} was not pinned by the {by}: {found[-1].author}")
    for one in found:

        def change(held: dict[str, Any], gone: str = one.id) -> None:
            held["pins"] = [row for row in _rows(held, "pins") if row.get("id") != gone]

        _change(one.scope, project, session_id, change)
    return found[-1]


def evict(item_id: str, *, session_id: str) -> str:
    """Leave an item out of the briefs of this session, unless it changes."""

    def change(found: dict[str, Any]) -> None:
        rows = [one for one in found.get("evicted") or [] if one != item_id]
        found["evicted"] = [*rows, item_id][-MOST_EVICTED:]

    _change("session", "", session_id, change)
    return item_id


def readmit(item_id: str, *, session_id: str) -> str:
    """Take an eviction back."""

    def change(found: dict[str, Any]) -> None:
        if item_id not in (found.get("evicted") or []):
            raise NoSuchPin(f"{item_id} was not evicted")
        found["evicted"] = [one for one in found["evicted"] if one != item_id]

    _change("session", "", session_id, change)
    return item_id


def allot(
    compartment: str, share: float | None, *, scope: str = "project", project: str = ""
) -> dict[str, float]:
    """Set a compartment's share, or remove it with None; returns the shares of this scope."""
    _must_be_compartment(compartment)
    if share is not None and not 0 <= share <= 1:
        raise InvalidShare(f"{share:g} is not a share: it must be between 0 and 1")
    kept: dict[str, float] = {}

    def change(found: dict[str, Any]) -> None:
        rows = found.get("shares") if isinstance(found.get("shares"), dict) else {}
        kept.update({name: value for name, value in (rows or {}).items() if name in NAMES})
        kept.pop(compartment, None)
        if share is not None:
            kept[compartment] = share
        room = 1 - LEFT_OVER * (len(NAMES) - len(kept))
        others = sum(value for name, value in kept.items() if name != compartment)
        if sum(kept.values()) > room + 1e-9:
            raise InvalidShare(
                f"{compartment} can have at most {max(0, room - others):.0%}: "
                f"every compartment without a share of its own needs {LEFT_OVER:.0%} of the brief"
            )
        found["shares"] = kept

    _change(scope, project, "", change)
    return kept


def share_set(compartment: str, *, scope: str = "project", project: str = "") -> float | None:
    """The share that this scope sets; None if the role decides."""
    rows = ledger.load(ledger.path_of(scope, project)).get("shares")
    value = rows.get(compartment) if isinstance(rows, dict) else None
    return float(value) if isinstance(value, int | float) else None


def repair(scope: str, project: str = "", session_id: str = "") -> str:
    """Set a damaged file of this scope aside; where it went, or empty."""
    path = ledger.path_of(scope, project, session_id)
    if not path or not os.path.lexists(path):
        return ""
    with _hold_lock(path):
        return set_aside_if_damaged(path)


def _change(
    scope: str, project: str, session_id: str, change: Callable[[dict[str, Any]], None]
) -> None:
    path = ledger.path_of(scope, project, session_id)
    if scope not in ledger.SCOPES or not path:
        raise InvalidPin(f"no {scope} to keep it for")
    with _hold_lock(path):
        set_aside_if_damaged(path)
        found = ledger.load(path)
        change(found)
        ledger.save(path, {**found, **({"project": project} if scope == "project" else {})})


@contextmanager
def _hold_lock(path: str) -> Iterator[None]:
    """Hold the lock of a file. Each writer needs it for a few milliseconds."""
    with small_files.hold(f"{path}.lock", PATIENCE_SECONDS) as is_ours:
        if not is_ours:
            raise StoreBusy("another Holdfast is writing the budget")
        yield


def _must_be_compartment(name: str) -> None:
    if name not in NAMES:
        raise InvalidPin(f"{name!r} is no compartment: {', '.join(NAMES)}")


def _rows(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = found.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _length(row: dict[str, Any]) -> int:
    return len(row.get("text") or "")
