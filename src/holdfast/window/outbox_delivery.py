"""Putting messages into a window's outbox, and taking them back: whoever is warm does it."""

from __future__ import annotations

from collections.abc import Sequence, Set

from holdfast.window import make_mark, outbox, outbox_reading
from holdfast.window.outbox import CONFIRMED, WAITING, Done, Entry, Outbox
from holdfast.window.state import State, held
from holdfast.wire import mark, places

SEARCHED_BYTES = 4 << 20


def hand(folder: str, entries: Sequence[Entry], now_ms: int) -> None:
    """Those that are not there yet and were not heard; the next hook wakes while any waits."""
    with held(folder) as state:
        box = outbox.load(folder)
        known = {outbox.bare(one.id) for one in box.entries}
        new = [one for one in entries if outbox.bare(one.id) not in known]
        if new:
            _put(folder, box, new, state.transcript, now_ms)
        if places.has_outbox(folder):  # also where another put them there and got no further
            _rouse(folder, state)


def _put(folder: str, box: Outbox, new: Sequence[Entry], transcript: str, now_ms: int) -> None:
    """But for those the transcript shows: its outbox was lost."""
    size = outbox_reading.size_of(transcript)
    end = outbox_reading.read_from(transcript, max(0, size - SEARCHED_BYTES), SEARCHED_BYTES)
    heard = [one for one in new if one.tag.encode() in end]
    if heard:
        outbox.save(folder, box, [Done(one.id, CONFIRMED, now_ms) for one in heard])
    outbox.put(folder, box, [one for one in new if one not in heard], size)


def take_back(folder: str, message_ids: Set[str]) -> set[str]:
    """They are not said any more; those that were said already are named. Ids without `TEAM`."""
    with held(folder) as state:
        box = outbox.load(folder)
        mine = [one for one in box.entries if outbox.bare(one.id) in message_ids]
        said = [one for one in mine if one.state != WAITING]
        box.entries = [one for one in box.entries if one not in mine or one in said]
        outbox.save(folder, box)
        if not box.entries:
            _rouse(folder, state)
    return {outbox.bare(one.id) for one in said}


def _rouse(folder: str, state: State) -> None:
    """Without a mark the next hook wakes by itself."""
    armed = mark.load(folder)
    if armed is not None:
        armed.owed = make_mark.owed(state)
        make_mark.put(folder, state, armed)
