"""Sending what happened here to the team's server: gathered from where the server stands, so in
order and exactly once. Nothing is queued: spools and transcripts are the queue. Before that, what
its board has for agents of this machine is asked for.

Run by the asynchronous hook and by `holdfast db forward`; never where a session waits.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from holdfast.files.lock import hold_in_home
from holdfast.hub.ingest import gather as gathering
from holdfast.hub.ingest import records
from holdfast.hub.ingest.records import Position
from holdfast.hub.team import connection, message_client
from holdfast.hub.team.connection import ConnectionHealth, NoAnswer, TeamServer
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError


class LocalSource:
    """An outbox: see `forward`."""

    def sources(self) -> Sequence[str]:
        return gathering.sources()

    def gather(self, source: str, position: Position) -> records.RecordBatch | None:
        batch = gathering.gather(source, position)
        return batch and records.with_source(batch, gathering.name_on_server(source))

    def encode(self, batch: records.RecordBatch) -> bytes:
        return records.encode(batch)

    def touched(self, source: str) -> float | None:
        kind, _, name = source.partition(":")
        spool = os.path.join(places.windows(), name, "spool")  # noqa: PTH118
        try:
            return os.stat(spool).st_mtime if kind == gathering.WINDOW else None  # noqa: PTH116
        except OSError:
            return None


def noted_position(url: str, source: str) -> Position:
    """Nothing where another server was told, or nobody."""
    try:
        found = json.loads(places.read_small(_place(source), 4 << 20) or b"{}")
        known = found.get("position") if found.get("server") == url else None
        return known if isinstance(known, dict) else {}
    except (ValueError, AttributeError, RecursionError):
        return {}


def note(url: str, source: str, position: Position) -> None:
    path = _place(source)
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)  # noqa: PTH103, PTH120
    places.replace_whole(path, json.dumps({"server": url, "position": position}).encode())


def noted_at(source: str) -> float | None:
    """Seconds since 1970."""
    try:
        return os.stat(_place(source)).st_mtime  # noqa: PTH116
    except OSError:
        return None


def _place(source: str) -> str:
    return os.path.join(places.home(), "forwarded", places.plain(source))  # noqa: PTH118


REFUSED_MS = 3_600_000
HOOK_SECONDS = 2.5  # no call is begun after so long, and all end within three seconds
LEAST_SECONDS = 0.5  # for a call that was begun late
MOST_TURNED_AWAY = 5
COARSE_MS = 1_000  # the time of a file lags behind the clock
LATE_SECONDS = 60.0  # a transcript may still be written after the last line of a spool
PATH = "/api/intake"


class ForwardQueue(Protocol):
    """What this machine has to tell; `here.Here` is one."""

    def sources(self) -> Sequence[str]: ...
    def gather(self, source: str, position: Position) -> Any: ...
    def encode(self, batch: Any) -> bytes: ...
    def touched(self, source: str) -> float | None: ...  # seconds since 1970, where that is known


@dataclass(slots=True)
class Forwarded:
    batches: int = 0
    messages: int = 0  # that came for agents of this machine
    whole: bool = False  # nothing is left to tell
    words: str = ""
    unread: int = 0  # sources that could not be read


class _Refused(Exception):
    """The server will not take this batch, however often it is sent."""


def in_passing(now_ms: int, *, patience: float = 0.0) -> None:
    """From a hook, for three seconds; what is wrong with the settings is remembered as well."""
    try:
        forward(connection.server(), LocalSource(), seconds=HOOK_SECONDS, patience=patience)
    except HoldfastError as error:  # a token that cannot be used, an address that is none
        log.add("ERROR", "forward", str(error))
        known = connection.health(connection.address())
        known.tried_ms, known.down_until_ms = now_ms, now_ms + connection.DOWN_MS
        known.words = str(error)
        connection.remember(known)


def forward(
    server: TeamServer, told: ForwardQueue, *, seconds: float | None = None, patience: float = 0.0
) -> Forwarded:
    """Everything new, or as much as fits in so many seconds. One process of a machine at a time;
    `patience`: how long to wait for the other."""
    with hold_in_home("forward.lock", patience) as is_alone:
        if not is_alone:
            return Forwarded(words="another process is sending")
        known = connection.health(server.url)
        known.tried_ms = connection.now_ms()
        known.since_ms = known.since_ms or known.tried_ms
        done = Forwarded()
        end = None if seconds is None else time.monotonic() + seconds
        try:
            done.messages = message_client.exchange(server, known.tried_ms, _call_seconds(end))
            done.whole = _all(server, told, known, done, end)
            known.words, known.down_until_ms = "", 0
        except NoAnswer as error:
            known.down_until_ms = connection.now_ms() + connection.DOWN_MS
            known.words = done.words = str(error)
            log.add("WARN", "forward", known.words)
        known.sent += done.batches
        connection.remember(known)
        return done


def _all(
    server: TeamServer,
    told: ForwardQueue,
    known: ConnectionHealth,
    done: Forwarded,
    end: float | None,
) -> bool:
    sources = told.sources()
    known.refused = {one: until for one, until in known.refused.items() if one in sources}
    turns = _from(known.resume_at, sources)
    for source, following in zip(turns, [*turns[1:], *turns[:1]], strict=True):
        if end is not None and (_rests(known, source) or _is_quiet(known, told, source)):
            continue
        known.resume_at = following  # where the server stumbles over this one
        if not _tried(server, told, source, known, done, end):
            known.resume_at = source
            return False
    known.resume_at = ""
    return not known.refused and not done.unread


def _tried(
    server: TeamServer,
    told: ForwardQueue,
    source: str,
    known: ConnectionHealth,
    done: Forwarded,
    end: float | None,
) -> bool:
    """One that is refused, or cannot be read, holds up no other."""
    try:
        return _source(server, told, source, known, done, end)
    except _Refused as error:
        known.refused[source] = connection.now_ms() + REFUSED_MS
        done.words = f"{source} is refused: {error}"
    except OSError as error:
        done.unread += 1
        done.words = f"{source} was not read: {error}"
    log.add("ERROR", "forward", done.words)
    return True


def _source(
    server: TeamServer,
    told: ForwardQueue,
    source: str,
    known: ConnectionHealth,
    done: Forwarded,
    end: float | None,
) -> bool:
    """False where time ran out first."""
    position = noted_position(server.url, source)
    turned_away = 0
    note(server.url, source, position)
    while (batch := told.gather(source, position)) is not None:
        if end is not None and time.monotonic() >= end:
            return False
        status, answer = connection.call(server, PATH, told.encode(batch), _call_seconds(end))
        known.answered_ms = connection.now_ms()
        if status == 200:
            if not isinstance(answer, dict) or answer.get("position") != batch.until:
                # A WiFi's login page says 200 to everything: what it got is not at our server.
                raise NoAnswer("the server answered 200, but not as an intake does")
            done.batches += 1
            position = batch.until
        else:
            turned_away += 1
            position = _stands(status, answer)
            if turned_away > MOST_TURNED_AWAY:
                raise _Refused("it stands elsewhere each time; do two machines share one home?")
        known.refused.pop(source, None)
        note(server.url, source, position)
    return True


def _call_seconds(end: float | None) -> float:
    left = connection.CALL_SECONDS if end is None else end - time.monotonic()
    return min(connection.CALL_SECONDS, max(left, LEAST_SECONDS))


def _stands(status: int, answer: Any) -> Position:
    """Where the server stands, when it does not stand where we thought."""
    position = answer.get("position") if isinstance(answer, dict) else None
    if status == 409 and isinstance(position, dict):
        return position
    words = str(answer.get("error", "")) if isinstance(answer, dict) else ""
    if status in (400, 413, 422):
        raise _Refused(f"{status} {words}".strip())
    meaning = {401: "the token is refused", 404: "it knows no intake: an older version?"}
    raise NoAnswer(f"the server answered {status}: {meaning.get(status, words)}")


def _rests(known: ConnectionHealth, source: str) -> bool:
    now = connection.now_ms()
    return now < known.refused.get(source, 0) <= now + REFUSED_MS  # else the clock was set back


def _is_quiet(known: ConnectionHealth, told: ForwardQueue, source: str) -> bool:
    """Sent a good while after it was last written to: there is nothing to gather."""
    touched = told.touched(source)
    noted = noted_at(source)
    if noted is None or noted * 1000 < known.since_ms + COARSE_MS:
        return False  # this server may never have been told
    if noted > time.time() + LATE_SECONDS:
        return False  # the clock was set back since
    return touched is not None and touched + LATE_SECONDS < noted


def _from(first: str, sources: Sequence[str]) -> list[str]:
    """Begin where the last time ended, so that a busy source cannot hold up those after it."""
    at = sources.index(first) if first in sources else 0
    return [*sources[at:], *sources[:at]]
