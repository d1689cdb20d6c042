"""What the model sees of a long result: its head, its end, and between them what looks wrong.

Pure: a long text in, a short one out. Cut at line ends; a giant line is cut where it must be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HEAD_CHARS, TAIL_CHARS, WRONG_CHARS = 1_200, 1_000, 700
LONGEST_LINE = 240
_WRONG = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|traceback|fail(?:ed|ure|s)?|fatal|panic(?:ked)?|denied|refused|"
    r"undefined|unresolved|segfault|assert(?:ion)?|cannot|could not|not found)\b|^E\s{2,}"
)


def preview(text: str, output_id: str) -> str:
    """Some 3,000 characters that stand for the whole, and say how to get the rest."""
    end, start = _head(text), _tail(text)
    hidden, before = text[end:start], text.count("\n", 0, end)
    last = before + hidden.removesuffix("\n").count("\n") + 1
    said = (
        f"[holdfast: lines {before + 1}-{last} are not shown here, "
        f"{len(hidden):,} of {len(text):,} characters; all are kept as {output_id}. To read on: "
        f'tool expand with id "{output_id}" and find (words) or offset; or '
        f"`holdfast expand {output_id}`]\n"
    )
    wrong = "".join(_wrong(hidden.split("\n"), before + 1))
    gap = "" if text[end - 1 : end] == "\n" else "\n"
    return (
        text[:end] + gap + said + (f"{wrong}[holdfast: the end]\n" if wrong else "") + text[start:]
    )


def _head(text: str) -> int:
    line = text.rfind("\n", HEAD_CHARS // 2, HEAD_CHARS)
    return line + 1 if line >= 0 else HEAD_CHARS


def _tail(text: str) -> int:
    start = len(text) - TAIL_CHARS
    line = text.find("\n", start, start + TAIL_CHARS // 2)
    return line + 1 if line >= 0 else start


def _wrong(hidden: list[str], first: int) -> Iterator[str]:
    """Numbered lines that look like errors, the first of them, as many as fit."""
    room = WRONG_CHARS
    for number, line in enumerate(hidden, first):
        if not _WRONG.search(line[:2_000]):
            continue
        told = f"{number}: {line.strip()[:LONGEST_LINE]}\n"
        room -= len(told)
        if room < 0:
            return
        yield told
