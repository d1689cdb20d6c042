"""An item as a row of the SQLite file, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from holdfast.memory import words
from holdfast.memory.index.interface import POSITIONS
from holdfast.memory.item import Item

COLUMNS = "id, kind, by, cold, session, agent, file, first_turn, last_turn, uuids, at, byte"


def row(one: Item) -> tuple[Any, ...]:
    return (
        *(one.id, one.kind, one.by, int(one.cold), one.session, one.agent, one.file),
        *(one.first_turn, one.last_turn, json.dumps(one.uuids), one.at, one.offset),
    )


def item(row: Sequence[Any]) -> Item:
    place, title, text, more, item_id, kind, by, cold, session, agent, file, first, last, *rest = (
        row
    )
    return Item(
        *(
            item_id,
            kind,
            text,
            place % POSITIONS,
            title,
            more,
            by,
            bool(cold),
            session,
            agent,
            file,
        ),
        *(first, last, tuple(json.loads(rest[0])), *rest[1:]),
    )


def beside(one: Item) -> str:
    return " ".join(words.beside(f"{one.title}\n{one.text}\n{one.more}"))
