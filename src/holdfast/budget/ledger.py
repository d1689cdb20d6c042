"""What was pinned, evicted and allotted, in small files: of the user, a project, a session.

A user, or the model through a tool, can pin, unpin, evict, readmit and allot;
`session.window_budget.status` shows the result. A file that cannot be read counts as empty, and the
log says so. Nothing overwrites it: a newer version is refused, a damaged file is set aside.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, NamedTuple
from zlib import crc32

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from holdfast.budget.compartments import NAMES, PREFERENCES
from holdfast.files import folders, small_files
from holdfast.files.small_files import NewerFile, StoreBusy
from holdfast.redact.find import redact
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError

VERSION = 1
SCOPES = ("session", "project", "user")
PATIENCE_SECONDS = 5.0
MOST_BYTES = 64 << 10
MOST_PINS, MOST_CHARS, MOST_PIN = 20, 2_000, 300  # of one scope
MOST_EVICTED = 500
LEFT_OVER = 0.05  # set shares must leave this much to each other compartment
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
    hint = "`holdfast budget --all` lists what is in the brief, `holdfast pin` the pins"


class InvalidShare(HoldfastError):
    exit_code = 2
    hint = "give a share such as 0.4 or 40%, or `role` for the usual one"


class Pin(msgspec.Struct, frozen=True, omit_defaults=True):
    id: str
    text: Annotated[str, Meta(min_length=1, max_length=MOST_PIN)]
    compartment: str = PREFERENCES
    scope: str = ""  # not stored: it is that of the file
    created_ms: int = 0
    by: str = ""  # empty if that is not certain, as of every pin before releases that store it

    @property
    def author(self) -> str:
        """Who pinned it, in words."""
        return AUTHORS.get(self.by, "not certain who pinned this")

    def plain(self) -> dict[str, Any]:
        return asdict(self)


class LedgerFile(msgspec.Struct, omit_defaults=True):
    version: int
    pins: Annotated[list[Pin], Meta(max_length=MOST_PINS)] = []
    evicted: list[str] = []
    shares: dict[str, Annotated[float, Meta(ge=0, le=1)]] = {}
    project: str = ""

    def __post_init__(self) -> None:
        if not {*self.shares, *(pin.compartment for pin in self.pins)} <= {*NAMES}:
            raise ValueError("an unknown compartment")


class Ledger(NamedTuple):
    pins: tuple[Pin, ...] = ()
    evicted: frozenset[str] = frozenset()  # ids of items, of this session
    shares: Mapping[str, float] = {}
    set_by: Mapping[str, str] = {}  # which scope each share is from
    unread: tuple[str, ...] = ()  # files that are there and cannot be used


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
    folder = load(former).project
    return former if folder and folders.resolve(folder) == real else path


def read(project: str, session_id: str) -> Ledger:
    """All three scopes together, the widest first. The narrowest scope that sets a share wins."""
    pins: list[Pin] = []
    evicted: set[str] = set()
    shares: dict[str, float] = {}
    set_by: dict[str, str] = {}
    unread: list[str] = []
    for scope in reversed(SCOPES):
        path = path_of(scope, project, session_id)
        ledger, is_read = _load(path)
        unread += [] if is_read else [path]
        pins += [replace(pin, scope=scope) for pin in ledger.pins]
        evicted |= set(ledger.evicted)
        shares |= ledger.shares
        set_by |= dict.fromkeys(ledger.shares, scope)
    users = {pin.id for pin in pins if pin.by == USER}
    pins = [pin for pin in pins if pin.by == USER or pin.id not in users]
    return Ledger(tuple(pins), frozenset(evicted), shares, set_by, tuple(unread))


def load(path: str) -> LedgerFile:
    """What the file holds; nothing, and a line in the log, if it cannot be used."""
    return _load(path)[0]


def _load(path: str) -> tuple[LedgerFile, bool]:
    """What the file holds, and whether it could be used."""
    try:
        return _decode(path), True
    except (msgspec.MsgspecError, ValueError, RecursionError, NewerFile) as error:
        log.add("WARN", "budget", f"{path} was not read: {error}")
        return LedgerFile(VERSION), False


def _decode(path: str) -> LedgerFile:
    data = places.read_small(path, MOST_BYTES) if path else b""
    if not data and not (path and places.size_of(path)):
        return LedgerFile(VERSION)
    version = msgspec.json.decode(data, type=_Stated).version
    if version > VERSION:
        raise NewerFile(f"{path} was written by a newer Holdfast, and was left alone")
    if version != VERSION:
        raise ValueError(f"not a ledger of version {VERSION}")
    return msgspec.json.decode(data, type=LedgerFile)


class _Stated(msgspec.Struct):
    version: int = 0


def save(path: str, ledger: LedgerFile) -> None:
    small_files.put(path, msgspec.json.format(msgspec.json.encode(ledger), indent=1))


def repair(path: str) -> str:
    """Set a damaged file aside; where it went, or empty. NewerFile if its version is newer."""
    if not path or not os.path.lexists(path):
        return ""
    with _hold_lock(path):
        return _set_aside_if_damaged(path)


def _set_aside_if_damaged(path: str) -> str:
    try:
        _decode(path)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return small_files.set_aside(path, str(error))
    return ""


@contextmanager
def _hold_lock(path: str) -> Iterator[None]:
    """Hold the lock of a file. Each writer needs it for a few milliseconds."""
    with small_files.hold(f"{path}.lock", PATIENCE_SECONDS) as is_ours:
        if not is_ours:
            raise StoreBusy("another Holdfast is writing the budget")
        yield


def _change(
    scope: str, project: str, session_id: str, change: Callable[[LedgerFile], None]
) -> None:
    path = path_of(scope, project, session_id)
    if scope not in SCOPES or not path:
        raise InvalidPin(f"no {scope} to keep it for")
    with _hold_lock(path):
        _set_aside_if_damaged(path)
        ledger = load(path)
        change(ledger)
        ledger.project = _storable(project) if scope == "project" else ""
        save(path, ledger)


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


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
    if scope == "user" and by != USER:
        raise InvalidPin("only the user pins for all projects, in a terminal of their own")
    words = _storable(" ".join(redact(text).split()))
    if not 0 < len(words) <= MOST_PIN:
        raise InvalidPin(f"a pin has 1 to {MOST_PIN} characters, this one {len(words):,}")
    _must_be_compartment(compartment)
    pinned = Pin(f"{crc32(words.encode()):08x}", words, compartment, "", now_ms, by)

    def change(ledger: LedgerFile) -> None:
        nonlocal pinned
        former = [row.by for row in ledger.pins if row.id == pinned.id]
        if former and by != USER:
            pinned = replace(pinned, by=former[0])
        others = [row for row in ledger.pins if row.id != pinned.id]
        chars = sum(len(other.text) for other in others) + len(words)
        if len(others) >= MOST_PINS or chars > MOST_CHARS:
            raise TooManyPins(f"{MOST_PINS} pins or {MOST_CHARS:,} characters of one scope")
        ledger.pins = [*others, pinned]

    _change(scope, project, session_id, change)
    return replace(pinned, scope=scope)


def unpin(pin_id: str, *, project: str = "", session_id: str = "", by: str = USER) -> Pin:
    """Remove a pin by its id or the start of it, in any scope. The model removes only its own."""
    pins = [pin for pin in read(project, session_id).pins if pin_id and pin.id.startswith(pin_id)]
    if len({pin.id for pin in pins}) != 1:
        raise NoSuchPin(f"{'no pin begins' if not pins else 'several pins begin'} with {pin_id}")
    last = pins[-1]
    if any(by not in (USER, pin.by) for pin in pins):
        raise NoSuchPin(
            f"{last.id} was not pinned by the {by}: {last.author}",
            "the user can take it back: `holdfast pin --remove ID`",
        )

    def change(ledger: LedgerFile) -> None:
        ledger.pins = [row for row in ledger.pins if row.id != last.id]

    for scope in {pin.scope for pin in pins}:
        _change(scope, project, session_id, change)
    return last


def evict(item_id: str, *, session_id: str) -> str:
    """Leave an item out of the briefs of this session, unless it changes."""

    def change(ledger: LedgerFile) -> None:
        others = [other for other in ledger.evicted if other != item_id]
        ledger.evicted = [*others, item_id][-MOST_EVICTED:]

    _change("session", "", session_id, change)
    return item_id


def readmit(item_id: str, *, session_id: str) -> str:
    """Take an eviction back."""

    def change(ledger: LedgerFile) -> None:
        if item_id not in ledger.evicted:
            raise NoSuchPin(f"{item_id} was not evicted")
        ledger.evicted = [other for other in ledger.evicted if other != item_id]

    _change("session", "", session_id, change)
    return item_id


def allot(
    compartment: str, share: float | None, *, scope: str = "project", project: str = ""
) -> dict[str, float]:
    """Set a compartment's share, or remove it with None; returns the shares of this scope."""
    _must_be_compartment(compartment)
    if share is not None and not 0 <= share <= 1:
        raise InvalidShare(f"{share:g} is not a share: it must be between 0 and 1")
    shares: dict[str, float] = {}

    def change(ledger: LedgerFile) -> None:
        shares.update(ledger.shares)
        shares.pop(compartment, None)
        others = sum(shares.values())
        if share is not None:
            shares[compartment] = share
        room = 1 - LEFT_OVER * (len(NAMES) - len(shares))
        if sum(shares.values()) > room + 1e-9:
            raise InvalidShare(
                f"{compartment} can have at most {max(0, room - others):.0%}: "
                f"every compartment without a share of its own needs {LEFT_OVER:.0%} of the brief"
            )
        ledger.shares = shares

    _change(scope, project, "", change)
    return shares


def _must_be_compartment(name: str) -> None:
    if name not in NAMES:
        raise InvalidPin(f"{name!r} is no compartment: {', '.join(NAMES)}")
