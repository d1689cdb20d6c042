"""Decisions and the user's rules, each with its turn, from the record of each window."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from holdfast.archive import transcripts as archived
from holdfast.memory import locations
from holdfast.memory.index.interface import TURN_POSITIONS
from holdfast.memory.item import DECISION, Item, id_of
from holdfast.memory.sources import sessions
from holdfast.memory.sources.source import HOW, MemorySource, SourceRead, clean
from holdfast.wire import places

KEY = "facts:"
MOST_BYTES = 32 << 20
RULE, CHOICE = "rule", "decision"


def sources(project: str) -> Iterator[MemorySource]:
    for session, (owner, transcript) in sessions.sessions_of_hooks().items():
        if owner != project:
            continue
        folder = f"{places.windows()}/{session}"
        for leaf in locations.names_in(folder):
            path = f"{folder}/{leaf}/record.json"
            if stamp := locations.stamp(path):
                agent = leaf.removeprefix("agent-") if leaf != "main" else ""
                own = places.transcript(transcript, agent)
                told_there = bool(locations.stamp(archived.instead_of(own)))
                stamp = f"{HOW}-{stamp}-{'there' if told_there else 'gone'}"
                read = partial(_read, path, own, agent, told_there)
                yield MemorySource(f"{KEY}{session}/{leaf}", stamp, read)


def _read(
    path: str, transcript: str, agent: str, told_there: bool, _state: str, _give_up: float
) -> SourceRead:
    """Read the decisions. The user's are left out while the transcript exists: its turns contain
    them."""
    from holdfast.record import model as kept
    from holdfast.record.decisions import find_decisions
    from holdfast.redact import redact

    found = kept.load(places.read_small(path, MOST_BYTES))
    if found is None:
        return SourceRead([], "")
    items: dict[str, Item] = {}
    for one in find_decisions(found):
        if told_there and one.by == "user":
            continue
        word = RULE if one.by == "user" else CHOICE
        place = one.place
        item_id = id_of(DECISION, path, word, one.question, one.text)
        items[item_id] = Item(
            id=item_id,
            kind=DECISION,
            text=redact(clean(one.text)),
            title=redact(clean(one.question)),
            by="user" if word == RULE else "model",
            position=TURN_POSITIONS * len(items),  # each in a turn of its own
            session=found.session_id,
            agent=agent,
            file=transcript,
            first_turn=max(1, place.op),
            last_turn=max(1, place.op),
            uuids=tuple(filter(None, [_uuid(transcript, place.offset)])),
            at=place.at,
            offset=place.offset,
        )
    return SourceRead(list(items.values()), "")


def _uuid(transcript: str, offset: int) -> str:
    """Return the uuid of the line at this offset; empty if the transcript is gone."""
    from holdfast.transcript.reader import Unreadable, read

    try:
        first = next(read(transcript, start=offset), None)
    except Unreadable:
        return ""
    return first.uuid if first is not None and first.offset == offset else ""
