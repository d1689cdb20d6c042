"""Secrets in the rows of `INSERT INTO … (…) VALUES (…), (…)` and of `COPY … (…) FROM stdin`."""

from __future__ import annotations

from holdfast.redact.columns import LONGEST_ROW, columns_of, has_users, split_cells
from holdfast.redact.rule import SecretFinding, compiled
from holdfast.wire import search_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.columns import Column
    from holdfast.redact.rule import SearchPage

_GAP = r"(?:\s|\\[nrt])"
_SQL = (
    rf"(?:into|copy){_GAP}{{1,8}}[^\s()]{{1,120}}{_GAP}{{0,8}}\((?P<head>[^()]{{1,4000}})\)"
    rf"{_GAP}{{0,8}}(?:(?P<values>values)|from{_GAP}{{1,8}}stdin[^\n\\]{{0,80}}(?P<end>\n|\\n))"
)
_STRING = r"'(?:[^'\\]|\\.|'')*+'"
_INNER = rf"\((?:{_STRING}|[^()'])*+\)"
_SQL_ROW = rf"(?:{_GAP}|,|--[^\n]{{0,200}}\n)*+\((?P<row>(?:{_STRING}|{_INNER}|[^()'])*+)\)"
_SQL_CELL = rf"(?:{_STRING}|{_INNER}|[^,'(]|['(])*+"
_SQL_TEXT = r"[NEBX]?(?P<quote>['\"])(?P<value>.*)(?P=quote)\Z"


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    titles, are_users = [""], False
    before = ""  # a dump repeats the head for each row
    for head in compiled(_SQL).finditer(page.low):
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
            _read_copied(page.text, head.end(), head["end"], len(titles), columns)
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


def _read_copied(text: str, at: int, line_end: str, count: int, columns: list[Column]) -> None:
    mark = "\t" if line_end == "\n" else "\\t"
    while at < len(text):
        search_time.check()
        line, more, _ = text[at : at + LONGEST_ROW].partition(line_end)
        cells = line.split(mark)
        for column in columns if len(cells) == count else ():
            before = sum(len(cell) + len(mark) for cell in cells[: column.number])
            column.add(cells[column.number], at + before)
        if not more or line.startswith("\\."):
            return
        at += len(line) + len(line_end)
