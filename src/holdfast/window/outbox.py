"""Messages for a window's agent: a small file in the window's folder, cheap for hooks to read.

`outbox.json` holds messages that wait, and messages that were said but not yet seen to arrive. It
exists only while there are any, so a hook only checks whether it exists. Messages that are over
(confirmed, expired) go to `outbox.done`, line by line, for the board. Both files change only under
the window's lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from holdfast.wire import log, places
from holdfast.wire.mark import CHARS_PER_TOKEN

VERSION = 1
MOST_BYTES = 256 << 10
MOST_ENTRIES = 50
MOST_CHARS = int(60 * CHARS_PER_TOKEN)  # 60 tokens
WAITING, SAID, CONFIRMED, EXPIRED = "waiting", "said", "confirmed", "expired"
TEAM = "team:"  # prefix of ids from a team server; other messages are from this machine's board


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
        return [one for one in self.entries if one.state == SAID]


@dataclass(frozen=True, slots=True)
class DoneMessage:
    """How one message ended."""

    id: str
    state: str
    at_ms: int


def bare(message_id: str) -> str:
    """The id without its prefix: a message on both boards is one message."""
    return message_id.removeprefix(TEAM)


def is_there(folder: str) -> bool:
    return any(os.path.exists(f"{folder}/{name}") for name in ("outbox.json", "outbox.done"))  # noqa: PTH110


def load(folder: str) -> WindowOutbox:
    """The saved outbox. An unreadable one counts as empty: the board still has every message."""
    data = places.read_small(f"{folder}/outbox.json", MOST_BYTES + 1)
    if not data:
        return WindowOutbox()
    try:
        value = json.loads(data)
        if value["version"] != VERSION:
            raise ValueError(f"not an outbox of version {VERSION}")
        found = [OutboxEntry(**one) for one in value["entries"]]
        if not all(map(_fits, found)):
            raise ValueError("an entry does not fit")
        return WindowOutbox(found, int(value["read_to"]), str(value["answer"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        log.add("WARN", "outbox", f"{folder}: started anew: {error!r}")
        return WindowOutbox()


def _fits(one: OutboxEntry) -> bool:
    kinds = {"str": str, "int": int, "bool": bool}
    right = all(type(getattr(one, part.name)) is kinds[str(part.type)] for part in fields(one))
    return right and one.state in (WAITING, SAID) and len(one.text) <= MOST_CHARS


def save(folder: str, box: WindowOutbox, over: Sequence[DoneMessage] = ()) -> None:
    """Save it. Finished messages are recorded first: after a crash in between they are recorded
    twice, which does no harm."""
    for done in over:
        places.append(f"{folder}/outbox.done", _line(done))
    gone = {one.id for one in over}
    box.entries = [one for one in box.entries if one.id not in gone]
    path = f"{folder}/outbox.json"
    if not box.entries:
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108
        return
    body: dict[str, Any] = {"version": VERSION, "read_to": box.read_to, "answer": box.answer}
    body["entries"] = [asdict(one) for one in box.entries]
    places.replace_whole(path, json.dumps(body).encode())


def known_ids(folder: str) -> set[str]:
    """The ids of messages that are or were in the outbox, without prefixes."""
    return {bare(one.id) for one in load(folder).entries} | {
        bare(one.id) for one in done_messages(folder)
    }


def put(folder: str, box: WindowOutbox, new: Sequence[OutboxEntry], size: int) -> int:
    """Add messages that are not there yet, oldest first; how many. `size` is the transcript's."""
    had = {bare(one.id) for one in box.entries} | {bare(one.id) for one in done_messages(folder)}
    fresh = [one for one in new if bare(one.id) not in had]
    room = max(0, MOST_ENTRIES - len(box.entries))
    fresh = sorted(fresh, key=_age)[:room]
    if fresh:
        box.read_to = box.read_to if box.said else size
        box.entries = sorted([*box.entries, *fresh], key=_age)
        save(folder, box)
    return len(fresh)


def done_messages(folder: str) -> list[DoneMessage]:
    data = places.read_small(f"{folder}/outbox.done", MOST_BYTES)
    found = []
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split(" ")
        if len(words) == 4 and words[0] == "v1" and words[3].isdecimal():
            found.append(DoneMessage(words[1], words[2], int(words[3])))
    return found


def forget_done(folder: str, known: Sequence[DoneMessage]) -> None:
    """Remove the finished messages that the board has recorded; later ones stay."""
    had = set(known)
    left = [one for one in done_messages(folder) if one not in had]
    path = f"{folder}/outbox.done"
    if left:
        places.replace_whole(path, b"".join(map(_line, left)))
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108


def _line(one: DoneMessage) -> bytes:
    return f"v1 {one.id} {one.state} {one.at_ms}\n".encode()


def _age(one: OutboxEntry) -> tuple[int, str]:
    return one.created_ms, one.id
