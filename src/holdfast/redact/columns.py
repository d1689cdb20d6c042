"""Columns of tables with a telling title: CSV, tabs, Markdown, what psql and mysql print."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.redact.names import SURE, SecretName, judge_name
from holdfast.redact.value import (
    SecretFinding,
    compiled,
    is_key,
    is_made,
    is_password,
    is_placeholder,
    like_a_password,
)

Cell = tuple[int, int]
Value = tuple[str, int]  # and where it begins

LONGEST_HEAD, LONGEST_ROW = 2_000, 16_384
MOST_ODD = 3  # lines one after another that are no rows
_NUMBERED = r" {0,12}[0-9]{1,6} ?[→\t]"  # a line of a file, as tools show it
_QUOTED = r"[> ]*"
_JSON = r"\" {0,7}: ?\""  # the text begins behind it
_RULER = r"[\s|+:=─━┏┓┗┛┡┩╇┳┻├┤┼┌┐└┘┬┴│┃-]*\Z"
_TITLE = r"[\w#][\w.:/%()*@?$'-]{0,32}(?: [\w.:/%()*@?$'-]{1,24}){0,2}\Z"
_USERS = "user|login|mail|account|name|url|site|host"
_CSV = r"\"(?:[^\"]|\"\")*+\"|[^{}]*+"
_QUOTES = " \t\r\"'`*"


class Tables:
    """Reads the table below each telling title once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._done = 0

    def below(self, at: int) -> Iterator[SecretFinding]:
        """Yield the secrets in the columns of a table whose head has a telling title here."""
        if at < self._done:
            return
        text = self._text
        start = text.rfind("\n", max(0, at - LONGEST_HEAD), at) + 1
        end = text.find("\n", at)
        if end < 0 or end - start > LONGEST_HEAD:
            self._done = end if end >= 0 else len(text)
            return
        self._done = end
        line = compiled(_JSON).split(text[start:end].translate(_BARS))[-1]
        margin = _NUMBERED if compiled(_NUMBERED).match(line) else _QUOTED
        head = line[_end_of(margin, line) :]
        mark = next((mark for mark in "|\t;," if mark in head.strip()), "")
        if mark and not compiled(r"[{}=<>]|\w\(").search(head):
            yield from self._read(head, end + 1, mark, margin)

    def _read(self, head: str, at: int, mark: str, margin: str) -> Iterator[SecretFinding]:
        titles = [head[start:end].strip(_QUOTES) for start, end in _cells(head, mark)]
        columns = {number: name for number, title in enumerate(titles) if (name := _name(title))}
        if not columns or not all(compiled(_TITLE).match(title) for title in titles if title):
            return
        has_users = any(compiled(_USERS).search(title.lower()) for title in titles)
        values: dict[int, list[Value]] = {number: [] for number in columns}
        for start, row in self._rows(at, mark, margin, len(titles)):
            if row == MARKDOWN:  # a manual may have any words there
                has_users = False
                continue
            cells = _cells(row, mark)
            for number in columns:
                value, place = _value(row, *cells[number])
                values[number].append((value, start + place))
        for number, name in columns.items():
            for value, place in _secrets(values[number], name, has_users):
                yield SecretFinding(name.kind, place, place + len(value))

    def _rows(self, at: int, mark: str, margin: str, count: int) -> Iterator[tuple[int, str]]:
        """Yield the rows of a table. Few lines that are no rows do not end it."""
        odd, text = 0, self._text
        while at < len(text) and odd <= MOST_ODD:
            end = text.find("\n", at, at + LONGEST_ROW)
            end = end if end >= 0 else min(len(text), at + LONGEST_ROW)
            line = text[at:end].translate(_BARS)
            start = _end_of(margin, line)
            row = line[start:]
            if compiled(_RULER).match(row):
                if row[:1] == "|" and "+" not in row and "-" in row:
                    yield at, MARKDOWN
            elif mark in row and len(_cells(row, mark)) == count:
                odd = 0
                self._done = end
                yield at + start, row
            else:
                odd += 1
            at = end + 1


MARKDOWN = "|-"
_BARS = {ord(bar): "|" for bar in "│┃║"}


def _end_of(margin: str, line: str) -> int:
    match = compiled(margin).match(line)
    return match.end() if match else 0


def _name(title: str) -> SecretName | None:
    name = judge_name(title)
    return name if name and name.level == SURE and not name.is_plain else None


def _cells(line: str, mark: str) -> list[Cell]:
    """Return where the cells are. A sign in quotes does not part them in CSV."""
    at = 0
    spans: list[Cell] = []
    if mark in ",;" and '"' in line:
        pattern = compiled(_CSV.replace("{}", mark))
        while at <= len(line):
            match = pattern.match(line, at)
            end = match.end() if match else len(line)
            if line[end : end + 1] not in ("", mark):  # more behind the quotes
                end = line.find(mark, end) % (len(line) + 1)
            spans.append((at, end))
            at = end + 1
        return spans
    for cell in line.split(mark):
        spans.append((at, at + len(cell)))
        at += len(cell) + 1
    return spans


def _value(line: str, start: int, end: int) -> tuple[str, int]:
    cell = line[start:end]
    value = cell.strip(_QUOTES)
    return value, start + cell.find(value)


def _secrets(values: list[Value], name: SecretName, has_users: bool) -> list[Value]:
    """The secrets of a column. Where half of its values look like secrets, all are."""
    values = [value for value in values if " " not in value[0] and not is_placeholder(value[0])]
    sure = [value for value in values if _is_sure(value[0], name)]
    if (has_users and name.is_password) or len(sure) * 2 > len(values):
        sure += [value for value in values if is_password(value[0], literal=True)]
    return sure


def _is_sure(value: str, name: SecretName) -> bool:
    return like_a_password(value) if name.is_password else is_made(value) and is_key(value, True)
