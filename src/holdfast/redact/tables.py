"""Secrets in a column of a table: CSV, Markdown, what databases and tools print, SQL.

The head of a column says what stands below it, in every row. A table is read in one way: its head
shows how cells are parted (by a sign, or by blanks, so that a cell is known by its place in the
line). Each line below with such cells is a row; lines of dashes are skipped, and so are some odd
lines. `columns` judges the values; `sql_rows` reads what `INSERT` and `COPY` name, `html_rows` the
tables of HTML.
"""

from __future__ import annotations

from holdfast.redact import names
from holdfast.redact.columns import (
    CSV_ROW,
    LONGEST_LINE,
    LONGEST_ROW,
    LONGEST_TITLE,
    can_be_titles,
    cell_value,
    columns_of,
    has_users,
    possible_places,
    split_row,
    telling_name,
)
from holdfast.redact.rule import TABLE_END, SecretFinding, compiled, positions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.redact.columns import Column
    from holdfast.redact.rule import SearchPage

    Span = tuple[int, int]

MOST_ODD = 5  # lines one after another that are no rows: a comment, a cell too many
MOST_FAR = 100  # the same; behind more than five, rows are judged by themselves
SPARE_LINES = 2_000  # odd lines of one text that are read although the table may be over
SHORT_LINE = 64  # characters; a longer line counts for several
MOST_QUOTES = 200  # in the first line of a table in JSON
BLANKS = "  "
_BOXES = dict.fromkeys(map(ord, "│┃║"), "|")
_RULER = " \t\r>|+:=-" + "".join(map(chr, range(0x2500, 0x2580)))
# What follows the name in its cell, and what parts it from the next one.
_CELL_ENDS = (
    rf"(?:[_-]?(?:{'|'.join(names.TAILS)}|[0-9]{{1,3}}))?(?:\\?[\"'`*]){{0,8}}"
    r"(?:[ ]{0,200}(?P<mark>\\t|[|,;\t│┃║])|(?P<end>[ ]{0,200}(?:\r|\n|\\{1,3}[rn]|\Z))"
    r"|(?P<blanks>  ))"
)
_LINE_END = r"\n|\\n|\r(?![\r\n])|\\r(?!\\{1,3}[rn])"  # `\r` alone: old tables of a Mac
_MARK_BEFORE = r"\\t|[|,;\t│┃║]|  "
_ALIGNED_CELL = r"[^\s|]\S*(?: \S+)*"
# What quotations, diffs and numbered lines have before the first cell.
_MARGIN = r"[ \t>+#-]*(?:[0-9]{1,6}→)?[ \t]*"
_OTHER_TITLE = r"(?:[^\W\d][\w .#/()-]*)?\Z"
_MARKDOWN = r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*\|"


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    yield from _scan_lines(page)
    words = page.words_low
    if "<td" in page.low:
        from holdfast.redact import html_rows

        yield from html_rows.scan(page)
    if ("values" in words and "into" in words) or ("copy" in words and "std" in words):
        from holdfast.redact import sql_rows  # few texts have any

        yield from sql_rows.scan(page)


def _scan_lines(page: SearchPage) -> Iterator[SecretFinding]:
    """Read the table below each name that is the title of a column. A row of one is no head of
    another."""
    text, done, start, stop, line_end, spare = page.text, 0, -1, -1, "", SPARE_LINES
    tried: set[tuple[int, str]] = set()
    in_rows: set[int] = set()
    titles = sorted(_possible_titles(page))
    starts = [at for at, _, _ in titles]
    for at, end, mark in titles:
        if at in in_rows or (at < done and spare <= 0):
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
            if table.read(spare, is_within=at < done):
                in_rows.update(table.titles_in_rows)
                done = max(done, table.end)
                yield from table.findings()
            spare = table.spare


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
    match = compiled(_LINE_END).search(text, end, end + LONGEST_ROW)
    return (match[0], match.start()) if match else ("", end + LONGEST_ROW)


def _line_start(text: str, at: int, line_end: str) -> int:
    """Return where the line begins; -1 if it is too long."""
    least = max(0, at - LONGEST_ROW)
    ends = [text.rfind("\n", least, at) + 1]
    if line_end != "\n":
        before = text.rfind(line_end, least, at)
        ends.append(before + len(line_end) if before >= 0 else 0)
    if line_end[0] == "\\":
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

    __slots__ = ("_cells", "_columns", "_has_margin", "_head", "_is_escaped", "_is_within",
                 "_line_end", "_mark", "_possible_titles", "_ruler", "_start",
                 "_starts_with_titles", "_text", "_titles", "end", "spare",
                 "titles_in_rows")  # fmt: skip

    def __init__(
        self, text: str, start: int, mark: str, line_end: str, possible_titles: list[int]
    ) -> None:
        self._possible_titles = possible_titles
        self._text = text
        self._start = start
        self._mark = mark
        self._line_end = line_end
        self._is_escaped = line_end[0] == "\\"
        self._head = self._line(start)
        self._has_margin = bool(_margin(self._head).strip()) and mark != BLANKS
        self._cells = self._parted(self._head)
        self._titles: list[str] = []
        self._columns: list[Column] = []
        self.end = start + len(self._head) + len(line_end)
        self._ruler = ""
        self._starts_with_titles = False
        self._is_within = False
        self.titles_in_rows: list[int] = []
        self.spare = 0

    def read(self, spare: int, *, is_within: bool) -> bool:
        """Read the rows; whether there is a column of secrets. `spare` is how many odd lines may be
        read although the table may be over, or if it begins among the rows of another."""
        self.spare, self._is_within = spare, is_within
        below = self._first_below()
        if not below:
            return False
        self._ruler = below if _is_ruler(below) else ""
        if self._mark == BLANKS and self._ruler:
            columns = [match.span() for match in compiled("--+").finditer(below)]
            self._cells = columns if len(columns) == len(self._cells) else self._cells
        self._titles = self._values(self._head, self._cells)
        if not self._is_table(below):
            return False
        self._columns = columns_of(self._titles)
        if self._columns:
            self._starts_with_titles = self._is_head()
            self._read_rows()
        return bool(self._columns)

    def _first_below(self) -> str:
        """Return the first row or ruler. Odd lines may stand before it if all cells of the head can
        be titles."""
        line, row = self._row_at(self.end)
        if row or _is_ruler(line):
            return line
        self._spend(self._head)
        if self.spare <= 0:
            return ""
        self._titles = self._values(self._head, self._cells)
        if not (len(self._titles) > 1 and columns_of(self._titles) and self._is_clean()):
            return ""
        at = self.end
        for _ in range(MOST_FAR):
            at = self._next_line(at, line)
            self._spend(line)
            if at < 0 or self.spare <= 0 or line == TABLE_END:
                break
            line, row = self._row_at(at)
            if _is_ruler(line) or (row and not self._is_sentence(line)):
                return line
        return ""

    def _is_table(self, below: str) -> bool:
        """Whether there are two titles, or one in a frame."""
        count = sum(map(bool, self._titles))
        if count >= 2:
            return self._mark != BLANKS or self._is_clean()
        framed = self._mark == "|" or (self._head[:1] == " " and len(below) > len(self._head) - 1)
        return count == 1 and bool(self._ruler) and framed

    def findings(self) -> Iterator[SecretFinding]:
        is_markdown = compiled(_MARKDOWN).match(self._ruler) is not None
        words_too = not is_markdown and has_users(self._titles)
        for column in self._columns:
            yield from column.findings(self._starts_with_titles, words_too)

    def _is_head(self) -> bool:
        """Whether the first line has titles, and is no row of a table that began above it."""
        if not self._is_clean():
            return False
        if self._mark == BLANKS:
            return bool(self._ruler) or self._head.isupper()
        before = self._line_before(self._start)
        if _is_ruler(before):
            before = self._line_before(self._start - len(before) - len(self._line_end))
        return not before.strip() or self._row(before) is None or self._is_sentence(before)

    def _is_clean(self) -> bool:
        """Whether all cells of the first line can be titles of values. A sentence and code have
        blanks behind a comma."""
        if self._mark in ",;" and f"{self._mark} " in self._head:
            return False
        return can_be_titles(self._titles)

    def _read_rows(self) -> None:
        at, gap, odd, is_far = self.end, False, 0, False
        while 0 <= at < len(self._text):
            line, row = self._row_at(at)
            if not row and len(line) == LONGEST_ROW and not odd:
                line, row = self._row_at(at, LONGEST_LINE)
            if row and not (gap and self._is_sentence(line)):
                self._add_row(at, line, row, is_far)
                gap, odd = False, 0
            elif not line.strip() and not gap and self._mark != BLANKS:
                gap = True
            elif not _is_ruler(line):
                gap, odd = True, odd + 1
                if line == TABLE_END or not self._may_pass(line, odd):
                    break
                is_far = is_far or odd > MOST_ODD
                if not is_far:
                    self._add_odd(at, line)
            at = self._next_line(at, line)

    def _may_pass(self, line: str, odd: int) -> bool:
        """Whether the table may go on behind so many odd lines."""
        if odd <= MOST_ODD and not self._is_within:
            return True
        self._spend(line)
        is_near = odd <= MOST_ODD or (self._starts_with_titles and odd <= MOST_FAR)
        return is_near and self.spare > 0

    def _spend(self, line: str) -> None:
        self.spare -= 1 + len(line) // SHORT_LINE

    def _add_row(self, at: int, line: str, row: Sequence[Span], is_far: bool) -> None:
        self.end = at + len(line)
        titles = self._titles_in(at, self.end)
        self.titles_in_rows += titles
        if titles and self._is_other_head(line, row):
            ours = {column.number for column in self._columns}
            named = columns_of(self._values(line, row))
            self._columns += [column for column in named if column.number not in ours]
            return
        for column in self._columns:
            value, start = cell_value(line, *row[column.number], self._line_end)
            column.add(value, at + start, is_far=is_far)

    def _add_odd(self, at: int, line: str) -> None:
        """Add what an odd line may have in a column of secrets."""
        if self._mark not in line or not self._starts_with_titles:
            return
        cells = self._parted(line)
        for column in self._columns:
            for place in possible_places(column.number, len(cells), len(self._cells)):
                value, start = cell_value(line, *cells[place], self._line_end)
                column.add_doubtful(value, at + start)

    def _is_sentence(self, line: str) -> bool:
        return f"{self._mark} " in line and f"{self._mark} " not in self._head

    def _titles_in(self, start: int, end: int) -> list[int]:
        from bisect import bisect_left

        first = bisect_left(self._possible_titles, start)
        return self._possible_titles[first : bisect_left(self._possible_titles, end, first)]

    def _is_other_head(self, line: str, row: Sequence[Span]) -> bool:
        """Whether the row has titles: it names another column of secrets, all its cells can be
        titles, and what stands in our columns has no digit, as passwords do."""
        ours = {column.number for column in self._columns}
        if not any(
            number not in ours
            and end - start <= LONGEST_TITLE
            and telling_name(cell_value(line, start, end, self._line_end)[0])
            for number, (start, end) in enumerate(row)
        ):
            return False
        values = self._values(line, row)
        return all(compiled(_OTHER_TITLE).match(value) for value in values) and not any(
            compiled(r"\d").search(values[number]) for number in ours
        )

    def _values(self, line: str, cells: Sequence[Span]) -> list[str]:
        return [cell_value(line, *cell, self._line_end)[0] for cell in cells]

    def _next_line(self, at: int, line: str) -> int:
        """Return where the line behind this one begins; -1 if there is none."""
        end = at + len(line)
        if len(line) == LONGEST_ROW:
            rest = self._line(end, LONGEST_LINE)
            end += len(rest)
        return end + len(self._line_end) if self._text.startswith(self._line_end, end) else -1

    def _line(self, at: int, most: int = LONGEST_ROW) -> str:
        """Return the line that begins here. In JSON it ends with the text it is in."""
        end = self._text.find(self._line_end, at, at + most)
        line = self._text[at : end if end >= 0 else at + most]
        if self._is_escaped:
            quote = compiled(r'(?<!\\)"|\n').search(line)
            line = line[: quote.start()] if quote else line
        return line if line.isascii() else line.translate(_BOXES)

    def _row_at(self, at: int, most: int = LONGEST_ROW) -> tuple[str, Sequence[Span] | None]:
        """Return the line and its cells. In quotes a cell may contain line ends."""
        line = self._line(at, most)
        row = self._row(line)
        if row is None and self._mark in ",;" and line.count('"') % 2:
            pattern = CSV_ROW.replace("\\n", "\\r") if self._line_end == "\r" else CSV_ROW
            lines = compiled(pattern).match(self._text, at, at + most)
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
        return split_row(line, self._mark)

    def _row(self, line: str) -> Sequence[Span] | None:
        """Return the cells of a line; nothing if it is no row of this table."""
        if self._mark == BLANKS:
            return self._aligned(line)
        if _is_ruler(line):
            return None
        signs = line.count(self._mark)
        if signs < len(self._cells) - 1 or (
            signs >= len(self._cells) and not self._may_quote(line)
        ):
            return None
        cells = self._parted(line)
        if len(cells) == len(self._cells):
            return cells
        if self._mark != "|" or len(cells) < len(self._cells):
            return None
        in_place = all(line[end : end + 1] == "|" for _, end in self._cells[:-1])
        return self._cells if in_place else None  # a value has the sign in it

    def _may_quote(self, line: str) -> bool:
        """Whether a sign may belong to a value."""
        return self._mark == "|" or (self._mark in ",;" and '"' in line)

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
