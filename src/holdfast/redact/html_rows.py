"""Secrets in a column of an HTML table."""

from __future__ import annotations

import re

from holdfast.redact.columns import can_be_titles, columns_of, has_users, possible_places
from holdfast.redact.rule import TABLE_END, SecretFinding, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.columns import Column, Value
    from holdfast.redact.rule import SearchPage

_TAG = (
    r"<(?:(?P<cell>t[hd])|(?P<cell_end>\\?/t[hd])|(?P<row>\\?/?tr)|\\?/?table)(?![\w-])[^<>]{0,500}>"
    rf"|{re.escape(TABLE_END)}"
)
_BLANK = r"\s|&nbsp;|\\[nrt]"
_VALUE = rf"(?:{_BLANK}|<[^<>]{{0,500}}>)*+(?P<value>(?:(?!{_BLANK})[^<]|(?:{_BLANK})++(?!<|\Z))*+)"
_LINE = r'[^"\n\\]*+'
PAIR = 2  # cells: a name and its value in each row


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    table = HtmlTable(page.text)
    for tag in compiled(_TAG).finditer(page.low):
        table.end_cell(tag.start())
        if tag["cell"]:
            table.begin_cell(tag.end(), tag["cell"])
        elif not tag["cell_end"]:
            table.end_row()
            if not tag["row"]:
                yield from table.findings()
                table = HtmlTable(page.text)
    table.end_text()
    yield from table.findings()


class HtmlTable:
    """A table whose cells are given one after another."""

    __slots__ = ("_cell", "_columns", "_found", "_is_head", "_row", "_tags", "_text", "_titles")

    def __init__(self, text: str) -> None:
        self._text = text
        self._cell = -1  # where it begins
        self._row: list[Value] = []
        self._tags: set[str] = set()
        self._titles: list[str] = []
        self._columns: list[Column] = []
        self._is_head = False
        self._found: list[SecretFinding] = []

    def begin_cell(self, start: int, tag: str) -> None:
        self._cell = start
        self._tags.add(tag)

    def end_cell(self, end: int) -> None:
        value = compiled(_VALUE).match(self._text, self._cell, end) if self._cell >= 0 else None
        if value:
            self._row.append((value["value"], value.start("value")))
        self._cell = -1

    def end_text(self) -> None:
        """End a row that is not closed with its line, or with the text that JSON put in quotes."""
        rest = compiled(_LINE).match(self._text, max(0, self._cell))
        self.end_cell(rest.end() if rest else len(self._text))
        self.end_row()

    def end_row(self) -> None:
        """Take the first row and each row of `<th>` for titles, all others for values."""
        if len(self._row) == PAIR and "td" in self._tags:
            self._add_pair(*self._row)
        if self._row and (self._tags == {"th"} or not self._titles):
            self._begin(self._row)
        elif self._row:
            self._add(self._row)
        self._row, self._tags = [], set()

    def findings(self) -> list[SecretFinding]:
        """Return what was found. A row of two cells may be a name and its value, and no head."""
        words_too = has_users(self._titles)
        for column in self._columns:
            self._found += column.findings(self._is_head, words_too)
        return self._found

    def _begin(self, row: list[Value]) -> None:
        self.findings()
        self._titles = [value for value, _ in row]
        self._columns = columns_of(self._titles)
        is_head = self._tags == {"th"} or len(row) > PAIR
        self._is_head = is_head and can_be_titles(self._titles)

    def _add_pair(self, name: Value, value: Value) -> None:
        for column in columns_of([name[0]]):
            column.add(*value)
            self._found += column.findings(not column.password, False)

    def _add(self, row: list[Value]) -> None:
        for column in self._columns:
            if len(row) == len(self._titles):
                column.add(*row[column.number])
                continue
            for place in possible_places(column.number, len(row), len(self._titles)):
                column.add_doubtful(*row[place])
