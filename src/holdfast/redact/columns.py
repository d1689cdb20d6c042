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


# How rows and cells are parted, which cell, of how many.
_Shape = tuple[str, str, int, int]


def spans(text: str, at: int, end: int, read_until: dict[_Shape, int]) -> Iterator[tuple[int, int]]:
    """Yield the values below the name from `at` to `end`, if it is the head of a column.
    `read_until` says up to where columns of each shape were read: a cell below a head may look
    like a head itself, and each row is read only once."""
    if not compiled(_CELL_ENDS).match(text, end):
        return
    line_end = "\n" if "\n" in text[end : end + LONGEST_LINE] else "\\n"
    left = text[max(0, at - LONGEST_LINE) : at].rpartition(line_end)[2]
    right, below, _ = text[end : end + LONGEST_LINE].partition(line_end)
    mark = next((one for one in _MARKS if one in left or one in right), "")
    if below and mark and compiled(_HEAD).match(left.rpartition(mark)[2]):
        shape = line_end, mark, left.count(mark), left.count(mark) + right.count(mark) + 1
        start = max(end + len(right) + len(line_end), read_until.get(shape, 0))
        for row, span in _rows(text, start, shape):
            read_until[shape] = row
            if span:
                yield span


def _rows(text: str, at: int, shape: _Shape) -> Iterator[tuple[int, tuple[int, int] | None]]:
    """Yield the end of each row, and where the password in it stands."""
    line_end, mark, number, count = shape
    for _ in range(MOST_ROWS):
        line, more, _ = text[at : at + LONGEST_LINE].partition(line_end)
        cells = line.split(mark)
        if len(cells) != count:
            return
        after = at + len(line) + len(line_end)
        value = cells[number].strip("\r \t\"'`*\\")
        if " " not in value and (like_a_password(value) or is_made_up(value)):
            before = sum(len(cell) + len(mark) for cell in cells[:number])
            start = text.index(value, at + before)
            yield after, (start, start + len(value))
        else:
            yield after, None
        if not more:
            return
        at = after
