"""Messages on the team's server. Those for agents of this machine are asked for whenever something
is sent there, put where their hooks find them, and told of once they were said and seen to arrive.

Nothing of the store is loaded: hooks' processes run this (`forward`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec

from holdfast.hub import clean_text
from holdfast.hub.board.local_agents import Listener, entry_of, listeners, with_outbox
from holdfast.hub.team import connection
from holdfast.hub.team.connection import NoAnswer, TeamServer
from holdfast.redact import are_clean
from holdfast.window import outbox, outbox_delivery
from holdfast.window.outbox import CONFIRMED, EXPIRED, SAID, TEAM, WAITING, DoneMessage, OutboxEntry
from holdfast.window.state import WindowBusy, held
from holdfast.wire import log
from holdfast.wire.log import is_utf8

PATH = "/api/messages/exchange"
MOST_WINDOWS = 100  # the newest: whoever else is there has its turn when these have ended
MOST_PATH_CHARS = 4_096
_OLDER = (404, 405)  # a server that knows no such route


class NotPosted(NoAnswer):
    """The server did not take a message."""

    hint = "nothing was posted; `holdfast status` says how the server is"


class CarriedMessage(msgspec.Struct):
    """Its times by how long ago and how long from now: two machines have two clocks."""

    id: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f-]{36}\Z")]
    from_agent: str
    to_agent: str | None
    topic: str
    content: dict[str, Any]
    age_ms: int
    left_ms: int


class ReceivedMessage(msgspec.Struct):
    agent: str
    messages: list[CarriedMessage]
    had: list[str]


class ExchangeResult(msgspec.Struct):
    agents: list[ReceivedMessage]


@dataclass(frozen=True, slots=True)
class ClientExchange:
    """What one window has to tell."""

    one: Listener
    listens: bool
    entries: Sequence[OutboxEntry] = ()
    over: Sequence[DoneMessage] = ()

    def told(self) -> dict[str, Any]:
        """One that was said as often as may be counts as said, arrived or not."""
        in_state = {state: [e.id for e in self.entries if e.state == state] for state in _STATES}
        given_up = [done.id for done in self.over if done.state == EXPIRED]
        confirmed = [done.id for done in self.over if done.state == CONFIRMED]
        return {
            "agent": self.one.name,
            "project_path": self.one.project or None,
            "listens": self.listens,
            "hears_all": not self.one.is_agent,
            "waiting": list(map(outbox.bare, in_state[WAITING])),
            "said": list(map(outbox.bare, in_state[SAID] + given_up)),
            "confirmed": list(map(outbox.bare, confirmed)),
        }


_STATES = (WAITING, SAID)


def post(server: TeamServer, row: Mapping[str, Any], project: str | None) -> str:
    """A drafted message, on the server's board instead of ours; the id it has there."""
    if project is not None:
        _posted(server, "/api/projects", {"path": project})
    fields = ("from_agent", "to_agent", "topic", "content", "priority", "project_id")
    seconds = (row["expires_ms"] - row["created_ms"]) // 1000
    told = {name: row[name] for name in fields} | {"ttl_seconds": seconds}
    return str(_posted(server, "/api/messages", told)["message"]["id"])


def _posted(server: TeamServer, path: str, body: dict[str, Any]) -> Any:
    status, answer = connection.call(server, path, json.dumps(body).encode())
    if status in (200, 201) and isinstance(answer, dict) and answer.get("success"):
        return answer
    words = str(answer.get("error", "")) if isinstance(answer, dict) else ""
    raise NotPosted(f"the server answered {status}: {words or 'not as a board does'}")


def exchange(server: TeamServer, now_ms: int, seconds: float) -> int:
    """One call for all windows; how many messages are on their way to an agent here."""
    asking = list(turns(now_ms))
    if not asking:
        return 0
    body = json.dumps({"agents": [turn.told() for turn in asking]}).encode()
    status, answer = connection.call(server, PATH, body, seconds)
    if status != 200:
        if status not in _OLDER:
            log.add("WARN", "carrying", f"the server answered {status} when asked for messages")
        return 0  # whether it takes what is sent is seen then
    try:
        given = msgspec.convert(answer, ExchangeResult).agents
    except msgspec.ValidationError as error:
        raise NoAnswer(f"the server answered 200, but not with messages: {error}") from error
    return sum(take(turn, one, now_ms) for turn, one in zip(asking, given, strict=False))


def turns(now_ms: int) -> Iterator[ClientExchange]:
    found = sorted(listeners(now_ms), key=lambda one: -one.heard_ms)
    known = {one.folder for one in found}
    live = [one for one in found if _can_be_named(one)]
    ended = [one for one in with_outbox() if one.folder not in known and _can_be_named(one)]
    for one in live[:MOST_WINDOWS]:
        yield from _turn(one, now_ms, listens=True)
    for one in ended[:MOST_WINDOWS]:
        yield from (turn for turn in _turn(one, now_ms, listens=False) if turn.over)


def _can_be_named(one: Listener) -> bool:
    """As the server takes it: one odd name would have the whole call refused."""
    text = one.name + one.project
    fits = len(one.name) <= clean_text.MOST_AGENT_CHARS and len(one.project) <= MOST_PATH_CHARS
    return fits and "\0" not in text and is_utf8(text) and are_clean((one.name, one.project))


def _turn(one: Listener, now_ms: int, *, listens: bool) -> Iterator[ClientExchange]:
    """None, where its window is busy: the next call asks for it."""
    if not outbox.is_there(one.folder):
        yield ClientExchange(one, listens)
        return
    try:
        with held(one.folder):
            outbox_delivery.look(one.folder, one.transcript, now_ms)
            entries = [e for e in outbox.load(one.folder).entries if e.id.startswith(TEAM)]
            over = [done for done in outbox.done(one.folder) if done.id.startswith(TEAM)]
    except (WindowBusy, OSError) as error:
        log.add("WARN", "carrying", f"{one.folder}: not asked for: {error}")
        return
    yield ClientExchange(one, listens, entries, over)


def take(turn: ClientExchange, given: ReceivedMessage, now_ms: int) -> int:
    """The server knows what is over, so that is forgotten; what another read there is not said."""
    folder, entries = turn.one.folder, _entries(given, now_ms)
    try:
        if given.had:
            outbox_delivery.take_back(folder, set(given.had))
        if entries:
            outbox_delivery.hand(folder, entries, now_ms)
        if turn.over:
            with held(folder):
                outbox.forget_done(folder, turn.over)
    except (WindowBusy, OSError) as error:
        log.add("WARN", "carrying", f"{folder}: asked for again later: {error}")
        return 0
    return len(entries)


def _entries(given: ReceivedMessage, now_ms: int) -> list[OutboxEntry]:
    rows = [
        {
            **msgspec.structs.asdict(carried),
            "created_ms": now_ms - carried.age_ms,
            "expires_ms": now_ms + carried.left_ms,
        }
        for carried in given.messages
    ]
    return [replace(entry_of(row), id=TEAM + row["id"]) for row in rows]
