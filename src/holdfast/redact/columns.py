"""Passwords in a column of a table: Markdown, CSV, and what databases print.

The head of the column says what stands below it, in every row.
"""

from __future__ import annotations

from holdfast.redact.rule import compiled
from holdfast.redact.value import is_made_up, like_a_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_ROWS, LONGEST_LINE = 200, 400
_MARKS = ("|", "\t", "\\t", ",", ";")
_CELL_ENDS = r"[\"'`* \t]{0,8}(?:[|,;\t\r\n]|\\[nrt]|\Z)"
# Nothing but the name, and what diffs, quotes and line numbers put before a line.
_HEAD = r"[\s>+#*\"'`/-]{0,20}(?:[0-9]{1,6}→)?[\s\"'`*]{0,8}(?:\w{1,20}[ _-])?\Z"


def spans(text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the values below the name from `at` to `end`, if it is the head of a column."""
    if not compiled(_CELL_ENDS).match(text, end):
        return
    line_end = "\n" if "\n" in text[end : end + LONGEST_LINE] else "\\n"
    left = text[max(0, at - LONGEST_LINE) : at].rpartition(line_end)[2]
    right, below, _ = text[end : end + LONGEST_LINE].partition(line_end)
    mark = next((one for one in _MARKS if one in left or one in right), "")
    if below and mark and compiled(_HEAD).match(left.rpartition(mark)[2]):
        row = _Column(line_end, mark, left.count(mark), left.count(mark) + right.count(mark) + 1)
        yield from row.spans(text, end + len(right) + len(line_end))


class _Column:
    """Which cell of a row, and how rows and cells are parted."""

    __slots__ = ("cells", "line_end", "mark", "number")

    def __init__(self, line_end: str, mark: str, number: int, cells: int) -> None:
        self.line_end = line_end
        self.mark = mark
        self.number = number
        self.cells = cells

    def spans(self, text: str, at: int) -> Iterator[tuple[int, int]]:
        for _ in range(MOST_ROWS):
            line, more, _ = text[at : at + LONGEST_LINE].partition(self.line_end)
            cells = line.split(self.mark)
            if len(cells) != self.cells:
                return
            value = cells[self.number].strip("\r \t\"'`*\\")
            if " " not in value and (like_a_password(value) or is_made_up(value)):
                before = sum(len(cell) + len(self.mark) for cell in cells[: self.number])
                start = text.index(value, at + before)
                yield start, start + len(value)
            if not more:
                return
            at += len(line) + len(self.line_end)
