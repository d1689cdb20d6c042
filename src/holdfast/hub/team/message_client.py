"""Messages on the team's server, the client side. Whenever something is sent, messages for agents
of this machine are fetched and put into their outboxes; printed and confirmed ones are reported
back.

Nothing of the store is loaded, because hooks run this (`forward`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, NamedTuple

import msgspec

from holdfast.hub import clean_text
from holdfast.hub.board.local_agents import Listener, entry_of, listeners, with_outbox
from holdfast.hub.team import connection
from holdfast.hub.team.connection import NoAnswer, TeamServer
from holdfast.redact.find import are_clean
from holdfast.window import outbox
from holdfast.window.outbox import CONFIRMED, EXPIRED, SAID, TEAM, WAITING, DoneMessage, OutboxEntry
from holdfast.window.state import WindowBusy, lock_state
from holdfast.wire import log
from holdfast.wire.log import is_utf8

PATH = "/api/messages/exchange"
MOST_WINDOWS = 100  # the newest; older ones follow when these have ended
MOST_PATH_CHARS = 4_096
_OLDER = (404, 405)  # an older server without this route


class CarriedMessage(msgspec.Struct):
    """A message with relative times, because two machines have two clocks."""

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


class WindowReport(NamedTuple):
    """What one window reports and asks for, and the finished messages that it may forget then."""

    listener: Listener
    over: Sequence[DoneMessage]
    body: dict[str, Any]


def _report(
    listener: Listener,
    listens: bool,
    entries: Sequence[OutboxEntry] = (),
    over: Sequence[DoneMessage] = (),
) -> WindowReport:
    """A message that was printed as often as allowed counts as said, even if unconfirmed."""
    in_state = {state: [e.id for e in entries if e.state == state] for state in (WAITING, SAID)}
    expired = [done.id for done in over if done.state == EXPIRED]
    confirmed = [done.id for done in over if done.state == CONFIRMED]
    body = {
        "agent": listener.name,
        "project_path": listener.project or None,
        "listens": listens,
        "hears_all": not listener.is_agent,
        "waiting": list(map(outbox.bare, in_state[WAITING])),
        "said": list(map(outbox.bare, in_state[SAID] + expired)),
        "confirmed": list(map(outbox.bare, confirmed)),
    }
    return WindowReport(listener, over, body)


def post(server: TeamServer, row: Mapping[str, Any], project: str | None) -> str:
    """Post a message to the server's board instead of the local one; return its id there."""
    if project is not None:
        _post_json(server, "/api/projects", {"path": project})
    fields = ("from_agent", "to_agent", "topic", "content", "priority", "project_id")
    seconds = (row["expires_ms"] - row["created_ms"]) // 1000
    message = {name: row[name] for name in fields} | {"ttl_seconds": seconds}
    return str(_post_json(server, "/api/messages", message)["message"]["id"])


def _post_json(server: TeamServer, path: str, body: dict[str, Any]) -> Any:
    status, answer = connection.call(server, path, json.dumps(body).encode())
    if status in (200, 201) and isinstance(answer, dict) and answer.get("success"):
        return answer
    words = str(answer.get("error", "")) if isinstance(answer, dict) else ""
    raise NoAnswer(
        f"the server answered {status}: {words or 'not as a board does'}",
        "nothing was posted; `holdfast status` says how the server is",
    )


def exchange(server: TeamServer, now_ms: int, seconds: float) -> int:
    """Exchange messages of all windows in one call; return how many arrived for agents here."""
    asking = list(turns(now_ms))
    if not asking:
        return 0
    body = json.dumps({"agents": [turn.body for turn in asking]}).encode()
    status, answer = connection.call(server, PATH, body, seconds)
    if status != 200:
        if status not in _OLDER:
            log.add("WARN", "carrying", f"the server answered {status} when asked for messages")
        return 0  # sending may still work
    try:
        given = msgspec.convert(answer, ExchangeResult).agents
    except msgspec.ValidationError as error:
        raise NoAnswer(f"the server answered 200, but not with messages: {error}") from error
    return sum(
        deliver(turn, received, now_ms) for turn, received in zip(asking, given, strict=False)
    )


def turns(now_ms: int) -> Iterator[WindowReport]:
    found = sorted(listeners(now_ms), key=lambda listener: -listener.heard_ms)
    known = {listener.folder for listener in found}
    ended = (listener for listener in with_outbox() if listener.folder not in known)
    for listener in islice(filter(_can_be_named, found), MOST_WINDOWS):
        yield from _turn(listener, now_ms, listens=True)
    for listener in islice(filter(_can_be_named, ended), MOST_WINDOWS):
        yield from (turn for turn in _turn(listener, now_ms, listens=False) if turn.over)


def _can_be_named(listener: Listener) -> bool:
    """Check that the server accepts the names: one bad name would fail the whole call."""
    names = (listener.name, listener.project)
    is_short = len(names[0]) <= clean_text.MOST_AGENT_CHARS and len(names[1]) <= MOST_PATH_CHARS
    text = "".join(names)
    return is_short and "\0" not in text and is_utf8(text) and are_clean(names)


def _turn(listener: Listener, now_ms: int, *, listens: bool) -> Iterator[WindowReport]:
    """Yield the window's exchange, or nothing while it is busy: the next call asks for it."""
    if not outbox.is_there(listener.folder):
        yield _report(listener, listens)
        return
    try:
        with lock_state(listener.folder):
            outbox.look(listener.folder, listener.transcript, now_ms)
            entries = [e for e in outbox.load(listener.folder).entries if e.id.startswith(TEAM)]
            over = [
                done for done in outbox.done_messages(listener.folder) if done.id.startswith(TEAM)
            ]
    except (WindowBusy, OSError) as error:
        log.add("WARN", "carrying", f"{listener.folder}: not asked for: {error}")
        return
    yield _report(listener, listens, entries, over)


def deliver(turn: WindowReport, given: ReceivedMessage, now_ms: int) -> int:
    """Put received messages into the outbox, remove those read elsewhere, forget finished ones."""
    folder, entries = turn.listener.folder, _entries(given, now_ms)
    try:
        if given.had:
            outbox.take_back(folder, set(given.had))
        if entries:
            outbox.add_messages(folder, entries, now_ms)
        if turn.over:
            with lock_state(folder):
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
