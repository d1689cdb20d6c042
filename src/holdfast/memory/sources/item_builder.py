"""Build items: the words and actions of one speaker become one item, or several if they are
long."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.memory.index.interface import TURN_POSITIONS
from holdfast.memory.item import TURN, Item, id_of
from holdfast.memory.sources.source import clean, pieces
from holdfast.transcript.entries import Entry

MORE_CHARS = 1_200
MOST_UUIDS = 40
LONGEST_TEXT = 200_000
MOST_PARTS = 64
TITLE_CHARS = 300


class UnitStart(NamedTuple):
    """Where a unit begins, in bytes, steps and positions, and the topic at that point."""

    offset: int = 0
    turn: int = 0
    position: int = 0
    message: str = ""  # the answer being read
    sign: str = ""
    secret_lines: tuple[int, ...] = ()  # offsets of lines that name a secret
    how: int = 1
    asked: str = ""  # the words that began the turn
    said: str = ""  # the model's last words before it


class SpokenPart(NamedTuple):
    """Words of one speaker. `title` is the question they answer, or the request of their turn."""

    by: str
    text: str
    title: str = ""
    more: str = ""
    kind: str = TURN

    @property
    def words(self) -> list[str]:
        return [self.title, self.text, self.more]


class Unit:
    """A speaker's words with the answers and the subagents' reports that they led to."""

    def __init__(self, began: UnitStart, by: str, entry: Entry, title: str = "") -> None:
        self.began, self.by, self.title = began, by, title
        self.kind = TURN
        self.begins_turn = False
        self.first_turn = self.last_turn = began.turn
        self.texts: list[str] = []
        self.more: list[str] = []
        self.more_chars = 0
        self.came_back: list[SpokenPart] = []
        self.uuids: list[str] = []
        self.message = ""  # the id of the answer they belong to
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

    def add_part(self, part: SpokenPart) -> None:
        if part.text.strip() and len(self.came_back) < MOST_PARTS:
            self.came_back.append(part._replace(text=part.text[:LONGEST_TEXT]))

    @property
    def is_empty(self) -> bool:
        return not self.texts and not self.more and not self.came_back

    def put_at(self, position: int) -> None:
        """Set the position, once. It is known when all units before it are counted. Each turn has a
        block of positions."""
        if not self._is_put:
            if self.begins_turn:
                position = -(-position // TURN_POSITIONS) * TURN_POSITIONS
            self._is_put, self.began = True, self.began._replace(position=position)

    @property
    def parts(self) -> list[SpokenPart]:
        text, more = "\n".join(self.texts)[:LONGEST_TEXT], "\n".join(self.more)
        own = [SpokenPart(self.by, text, self.title, more, self.kind)] if text or more else []
        return [one._replace(**_clean(one)) for one in (*own, *self.came_back)]

    def items(self, path: str, key: str, parts: list[SpokenPart]) -> list[Item]:
        """Make items of the redacted parts. Ids are made from `key`."""
        found: list[Item] = []
        for part in parts:
            for number, text in enumerate(pieces(part.text) or [""]):
                position = self.began.position + len(found)
                item_id = id_of(part.kind, key, self.uuids[0] if self.uuids else "", str(position))
                item = self._item(path, part, text, is_first=number == 0)
                found.append(item._replace(id=item_id, position=position))
        return found

    def _item(self, path: str, part: SpokenPart, text: str, *, is_first: bool) -> Item:
        return Item(
            id="",
            kind=part.kind,
            text=text,
            title=part.title[:TITLE_CHARS],
            more=part.more[:MORE_CHARS] if is_first else "",
            by=part.by,
            session=self.session,
            agent=self.agent,
            file=path,
            first_turn=max(1, self.first_turn),
            last_turn=max(1, self.last_turn),
            uuids=tuple(self.uuids),
            at=self.at,
            offset=self.began.offset,
        )


def _clean(part: SpokenPart) -> dict[str, str]:
    return {"title": clean(part.title), "text": clean(part.text), "more": clean(part.more)}
