"""Rows of windows whose transcripts lie on this machine, read anew: what hooks told last is behind
whenever a session goes on, or was compacted, without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.hub.ingest.readers.clean_text import clean_value
from holdfast.hub.ingest.records import TEXT_CHARS
from holdfast.hub.store.rows import Row
from holdfast.window import state as states
from holdfast.window import windows
from holdfast.window.state import State
from holdfast.wire import places


def read_anew(found: Sequence[Row], now_ms: int) -> list[Row]:
    """As they stand now; those of other machines, and those a client counts itself, as told.

    A path that was told is never opened: only what a hook, or the watcher, noted here is.
    """
    looked = windows.look([pair for row in found for pair in _noted(row)], now_ms)
    healths = [looked.get(_folder(row)) for row in found]
    pairs = zip(found, healths, strict=True)
    return [row if health is None else _told(row, health) for row, health in pairs]


def _noted(row: Row) -> Iterator[tuple[str, State]]:
    if (row["health"] or {}).get("basis") == "tracked":
        return
    state = states.load(_folder(row))
    mine = (state.session_id, state.agent_id) == (row["session_id"], row["agent_id"])
    if mine and state.transcript:
        yield _folder(row), state


def _told(row: Row, health: dict[str, object]) -> Row:
    return {
        **row,
        "health": clean_value(health, TEXT_CHARS),
        "used_tokens": health["used_tokens"],
    }


def _folder(row: Row) -> str:
    return places.window(row["session_id"], row["agent_id"])
