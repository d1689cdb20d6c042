"""Secrets in a column of a table: CSV, Markdown, what databases and tools print, SQL.

The head of a column says what stands below it, in every row. A table is read in one way: its head
shows how cells are parted (by a sign, or by blanks, so that a cell is known by its place in the
line). Each line below with such cells is a row; lines of dashes are skipped. `columns` judges the
values; `sql_rows` reads what `INSERT` and `COPY` name.
"""

from __future__ import annotations

from holdfast.redact import names
from holdfast.redact.columns import (
    LONGEST_ROW,
    LONGEST_TITLE,
    MOST_WORDS,
    columns_of,
    has_users,
    split_cells,
    telling_name,
)
from holdfast.redact.rule import TABLE_END, SecretFinding, compiled, positions
from holdfast.wire import search_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.redact.columns import Column
    from holdfast.redact.rule import SearchPage

    Span = tuple[int, int]
    Value = tuple[str, int]  # and where it begins

MOST_ODD = 5  # lines in a row that are none: a comment, a cell too many
MOST_QUOTES = 200  # in the first line of a table in JSON
BLANKS = "  "
_BOXES = dict.fromkeys(map(ord, "│┃║"), "|")
_RULER = " \t\r>|+:=-" + "".join(map(chr, range(0x2500, 0x2580)))
# What follows the name in its cell, and what parts it from the next one.
_CELL_ENDS = (
    rf"(?:[_-]?(?:{'|'.join(names.TAILS)}|[0-9]{{1,3}}))?(?:\\?[\"'`*]){{0,8}}"
    r"(?:[ ]{0,200}(?P<mark>\\t|[|,;\t│┃║])|(?P<end>[ ]{0,200}\r?(?:\n|(?:\\{1,3}r)?\\{1,3}n|\Z))"
    r"|(?P<blanks>  ))"
)
_MARK_BEFORE = r"\\t|[|,;\t│┃║]|  "
_CSV_CELL = r"(?:\"[^\"]*+\"|[^\"{mark}]++|\")*+"
_CSV_ROW = r"(?:\"[^\"]*+\"|[^\"\n]++)*+"
_ALIGNED_CELL = r"[^\s|]\S*(?: \S+)*"
# What quotations, diffs and numbered lines have before the first cell.
_MARGIN = r"[ \t>+#-]*(?:[0-9]{1,6}→)?[ \t]*"
_TITLE = r"(?:[\w#][\w .,:#/%()*@?$'-]*)?\Z"
_OF_MANUALS = frozenset(("required", "optional", "string", "default", "description"))
_MARKDOWN = r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*\|"


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    yield from _scan_lines(page)
    words = page.words_low
    if ("values" in words and "into" in words) or ("stdin" in words and "copy" in words):
        from holdfast.redact import sql_rows  # few texts have any

        yield from sql_rows.scan(page)


def _scan_lines(page: SearchPage) -> Iterator[SecretFinding]:
    """Read the table below each name that is the title of a column; each line once per sign."""
    text, done, start, stop, line_end = page.text, 0, -1, -1, ""
    tried: set[tuple[int, str]] = set()
    titles = sorted(_possible_titles(page))
    starts = [at for at, _, _ in titles]
    for at, end, mark in titles:
        search_time.check()
        if at < done:
            continue
        if end > stop:
            line_end, stop = _line_end(text, end)
            start = _line_start(text, at, line_end) if line_end else -1
        if start < 0:
            continue
        mark = mark or _mark_before(text, start, at)
        if (start, mark) not in tried:
            tried.add((start, mark))
            table = LineTable(text, start, mark, line_end, starts)
            if table.read():
                done = table.end
                yield from table.findings()


def _possible_titles(page: SearchPage) -> Iterator[tuple[int, int, str]]:
    """Yield where each name begins that ends its cell, where its cell ends, and the sign behind."""
    for name in names.among(page.words_low, page.foreign_low):
        if name.level != names.SURE:
            continue
        ends = compiled(_CELL_ENDS)
        for at in positions(page.low, name.word):
            match = ends.match(page.low, at + len(name.word))
            if match:
                sign = BLANKS if match["blanks"] else (match["mark"] or "").translate(_BOXES)
                yield at, match.start("end") if match["end"] else match.end(), sign


def _line_end(text: str, end: int) -> tuple[str, int]:
    """Return how the line ends (in JSON by an escape) and where; nothing if no line follows."""
    plain = text.find("\n", end, end + LONGEST_ROW)
    escaped = text.find("\\n", end, plain if plain >= 0 else end + LONGEST_ROW)
    if escaped >= 0:
        return "\\n", escaped
    return ("\n", plain) if plain >= 0 else ("", end + LONGEST_ROW)


def _line_start(text: str, at: int, line_end: str) -> int:
    """Return where the line begins; -1 if it is too long."""
    least = max(0, at - LONGEST_ROW)
    ends = [text.rfind("\n", least, at) + 1]
    if line_end == "\\n":
        escaped = text.rfind("\\n", least, at)
        ends.append(escaped + 2 if escaped >= 0 else 0)
        ends.append(_text_start(text, max(*ends, least), at))
    return max(ends) or (0 if not least else -1)


def _text_start(text: str, least: int, at: int) -> int:
    """Return where the text begins that JSON put in quotes; 0 if it is further away."""
    quote = at
    for _ in range(MOST_QUOTES):
        quote = text.rfind('"', least, quote)
        if quote < 0 or text[quote - 1 : quote] != "\\":
            return quote + 1
    return 0


def _mark_before(text: str, start: int, at: int) -> str:
    """Return the last sign before the name; blanks if there is none."""
    mark = BLANKS
    for match in compiled(_MARK_BEFORE).finditer(text, start, at):
        mark = match[0].translate(_BOXES) if match[0] != BLANKS or mark == BLANKS else mark
    return mark


class LineTable:
    """A table with a row in each line."""

    __slots__ = ("_cells", "_columns", "_has_margin", "_head", "_line_end", "_mark",
                 "_possible_titles", "_start", "_text", "_titles", "end", "is_ruled")  # fmt: skip

    def __init__(
        self, text: str, start: int, mark: str, line_end: str, possible_titles: list[int]
    ) -> None:
        self._possible_titles = possible_titles
        self._text = text
        self._start = start
        self._mark = mark
        self._line_end = line_end
        self._head = self._line(start)
        self._has_margin = bool(_margin(self._head).strip()) and mark != BLANKS
        self._cells = self._parted(self._head)
        self._titles: list[str] = []
        self._columns: list[Column] = []
        self.end = start + len(self._head) + len(line_end)
        self.is_ruled = ""

    def read(self) -> bool:
        """Read the rows; whether there is a column of secrets."""
        below = self._line(self.end)
        self.is_ruled = below if _is_ruler(below) else ""
        if self._mark == BLANKS and self.is_ruled:
            columns = [match.span() for match in compiled("--+").finditer(below)]
            self._cells = columns if len(columns) == len(self._cells) else self._cells
        if not self._is_table(below):
            return False
        self._columns = columns_of(self._titles)
        if self._columns:
            self._read_rows()
        return bool(self._columns)

    def _is_table(self, below: str) -> bool:
        """Whether there are two titles, or one in a frame, and a row or a ruler below."""
        if not (self.is_ruled or self._row_at(self.end)[1]):
            return False
        self._titles = [_value(self._head, *cell, self._line_end)[0] for cell in self._cells]
        count = sum(map(bool, self._titles))
        if count >= 2:
            return self._mark != BLANKS or self._is_clean()
        framed = self._mark == "|" or (self._head[:1] == " " and len(below) > len(self._head) - 1)
        return count == 1 and bool(self.is_ruled) and framed

    def findings(self) -> Iterator[SecretFinding]:
        is_head = self._is_head()
        is_markdown = compiled(_MARKDOWN).match(self.is_ruled) is not None
        words_too = not is_markdown and has_users(self._titles)
        for column in self._columns:
            yield from column.findings(is_head, words_too)

    def _is_head(self) -> bool:
        """Whether the first line has titles, and is no row of a table that began above it."""
        if not self._is_clean():
            return False
        if self._mark == BLANKS:
            return bool(self.is_ruled) or self._head.isupper()
        before = self._line_before(self._start)
        if _is_ruler(before):
            before = self._line_before(self._start - len(before) - len(self._line_end))
        return not before.strip() or self._row(before) is None or self._is_sentence(before)

    def _is_clean(self) -> bool:
        """Whether all cells of the first line can be titles of values. A sentence and code have
        blanks behind a comma; `| password | string | required |` describes a value."""
        if self._mark in ",;" and f"{self._mark} " in self._head:
            return False
        return _OF_MANUALS.isdisjoint(map(str.lower, self._titles)) and all(
            len(title) <= LONGEST_TITLE
            and len(title.split()) <= MOST_WORDS
            and compiled(_TITLE).match(title)
            for title in self._titles
        )

    def _read_rows(self) -> None:
        at, gap, odd = self.end, False, 0
        while at < len(self._text):
            search_time.check()
            line, row = self._row_at(at)
            if (
                row
                and not (gap and self._is_sentence(line))
                and not self._is_other_head(at, line, row)
            ):
                for column in self._columns:
                    value, start = _value(line, *row[column.number], self._line_end)
                    column.add(value, at + start)
                gap, odd = False, 0
            elif not line.strip() and not gap and self._mark != BLANKS:
                gap = True
            elif not _is_ruler(line):
                gap, odd = True, odd + 1
                if line == TABLE_END or odd > MOST_ODD:
                    break
            at += len(line) + len(self._line_end)
            self.end = at if not odd else self.end
            if not self._text.startswith(self._line_end, at - len(self._line_end)):
                break

    def _is_sentence(self, line: str) -> bool:
        return f"{self._mark} " in line and f"{self._mark} " not in self._head

    def _is_other_head(self, at: int, line: str, row: Sequence[Span]) -> bool:
        """Whether another table begins, with its own columns."""
        from bisect import bisect_left

        first = bisect_left(self._possible_titles, at)
        if not any(one < at + len(line) for one in self._possible_titles[first : first + 1]):
            return False
        ours = {column.number for column in self._columns}
        return any(
            number not in ours
            and end - start <= LONGEST_TITLE
            and telling_name(_value(line, start, end, self._line_end)[0])
            for number, (start, end) in enumerate(row)
        )

    def _line(self, at: int) -> str:
        """Return the line that begins here. In JSON it ends with the text it is in."""
        end = self._text.find(self._line_end, at, at + LONGEST_ROW)
        line = self._text[at : end if end >= 0 else at + LONGEST_ROW]
        if self._line_end == "\\n":
            quote = compiled(r'(?<!\\)"|\n').search(line)
            line = line[: quote.start()] if quote else line
        return line if line.isascii() else line.translate(_BOXES)

    def _row_at(self, at: int) -> tuple[str, Sequence[Span] | None]:
        """Return the line and its cells. In quotes a cell may contain line ends."""
        line = self._line(at)
        row = self._row(line)
        if row is None and self._mark in ",;" and line.count('"') % 2:
            lines = compiled(_CSV_ROW).match(self._text, at, at + LONGEST_ROW)
            long_row = self._row(lines[0]) if lines else None
            if lines and long_row:
                return lines[0], long_row
        return line, row

    def _line_before(self, start: int) -> str:
        end = start - len(self._line_end)
        least = max(0, end - LONGEST_ROW)
        before = self._text[least : max(end, 0)].rpartition(self._line_end)[2]
        return before if before.isascii() else before.translate(_BOXES)

    def _parted(self, line: str) -> list[Span]:
        """Return the cells of a line, without what stands before the first one."""
        cells = self._cut(line)
        if self._has_margin and cells:
            cells[0] = min(len(_margin(line)), cells[0][1]), cells[0][1]
        return cells

    def _cut(self, line: str) -> list[Span]:
        if self._mark == BLANKS:
            return [match.span() for match in compiled(_ALIGNED_CELL).finditer(line)]
        if self._mark in ",;" and '"' in line:
            return split_cells(_CSV_CELL.replace("{mark}", self._mark), line)
        spans, at = [], 0
        for cell in line.split(self._mark):
            spans.append((at, at + len(cell)))
            at += len(cell) + len(self._mark)
        return spans

    def _row(self, line: str) -> Sequence[Span] | None:
        """Return the cells of a line; nothing if it is no row of this table."""
        if self._mark == BLANKS:
            return self._aligned(line)
        if _is_ruler(line):
            return None
        cells = self._parted(line)
        if len(cells) == len(self._cells):
            return cells
        if self._mark != "|" or len(cells) < len(self._cells):
            return None
        in_place = all(line[end : end + 1] == "|" for _, end in self._cells[:-1])
        return self._cells if in_place else None  # a value has the sign in it

    def _aligned(self, line: str) -> Sequence[Span] | None:
        """Return what stands below each title, if each word begins below one or is apart."""
        starts = [start for start, _ in self._cells]
        is_row = line.strip() and not _is_ruler(line)
        if len(starts) == 1 and line[:1] != self._head[:1]:  # `(2 rows)`
            return None
        if not is_row or any(line[max(0, at - 1) : at].strip() for at in starts):
            return None
        if len(starts) > 1 and BLANKS not in line.strip() and line[: starts[-1]].strip():
            return None
        return [*zip(starts, [*starts[1:], max(len(line), starts[-1])], strict=True)]


def _margin(line: str) -> str:
    match = compiled(_MARGIN).match(line)
    return match[0] if match else ""


def _is_ruler(line: str) -> bool:
    return bool(line) and not line.strip(_RULER) and bool(compiled("--|==|[─━═]").search(line))


def _value(line: str, start: int, end: int, line_end: str) -> Value:
    """Return the value in a cell, without blanks, quotes and marks of Markdown, and its place."""
    cell = line[start:end]
    if line_end == "\\n":
        cell = cell.removesuffix("\\r")
    value = cell.strip(' \t\r\\"' if line_end == "\\n" else ' \t\r"')
    while len(value) > 2 and value[0] == value[-1] and value[0] in "'`*":
        value = value[1:-1]
    return value, start + (line.find(value, start) - start if value else 0)
