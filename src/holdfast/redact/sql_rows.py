"""Secrets in the rows of `INSERT INTO … (…) VALUES (…), (…)` and of `COPY … (…) FROM stdin`, also
as CSV."""

from __future__ import annotations

from holdfast.redact.columns import (
    CSV_ROW,
    LONGEST_ROW,
    cell_value,
    columns_of,
    has_users,
    split_cells,
    split_row,
)
from holdfast.redact.rule import TABLE_END, SecretFinding, compiled
from holdfast.wire import search_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from holdfast.redact.columns import Column
    from holdfast.redact.rule import SearchPage

_GAP = r"(?:\s|\\[nrt])"
_SQL = (
    rf"(?:into|copy){_GAP}{{1,8}}[^\s()]{{1,120}}{_GAP}{{0,8}}\((?P<head>[^()]{{1,4000}})\)"
    rf"{_GAP}{{0,8}}(?:(?P<values>values)|(?:from{_GAP}{{1,8}}stdin|to{_GAP}{{1,8}}stdout)"
    rf"(?P<options>(?:{_GAP}{{1,8}}with(?!\w))?(?:[^\n\\]|\\t){{0,200}})(?P<end>\n|\\n))"
)
_DELIMITER = r"delimiter\s{1,8}(?:as\s{1,8})?e?'(?P<mark>\\t|[^'\\\s])'"
_STRING = r"'(?:[^'\\]|\\.|'')*+'"
_INNER = rf"\((?:{_STRING}|[^()'])*+\)"
_SQL_ROW = rf"(?:{_GAP}|,|--[^\n]{{0,200}}\n)*+\((?P<row>(?:{_STRING}|{_INNER}|[^()'])*+)\)"
_SQL_CELL = rf"(?:{_STRING}|{_INNER}|[^,'(]|['(])*+"
_SQL_TEXT = r"[NEBX]?(?P<quote>['\"])(?P<value>.*)(?P=quote)\Z"


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    titles, are_users = [""], False
    before = ""  # a dump repeats the head for each row
    heads = list(compiled(_SQL).finditer(page.low))
    copies = [head.start() for head in heads if not head["values"]]
    next_copy = dict(zip(copies, [*copies[1:], len(page.text)], strict=False))
    for head in heads:
        search_time.check()
        if head["head"] != before:
            before = head["head"]
            titles = [title.strip(" \t\r\n\"'`\\[]") for title in before.split(",")]
            are_users = has_users(titles)
        columns = columns_of(titles)
        if not columns:
            continue
        if head["values"]:
            _read_brackets(page.text, head.end(), len(titles), columns)
        else:
            rows = CopiedRows(page.text, head, next_copy[head.start()])
            rows.read(len(titles), columns)
        for column in columns:
            yield from column.findings(True, are_users)


def _read_brackets(text: str, at: int, count: int, columns: list[Column]) -> None:
    row = compiled(_SQL_ROW).match(text, at, at + LONGEST_ROW)
    while row:
        search_time.check()
        cells = split_cells(_SQL_CELL, row["row"])
        for column in columns if len(cells) == count else ():
            start, end = cells[column.number]
            cell = row["row"][start:end]
            literal = compiled(_SQL_TEXT).match(cell.strip())
            if literal:
                lead = len(cell) - len(cell.lstrip()) + literal.start("value")
                column.add(literal["value"], row.start("row") + start + lead)
        row = compiled(_SQL_ROW).match(text, row.end(), row.end() + LONGEST_ROW)


class CopiedRows:
    """The lines behind a `COPY`, until the next one at the latest."""

    __slots__ = ("_at", "_end", "_line_end", "_mark", "_text")

    def __init__(self, text: str, head: re.Match[str], end: int) -> None:
        self._text = text
        self._at = head.end()
        self._end = end
        self._line_end = head["end"]
        self._mark = _mark_of(head["options"], self._line_end)

    def read(self, count: int, columns: list[Column]) -> None:
        line = ""
        while self._at < self._end and not line.startswith(("\\.", TABLE_END)):
            search_time.check()
            line = self._line()
            cells = split_row(line, self._mark)
            for column in columns if len(cells) == count else ():
                value, start = cell_value(line, *cells[column.number], self._line_end)
                column.add(value, self._at + start)
            self._at += len(line) + len(self._line_end)

    def _line(self) -> str:
        """Return a line. As CSV, a cell in quotes may contain line ends."""
        end = self._text.find(self._line_end, self._at, self._end)
        line = self._text[self._at : end if end >= 0 else self._end]
        if self._mark in ",;" and line.count('"') % 2:
            row = compiled(CSV_ROW).match(self._text, self._at, self._at + LONGEST_ROW)
            return row[0] if row and len(row[0]) > len(line) else line
        return line


def _mark_of(options: str, line_end: str) -> str:
    """Return what parts the cells, by the options of `COPY`."""
    named = compiled(_DELIMITER).search(options)
    if named and named["mark"] != "\\t":
        return named["mark"]
    if "csv" in options and not named:
        return ","
    return "\t" if line_end == "\n" else "\\t"
