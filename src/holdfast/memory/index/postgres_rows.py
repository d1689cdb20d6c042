"""An item as a row of the team's index, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from holdfast.memory import words
from holdfast.memory.index.interface import POSITIONS
from holdfast.memory.item import Item

COLUMNS = (
    "id, kind, author, cold, session, agent, file, first_turn, last_turn, uuids, at, byte, "
    "title, text, more"
)
# One way there and back for a whole batch.
INSERT = sa.text(
    f"INSERT INTO recall_items (project, place, hash, {COLUMNS}, length, words) "
    f"SELECT :project, place, hash, {COLUMNS}, length, "
    "setweight(to_tsvector('holdfast', said), 'A') "
    "|| setweight(to_tsvector('holdfast', beside), 'D') "
    "FROM jsonb_to_recordset(:rows) AS new (place bigint, hash text, id text, kind text, "
    "author text, cold boolean, session text, agent text, file text, first_turn integer, "
    "last_turn integer, uuids text, at text, byte bigint, title text, text text, more text, "
    "length integer, said text, beside text)"
).bindparams(sa.bindparam("rows", type_=JSONB))


def row(place: int, one: Item) -> dict[str, Any]:
    said = [*words.plain(f"{one.title}\n{one.text}"), *words.beside(f"{one.title}\n{one.text}")]
    more = [*words.plain(one.more), *words.beside(one.more)]
    return {
        "place": place,
        "hash": one.hash,
        "id": one.id,
        "kind": one.kind,
        "author": one.by,
        "cold": one.cold,
        "session": one.session,
        "agent": one.agent,
        "file": one.file,
        "first_turn": one.first_turn,
        "last_turn": one.last_turn,
        "uuids": json.dumps(one.uuids),
        "at": one.at,
        "byte": one.offset,
        "title": one.title,
        "text": one.text,
        "more": one.more,
        "length": len(said) + len(more),
        "said": " ".join(said),
        "beside": " ".join(more),
    }


def item(row: Sequence[Any]) -> Item:
    (place, item_id, kind, author, cold, session, agent, file, first, last, uuids, at, byte) = row[
        :13
    ]
    title, text, more = row[13:]
    return Item(
        *(item_id, kind, text, place % POSITIONS, title, more, author, cold, session, agent, file),
        *(first, last, tuple(json.loads(uuids)), at, byte),
    )
