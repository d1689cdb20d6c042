"""What becomes one item, or several when it is long: words of one speaker, and what he did."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.memory.item import TURN, Item, id_of
from holdfast.memory.sources.pieces import clean, pieces
from holdfast.transcript.entries import Entry

MORE_CHARS = 1_200
MOST_UUIDS = 40
LONGEST_TEXT = 200_000


class Reached(NamedTuple):
    """Where a unit begins: in bytes, turns and positions."""

    offset: int = 0
    turn: int = 0
    position: int = 0
    message: str = ""  # the answer being told
    sign: str = ""
    told: tuple[int, ...] = ()  # lines that told a secret with its name
    how: int = 1


class Unit:
    def __init__(self, began: Reached, by: str, entry: Entry) -> None:
        self.began, self.by = began, by
        self.first_turn = self.last_turn = began.turn
        self.texts: list[str] = []
        self.more: list[str] = []
        self.more_chars = 0
        self.uuids: list[str] = []
        self.message = ""  # whose words these are
        self._is_put = False
        self.at, self.session = entry.timestamp[:40], entry.session_id[:80]
        self.agent = (entry.agent_id or "")[:80]

    def hold(self, entry: Entry) -> None:
        if len(self.uuids) < MOST_UUIDS and entry.uuid not in self.uuids:
            self.uuids.append(entry.uuid[:80])

    def add_more(self, text: str) -> None:
        if text and self.more_chars < MORE_CHARS:
            self.more.append(text)
            self.more_chars += len(text)

    @property
    def is_empty(self) -> bool:
        return not self.texts and not self.more

    def put_at(self, position: int) -> None:
        """Known once all before it were counted, and then for good."""
        if not self._is_put:
            self._is_put, self.began = True, self.began._replace(position=position)

    @property
    def words(self) -> tuple[str, str]:
        return clean("\n".join(self.texts)[:LONGEST_TEXT]), clean("\n".join(self.more))

    def items(self, path: str, key: str, text: str, more: str) -> list[Item]:
        """Of its words, once they are without secrets."""
        parts, more = pieces(text) or [""], more[:MORE_CHARS]
        return [
            Item(
                id=id_of(TURN, key, self.uuids[0] if self.uuids else "", str(position)),
                kind=TURN,
                text=part,
                position=position,
                more=more if number == 0 else "",
                by=self.by,
                session=self.session,
                agent=self.agent,
                file=path,
                first_turn=max(1, self.first_turn),
                last_turn=max(1, self.last_turn),
                uuids=tuple(self.uuids),
                at=self.at,
                offset=self.began.offset,
            )
            for number, part in enumerate(parts)
            for position in [self.began.position + number]
        ]
