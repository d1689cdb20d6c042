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

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from holdfast.redact.columns import Column
    from holdfast.redact.rule import SearchPage

_GAP = r"(?:\s|\\[nrt])"
_SQL = (
    rf"(?:into|copy){_GAP}{{1,8}}[^\s()]{{1,120}}{_GAP}{{0,8}}\((?P<head>[^()]{{1,4000}})\)"
    rf"{_GAP}{{0,8}}(?:overriding{_GAP}{{1,8}}\w{{1,10}}{_GAP}{{1,8}}value{_GAP}{{1,8}})?"
    rf"(?:(?P<values>values)|(?:from{_GAP}{{1,8}}stdin|to{_GAP}{{1,8}}stdout)"
    rf"(?P<options>(?:{_GAP}{{1,8}}with(?!\w))?(?:[^\n\\]|\\t){{0,200}})(?P<end>\n|\\n))"
)
_DELIMITER = r"delimiter\s{1,8}(?:as\s{1,8})?e?'(?P<mark>\\t|[^'\\\s])'"
_NAME = r'"(?:[^"\\\n]|\\.|"")*+"'  # for MySQL a text
_COMMENT = r"(?:--|\#)(?:[^\n\\]|\\(?!n))*+(?:\n|\\n)|/\*(?:[^*]|\*(?!/))*+\*/"
_BETWEEN_ROWS = rf"(?:{_GAP}|,|{_COMMENT}|(?i:row)(?=\())*+"
NESTED = 3  # calls within calls
MOST_ODD = 5  # lines that are no rows of a `COPY`, one after another


def _patterns(text: str) -> tuple[str, str]:
    """Return the patterns of a row and of a cell, for texts that are written in this way."""
    word = rf"{text}|{_NAME}|[^()']"
    inner = rf"\((?:{word})*+\)"
    for _ in range(NESTED - 1):
        inner = rf"\((?:{text}|{_NAME}|{inner}|[^()'])*+\)"
    row = rf"{_BETWEEN_ROWS}\((?P<row>(?:{text}|{_NAME}|{inner}|[^()'])*+)\)"
    return row, rf"(?:{text}|{_NAME}|{inner}|[^,'(]|['(])*+"


# In standard SQL a backslash is a character like others: `'C:\\'`.
_WRITTEN = tuple(map(_patterns, (r"'(?:[^'\\]|\\.|'')*+'", r"'(?:[^']|'')*+'")))
_SQL_TEXT = r"[NEBX]?(?P<quote>['\"])(?P<value>.*)(?P=quote)\Z"
_SQL_CALL = r"\w{1,40}\(\s{0,8}[NEBX]?'(?P<value>[^'\\]{1,400})'"  # `crypt('…', gen_salt('bf'))`


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    titles, are_users = [""], False
    before = ""  # a dump repeats the head for each row
    heads = list(compiled(_SQL).finditer(page.low))
    copies = [head.start() for head in heads if not head["values"]]
    next_copy = dict(zip(copies, [*copies[1:], len(page.text)], strict=False))
    starts = [*(head.start() for head in heads), len(page.text)]
    for head, end in zip(heads, starts[1:], strict=True):
        if head["head"] != before:
            before = head["head"]
            titles = [title.strip(" \t\r\n\"'`\\[]") for title in before.split(",")]
            are_users = has_users(titles)
        columns = columns_of(titles)
        if not columns:
            continue
        is_closed = True
        if head["values"]:
            _read_brackets(page.text, (head.end(), end), len(titles), columns)
        else:
            rows = CopiedRows(page.text, head, next_copy[head.start()])
            is_closed = rows.read(len(titles), columns)
        for column in columns:
            yield from column.findings(True, are_users and is_closed)


def _read_brackets(text: str, span: tuple[int, int], count: int, columns: list[Column]) -> None:
    at, end = span
    while (row := _find_row(text, at, min(end, at + LONGEST_ROW), count)) is not None:
        at, start, cells = row
        for column in columns if len(cells) == count else ():
            first, last = cells[column.number]
            cell = text[start + first : start + last]
            bare = cell.strip()
            literal = compiled(_SQL_TEXT).match(bare) or compiled(_SQL_CALL).match(bare)
            if literal:
                lead = len(cell) - len(cell.lstrip()) + literal.start("value")
                column.add(literal["value"], start + first + lead)


def _find_row(
    text: str, at: int, end: int, count: int
) -> tuple[int, int, list[tuple[int, int]]] | None:
    """Return the end of the row at this place, the start of its content, and its cells. Of the two
    ways to read texts, the one that gives the right number of cells counts."""
    found = None
    for row_pattern, cell_pattern in _WRITTEN:
        row = compiled(row_pattern).match(text, at, end)
        if row:
            cells = split_cells(cell_pattern, row["row"])
            found = found or (row.end(), row.start("row"), cells)
            if len(cells) == count:
                return row.end(), row.start("row"), cells
    return found


class CopiedRows:
    """The lines behind a `COPY`, until the next one at the latest."""

    __slots__ = ("_at", "_end", "_line_end", "_mark", "_text")

    def __init__(self, text: str, head: re.Match[str], end: int) -> None:
        self._text = text
        self._at = head.end()
        self._end = end
        self._line_end = head["end"]
        self._mark = _mark_of(head["options"], self._line_end)

    def read(self, count: int, columns: list[Column]) -> bool:
        """Add the values; return whether `\\.` ends them, and not the text or other lines."""
        line, odd = "", 0
        while self._at < self._end and not line.startswith(("\\.", TABLE_END)):
            line = self._line()
            cells = split_row(line, self._mark)
            is_row = len(cells) == count and not self._is_sentence(line, count)
            odd = 0 if is_row else odd + 1
            if odd > MOST_ODD:
                return False
            for column in columns if is_row else ():
                value, start = cell_value(line, *cells[column.number], self._line_end)
                column.add(value, self._at + start)
            self._at += len(line) + len(self._line_end)
        return line.startswith("\\.")

    def _is_sentence(self, line: str, count: int) -> bool:
        """Whether a line reads like prose behind the statement instead of its data."""
        if count == 1:
            return len(line.split()) > 1
        return self._mark in ",;" and f"{self._mark} " in line and '"' not in line

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
