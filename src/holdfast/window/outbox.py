"""Messages for a window's agent: a small file in the window's folder, cheap for hooks to read.

`outbox.json` holds messages that wait, and messages that were said but not yet seen to arrive. It
exists only while there are any, so a hook only checks whether it exists. Messages that are over
(confirmed, expired) go to `outbox.done`, line by line, for the board. Both files change only under
the window's lock.

A message is recorded as delivered before it is printed. It is confirmed by the line that the
client writes when it hands a hook's words to the model. The words of a hook that has ended are in
the second request after it at the latest, even if it was killed after printing (seen with the real
client). Two answers without them mean that they were never printed: they are delivered again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

from holdfast.files import lock
from holdfast.text import fence
from holdfast.window import make_mark
from holdfast.window.state import lock_state
from holdfast.wire import log, places, scan
from holdfast.wire.errors import describe
from holdfast.wire.mark import CHARS_PER_TOKEN

VERSION = 1
MOST_BYTES = 256 << 10
MOST_ENTRIES = 50
MOST_CHARS = int(60 * CHARS_PER_TOKEN)  # 60 tokens
WAITING, SAID, CONFIRMED, EXPIRED = "waiting", "said", "confirmed", "expired"
TEAM = "team:"  # prefix of ids from a team server; other messages are from this machine's board
AT_ONCE = 3
ANSWERS = 2  # one request may have been under way; the next one had the words
MOST_SAYINGS = 3  # a client that records nothing we know must not get a message for ever
READ_BYTES = 4 << 20
SEARCHED_BYTES = 4 << 20


@dataclass(slots=True)
class OutboxEntry:
    """One message. `tag` is in the text, so that the transcript shows whether it arrived."""

    id: str
    tag: str
    text: str
    created_ms: int
    expires_ms: int
    state: str = WAITING
    sayings: int = 0
    quiet: bool = False  # the hook that said it has ended: the client has its output, or it is lost
    silent: int = 0  # answers since then without it


@dataclass(slots=True)
class WindowOutbox:
    entries: list[OutboxEntry] = field(default_factory=list)
    read_to: int = 0  # how far the transcript was searched for what was said
    answer: str = ""  # the newest answer found there

    @property
    def said(self) -> list[OutboxEntry]:
        return [entry for entry in self.entries if entry.state == SAID]


class DoneMessage(NamedTuple):
    id: str
    state: str
    at_ms: int


def bare(message_id: str) -> str:
    """The id without its prefix: a message on both boards is one message."""
    return message_id.removeprefix(TEAM)


def is_there(folder: str) -> bool:
    return any(os.path.exists(f"{folder}/{name}") for name in ("outbox.json", "outbox.done"))


def load(folder: str) -> WindowOutbox:
    """The saved outbox. An unreadable one counts as empty: the board still has every message."""
    data = places.read_small(f"{folder}/outbox.json", MOST_BYTES + 1)
    if not data:
        return WindowOutbox()
    try:
        value = json.loads(data)
        if value["version"] != VERSION:
            raise ValueError(f"not an outbox of version {VERSION}")
        entries = [OutboxEntry(**entry) for entry in value["entries"]]
        if not all(map(_fits, entries)):
            raise ValueError("an entry does not fit")
        return WindowOutbox(entries, int(value["read_to"]), str(value["answer"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        log.add("WARN", "outbox", f"{folder}: started anew: {describe(error)}")
        return WindowOutbox()


def _fits(one: OutboxEntry) -> bool:
    kinds = {"str": str, "int": int, "bool": bool}
    right = all(type(getattr(one, part.name)) is kinds[str(part.type)] for part in fields(one))
    return right and one.state in (WAITING, SAID) and len(one.text) <= MOST_CHARS


def save(folder: str, box: WindowOutbox, over: Sequence[DoneMessage] = ()) -> None:
    """Save it; finished messages are recorded first, after a crash twice."""
    for done in over:
        places.append(f"{folder}/outbox.done", _line(done))
    gone = {one.id for one in over}
    box.entries = [entry for entry in box.entries if entry.id not in gone]
    body: dict[str, Any] = {"version": VERSION, "read_to": box.read_to, "answer": box.answer}
    body["entries"] = [asdict(entry) for entry in box.entries]
    _put(f"{folder}/outbox.json", json.dumps(body).encode() if box.entries else b"")


def _put(path: str, data: bytes) -> None:
    """Replace a file; remove it if nothing is left."""
    if data:
        places.replace_whole(path, data)
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)


def known_ids(folder: str) -> set[str]:
    """The ids of messages that are or were in the outbox, without prefixes."""
    return {bare(entry.id) for entry in load(folder).entries} | {
        bare(message.id) for message in done_messages(folder)
    }


def done_messages(folder: str) -> list[DoneMessage]:
    data = places.read_small(f"{folder}/outbox.done", MOST_BYTES)
    messages = []
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split(" ")
        if len(words) == 4 and words[0] == "v1" and words[3].isdecimal():
            messages.append(DoneMessage(words[1], words[2], int(words[3])))
    return messages


def forget_done(folder: str, known: Sequence[DoneMessage]) -> None:
    """Remove the finished messages that the board has recorded; later ones stay."""
    had = set(known)
    left = [message for message in done_messages(folder) if message not in had]
    _put(f"{folder}/outbox.done", b"".join(map(_line, left)))


def _line(one: DoneMessage) -> bytes:
    return f"v1 {one.id} {one.state} {one.at_ms}\n".encode()


def _age(one: OutboxEntry) -> tuple[int, str]:
    return one.created_ms, one.id


def _turn(folder: str, transcript: str, now_ms: int, most: int) -> list[str]:
    """The messages to print now, oldest first."""
    box = load(folder)
    if not box.entries:
        return []
    over = _look(box, folder, transcript, now_ms)
    ended = {one.id for one in over}
    waiting = [entry for entry in box.entries if entry.state == WAITING and entry.id not in ended]
    chosen = waiting[:most]
    if chosen and not _speaks(folder):
        chosen = []  # a message that cannot be told apart from an earlier one is not said
    for one in chosen:
        if not box.said:
            box.read_to = places.size_of(transcript)
        one.state, one.sayings, one.quiet, one.silent = SAID, one.sayings + 1, False, 0
    save(folder, box, over)
    return [one.text for one in chosen]


def look(folder: str, transcript: str, now_ms: int) -> None:
    """Record what arrived and what expired, in a turn in which nothing can be said."""
    box = load(folder)
    if box.entries:
        save(folder, box, _look(box, folder, transcript, now_ms))


def _look(box: WindowOutbox, folder: str, transcript: str, now_ms: int) -> list[DoneMessage]:
    over = _confirm(box, transcript, now_ms) if box.said else []
    ended = {one.id for one in over}
    still = [entry for entry in box.entries if entry.id not in ended]
    silent = bool(box.said) and not _is_speaking(folder)
    for one in still:
        if one.state == SAID and one.silent >= ANSWERS:
            one.state = WAITING
        one.quiet = one.quiet or (one.state == SAID and silent)
    return over + [DoneMessage(one.id, EXPIRED, now_ms) for one in still if _is_over(one, now_ms)]


def _is_over(one: OutboxEntry, now_ms: int) -> bool:
    """Expire old messages. A message that was printed and may still arrive gets twice the time."""
    if one.state == WAITING and one.sayings >= MOST_SAYINGS:
        return True
    grace = one.expires_ms - one.created_ms if one.state == SAID else 0
    return now_ms >= one.expires_ms + grace


def _confirm(box: WindowOutbox, transcript: str, now_ms: int) -> list[DoneMessage]:
    """Read on in the transcript: which messages arrived, and how many answers came without."""
    open_ = {one.tag.encode(): one for one in box.said}
    over = []
    for line in _lines(box, transcript):
        tags = [tag for tag in open_ if tag in line and b'"hook_success"' not in line]
        over += [DoneMessage(open_.pop(tag).id, CONFIRMED, now_ms) for tag in tags]
        answer = _answer(line)
        if answer and answer != box.answer:
            box.answer = answer
            for one in open_.values():
                one.silent += one.quiet
    return over


def _lines(box: WindowOutbox, transcript: str) -> Iterator[bytes]:
    """Whole lines since the last look, up to a limit; all of a file that shrank."""
    if places.size_of(transcript) < box.read_to:
        box.read_to = 0
    data = read_from(transcript, box.read_to, READ_BYTES)
    cut = data.rfind(b"\n") + 1
    if not cut and len(data) == READ_BYTES:
        cut = len(data)  # a line longer than the limit is no message
    box.read_to += cut
    yield from data[:cut].split(b"\n")


def _answer(line: bytes) -> str:
    if b'"assistant"' not in line or b'"usage"' not in line:
        return ""
    value = scan.parse_object(line)
    message = value.get("message")
    if value.get("type") != "assistant" or not isinstance(message, dict):
        return ""
    return "" if message.get("model") == "<synthetic>" else scan.text_of(message, "id")


def read_from(path: str, start: int, most: int) -> bytes:
    with suppress(OSError, ValueError), os.fdopen(places.open_regular(path), "rb") as file:
        file.seek(start)
        return file.read(most)
    return b""


def _speaks(folder: str) -> bool:
    """Hold the lock `speaking` until this process ends. It is never closed, on purpose."""
    fd = lock.open_file(f"{folder}/speaking")
    if lock.acquire(fd, shared=True):
        return True
    os.close(fd)
    return False


def _is_speaking(folder: str) -> bool:
    """Whether a hook that recorded a message as said still runs, and may yet print it."""
    fd = lock.open_file(f"{folder}/speaking")
    try:
        return not lock.acquire(fd)
    finally:
        os.close(fd)


def add_messages(folder: str, entries: Sequence[OutboxEntry], now_ms: int) -> None:
    """Add messages that are new and were not delivered, oldest first. The next hook wakes while any
    waits. Those that the transcript shows have arrived: the outbox was lost."""
    with lock_state(folder) as state:
        box, known = load(folder), known_ids(folder)
        if new := [entry for entry in entries if bare(entry.id) not in known]:
            size = places.size_of(state.transcript)
            end = read_from(state.transcript, max(0, size - SEARCHED_BYTES), SEARCHED_BYTES)
            arrived = [one for one in new if one.tag.encode() in end]
            fresh = sorted((one for one in new if one not in arrived), key=_age)
            if not box.said:
                box.read_to = size
            room = max(0, MOST_ENTRIES - len(box.entries))
            box.entries = sorted([*box.entries, *fresh[:room]], key=_age)
            save(folder, box, [DoneMessage(one.id, CONFIRMED, now_ms) for one in arrived])
        if places.has_outbox(folder):  # also if another process added them and stopped there
            make_mark.rearm(folder, state)


def take_back(folder: str, message_ids: Set[str]) -> set[str]:
    """Take messages back; returns those that were said already. Ids come without `TEAM`."""
    with lock_state(folder) as state:
        box = load(folder)
        mine = [entry for entry in box.entries if bare(entry.id) in message_ids]
        printed = [one for one in mine if one.state != WAITING]
        box.entries = [entry for entry in box.entries if entry not in mine or entry in printed]
        save(folder, box)
        if not box.entries:
            make_mark.rearm(folder, state)
    return {bare(one.id) for one in printed}


ORIGIN = "other agents, by the board"


def messages_for_turn(folder: str, transcript: str, now_ms: int, most: int = AT_ONCE) -> str:
    """The next messages, under the window's lock; none that cannot be recorded as delivered."""
    try:
        lines = _turn(folder, transcript, now_ms, most)
    except OSError as error:
        log.add("WARN", "outbox", f"{folder}: nothing said: {error}")
        return ""
    if not lines:
        return ""
    quoted = [fence.line(line) for line in lines]
    return "\n".join([fence.opening(ORIGIN), *quoted, fence.closing()])
