"""Send what happened here to the team's server, from the server's position on: in order and exactly
once. Nothing is queued: spools and transcripts are the queue. Messages for agents of this machine
are fetched first.

The asynchronous hook and `holdfast db forward` run this; no session waits for it.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from holdfast.files import lock
from holdfast.hub import row_times
from holdfast.hub.ingest import gather, records
from holdfast.hub.ingest.records import Position
from holdfast.hub.team import connection, message_client
from holdfast.hub.team.connection import ConnectionHealth, NoAnswer, TeamServer
from holdfast.wire import log, places
from holdfast.wire.errors import HoldfastError


class LocalSource:
    """The spools, transcripts, checkpoints and audit log of this machine, to be sent."""

    def sources(self) -> Sequence[str]:
        return gather.sources()

    def gather(self, source: str, position: Position) -> records.RecordBatch | None:
        batch = gather.gather(source, position)
        return batch and msgspec.structs.replace(batch, source=gather.name_on_server(source))

    def encode(self, batch: records.RecordBatch, since: Position) -> bytes:
        return records.encode(msgspec.structs.replace(batch, since=since))

    def modified_at(self, source: str) -> float | None:
        kind, _, name = source.partition(":")
        spool = Path(places.windows(), name, "spool")
        try:
            return spool.stat().st_mtime if kind == gather.WINDOW else None
        except OSError:
            return None


class SentPositions(msgspec.Struct, frozen=True):
    """What this machine knows of a source: the position that the server has confirmed, and the one
    after the batch that was sent last, whose answer may be lost."""

    server: str
    position: Position = {}
    sent: Position = {}
    whole_s: float = 0.0  # when nothing was left to send


def load_positions(url: str, source: str) -> SentPositions:
    """Return the positions of this server; empty ones if nothing was sent to it."""
    try:
        data = places.read_small(_position_file(source), 8 << 20)
        found = msgspec.json.decode(data, type=SentPositions)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return SentPositions(url)
    return found if found.server == url else SentPositions(url)


def save_positions(source: str, known: SentPositions) -> None:
    path = _position_file(source)
    Path(path).parent.mkdir(0o700, parents=True, exist_ok=True)
    places.replace_whole(path, msgspec.json.encode(known))


def _position_file(source: str) -> str:
    return f"{places.home()}/forwarded/{places.plain(source)}"


REFUSED_MS = 3_600_000
HOOK_SECONDS = 2.5  # no call starts later; all end within three seconds
LEAST_SECONDS = 0.5  # for a call that starts late
MOST_CONFLICTS = 5
LATE_SECONDS = 60.0  # a transcript may still be written after the last line of a spool
PATH = "/api/intake"


@dataclass(slots=True)
class Forwarded:
    batches: int = 0
    messages: int = 0  # received for agents of this machine
    whole: bool = False  # nothing is left to send
    words: str = ""
    unread: int = 0  # sources that could not be read


class _Refused(Exception):
    """The server rejects this batch; sending it again will not help."""


def forward_from_hook(now_ms: int, *, patience: float = 0.0) -> None:
    """Forward from a hook, for three seconds at most; invalid settings are remembered too."""
    try:
        forward(connection.server(), LocalSource(), seconds=HOOK_SECONDS, patience=patience)
    except HoldfastError as error:  # an unusable token or an invalid address
        log.add("ERROR", "forward", str(error))
        known = connection.health(connection.address())
        known.tried_ms, known.down_until_ms = now_ms, now_ms + connection.DOWN_MS
        known.words = str(error)
        connection.remember(known)


def forward(
    server: TeamServer, queue: LocalSource, *, seconds: float | None = None, patience: float = 0.0
) -> Forwarded:
    """Send everything new, or as much as fits in this many seconds. One process of a machine sends
    at a time; `patience`: how long to wait for another."""
    with lock.hold_file(f"{places.home()}/forward.lock", patience) as is_alone:
        if not is_alone:
            return Forwarded(words="another process is sending")
        known, done = connection.health(server.url), Forwarded()
        known.tried_ms = row_times.now_ms()
        end = None if seconds is None else time.monotonic() + seconds
        sender = _Sender(server, queue, known, done, end)
        try:
            done.messages = message_client.exchange(server, known.tried_ms, sender.call_seconds())
            done.whole = sender.send_all()
            known.words, known.down_until_ms = "", 0
        except NoAnswer as error:
            known.down_until_ms = row_times.now_ms() + connection.DOWN_MS
            known.words = done.words = str(error)
            log.add("WARN", "forward", known.words)
        known.sent += done.batches
        connection.remember(known)
        return done


@dataclass(frozen=True, slots=True)
class _Sender:
    server: TeamServer
    queue: LocalSource
    known: ConnectionHealth
    done: Forwarded
    end: float | None  # on the monotonic clock

    def send_all(self) -> bool:
        known, sources = self.known, self.queue.sources()
        known.refused = {name: until for name, until in known.refused.items() if name in sources}
        for source in random.sample(sources, len(sources)):  # a busy one must not delay the others
            if self.end is not None and (self._is_paused(source) or self._is_quiet(source)):
                continue
            if not self._try_source(source):
                return False
        return not known.refused and not self.done.unread

    def call_seconds(self) -> float:
        left = connection.CALL_SECONDS if self.end is None else self.end - time.monotonic()
        return min(connection.CALL_SECONDS, max(left, LEAST_SECONDS))

    def _try_source(self, source: str) -> bool:
        """Send a source; one that is refused or unreadable does not stop the others."""
        try:
            return self._send_source(source)
        except _Refused as error:
            self.known.refused[source] = row_times.now_ms() + REFUSED_MS
            self.done.words = f"{source} is refused: {error}"
        except NoAnswer:
            raise
        except Exception as error:
            self.done.unread += 1
            self.done.words = f"{source} was not read: {error}"
        log.add("ERROR", "forward", self.done.words)
        return True

    def _send_source(self, source: str) -> bool:
        """Send a source's batches; return False if time ran out first.

        A position holds what reading goes on with, also where secrets were named. So the server's
        is only repeated to it as the beginning of a batch, and reading goes on from a position that
        this machine noted itself, or from the beginning: rows that arrive twice change nothing.
        """
        url = self.server.url
        noted = load_positions(url, source)
        position = since = noted.position
        conflicts = 0
        while (batch := self.queue.gather(source, position)) is not None:
            if self.end is not None and time.monotonic() >= self.end:
                return False
            ours = (position, noted.sent, batch.until)
            noted = SentPositions(url, position, batch.until)
            save_positions(source, noted)
            data = self.queue.encode(batch, since)
            status, answer = connection.call(self.server, PATH, data, self.call_seconds())
            self.known.answered_ms = row_times.now_ms()
            if status == 200:
                if not isinstance(answer, dict) or answer.get("position") != batch.until:
                    # A WiFi login page answers 200 to everything: the batch may not have arrived.
                    raise NoAnswer("the server answered 200, but not as an intake does")
                self.done.batches += 1
                position = since = batch.until
            else:
                conflicts += 1
                since = _position_from(status, answer)
                position = next((one for one in ours if one == since), {})
                if conflicts > MOST_CONFLICTS:
                    raise _Refused("its position differs each time; do two machines share a home?")
            self.known.refused.pop(source, None)
            noted = SentPositions(url, position, batch.until)
            save_positions(source, noted)
        save_positions(source, SentPositions(url, position, noted.sent, time.time()))
        return True

    def _is_paused(self, source: str) -> bool:
        now, until = row_times.now_ms(), self.known.refused.get(source, 0)
        return now < until <= now + REFUSED_MS  # else the clock was set back

    def _is_quiet(self, source: str) -> bool:
        """Return whether the source was sent well after its last change: nothing to gather."""
        modified = self.queue.modified_at(source)
        whole_s = load_positions(self.known.url, source).whole_s
        is_past = whole_s <= time.time() + LATE_SECONDS  # else the clock was set back since
        return is_past and modified is not None and modified + LATE_SECONDS < whole_s


def _position_from(status: int, answer: Any) -> Position:
    """Return the server's position from a 409 answer; raise for any other."""
    position = answer.get("position") if isinstance(answer, dict) else None
    if status == 409 and isinstance(position, dict):
        return position
    words = str(answer.get("error", "")) if isinstance(answer, dict) else ""
    if status in (400, 413, 422):
        raise _Refused(f"{status} {words}".strip())
    meaning = {401: "the token is refused", 404: "it knows no intake: an older version?"}
    raise NoAnswer(f"the server answered {status}: {meaning.get(status, words)}")
