"""What was pinned, evicted and allotted, in small files: of the user, a project, a session.

Hooks read it (three files that are mostly absent), so it imports little. A file that cannot be
read counts as empty, and the log says so. Nothing overwrites it: a newer version is refused, a
damaged file is set aside.
"""

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.budget.compartments import NAMES, PREFERENCES
from holdfast.files import folders, small_files
from holdfast.files.small_files import NewerFile
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

VERSION = 1
SCOPES = ("session", "project", "user")
MOST_BYTES = 64 << 10
MOST_PINS, MOST_CHARS, MOST_PIN = 20, 2_000, 300  # of one scope
MOST_EVICTED = 500
USER, MODEL, API = "user", "model", "api"  # who pinned
AUTHORS = {
    USER: "pinned by the user",
    MODEL: "pinned by the model",
    API: "pinned over the API",  # by the dashboard, or by any program that holds the token
}


class InvalidPin(HoldfastError):
    exit_code = 2


class TooManyPins(HoldfastError):
    """Pins are in every brief: without a limit they would leave no room for anything else."""

    exit_code = 3
    hint = "`holdfast budget` lists them, `holdfast pin --remove ID` takes one back"


class NoSuchPin(HoldfastError):
    hint = "`holdfast budget` lists what is pinned, and what the brief holds"


class UsersPin(NoSuchPin):
    hint = "the user can take it back: `holdfast pin --remove ID`"


class OwnWordsStay(NoSuchPin):
    hint = (
        "leave out something else: any item of `holdfast budget --all` that is not "
        '"your words"; for a larger brief: `holdfast settings set brief_tokens N`'
    )


class InvalidShare(HoldfastError):
    exit_code = 2
    hint = "give a share such as 0.4 or 40%, or `role` for the usual one"


class Pin(NamedTuple):
    id: str
    text: str
    compartment: str = PREFERENCES
    scope: str = "project"
    created_ms: int = 0
    by: str = ""  # empty if that is not certain, as of every pin before releases that store it

    @property
    def author(self) -> str:
        """Who pinned it, in words."""
        return AUTHORS.get(self.by, "not certain who pinned this")


class Ledger(NamedTuple):
    pins: tuple[Pin, ...] = ()
    evicted: frozenset[str] = frozenset()  # ids of items, of this session
    shares: Mapping[str, float] = {}
    set_by: Mapping[str, str] = {}  # which scope each share is from


def path_of(scope: str, project: str = "", session_id: str = "") -> str:
    """The path of a scope's file; empty if its project or session is unknown."""
    if scope == "user":
        return f"{places.home()}/budget/user.json"
    if scope == "project":
        return _project_path(project) if project else ""
    return f"{places.window(session_id)}/budget.json" if session_id else ""


def _project_path(project: str) -> str:
    """The file of a project. One of the first release stays in use if it names this project: then
    `/x-y` and `/x/y` had the same."""
    real = folders.resolve(project)
    path = f"{places.home()}/budget/project-{folders.key(real)}.json"
    plain = places.plain(real.strip("/").replace("/", "-"))
    former = f"{places.home()}/budget/project-{plain}.json"
    if os.path.lexists(path) or not os.path.lexists(former):
        return path
    named = load(former).get("project")
    return former if isinstance(named, str) and folders.resolve(named) == real else path


def read(project: str, session_id: str) -> Ledger:
    """All three scopes together, the widest first. The narrowest scope that sets a share wins."""
    pins: list[Pin] = []
    evicted: set[str] = set()
    shares: dict[str, float] = {}
    set_by: dict[str, str] = {}
    for scope in reversed(SCOPES):
        found = load(path_of(scope, project, session_id))
        pins += _pins(found, scope)
        evicted |= _evicted_items(found)
        given = _shares(found)
        shares |= given
        set_by |= dict.fromkeys(given, scope)
    users = {pin.id for pin in pins if pin.by == USER}
    pins = [pin for pin in pins if pin.by == USER or pin.id not in users]
    return Ledger(tuple(pins), frozenset(evicted), shares, set_by)


def load(path: str) -> dict[str, Any]:
    """What the file holds; nothing, and a line in the log, if it cannot be used."""
    found, error = _parse(path)
    if error:
        log.add("WARN", "budget", f"{path} was not read: {error}")
    return {} if error else found


def _parse(path: str) -> tuple[dict[str, Any], str]:
    """What the file holds, and why it cannot be used; the contents of another version too."""
    data = places.read_small(path, MOST_BYTES + 1) if path else b""
    if not data and not (path and places.size_of(path)):
        return {}, ""
    try:
        found = json.loads(data) if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError) as error:
        return {}, str(error)
    is_known = isinstance(found, dict) and found.get("version") == VERSION
    return (
        found if isinstance(found, dict) else {},
        "" if is_known else f"not a ledger of version {VERSION}",
    )


def save(path: str, found: Mapping[str, Any]) -> None:
    data = json.dumps({**found, "version": VERSION}, ensure_ascii=False, indent=1)
    small_files.put(path, data.encode("utf-8", "replace"))


def _pins(found: Mapping[str, Any], scope: str) -> list[Pin]:
    pins = [_pin(row, scope) for row in _list(found, "pins") if isinstance(row, dict)]
    return [pin for pin in pins if pin is not None][:MOST_PINS]


def _pin(row: Mapping[str, Any], scope: str) -> Pin | None:
    name, text, where = row.get("id"), row.get("text"), row.get("compartment")
    if not (isinstance(name, str) and isinstance(text, str) and text.strip()):
        return None
    at = row.get("created_ms")
    return Pin(
        name[:16],
        text[:MOST_PIN],
        where if where in NAMES else PREFERENCES,
        scope,
        at if type(at) is int else 0,
        row["by"] if row.get("by") in [*AUTHORS] else "",
    )


def _evicted_items(found: Mapping[str, Any]) -> set[str]:
    return {one for one in _list(found, "evicted") if isinstance(one, str)}


def _shares(found: Mapping[str, Any]) -> dict[str, float]:
    rows = found.get("shares")
    if not isinstance(rows, dict):
        return {}
    numbers = {name: rows[name] for name in NAMES if type(rows.get(name)) in (int, float)}
    return {name: float(share) for name, share in numbers.items() if 0 <= share <= 1}


def _list(found: Mapping[str, Any], name: str) -> list[Any]:
    value = found.get(name)
    return value if isinstance(value, list) else []


def set_aside_if_damaged(path: str) -> str:
    """Set a damaged file aside; where it went, or empty. NewerFile if its version is newer."""
    found, error = _parse(path)
    version = found.get("version")
    if type(version) is int and version > VERSION:
        raise NewerFile(f"{path} was written by a newer Holdfast, and was left alone")
    return small_files.set_aside(path, error) if error else ""
