"""A part of a long text: from an offset on, or the lines that hold some words."""

from __future__ import annotations

from typing import NamedTuple

AROUND = 2
LONGEST_LINE = 400


class Piece(NamedTuple):
    """`next_offset` goes on from here; 0: this was the end."""

    text: str
    chars: int  # of the whole
    next_offset: int = 0


def from_offset(text: str, offset: int, most: int) -> Piece:
    """At a line's end if one is near."""
    end = min(len(text), offset + max(1, most))
    if end < len(text):
        line = text.rfind("\n", offset + most // 2, end)
        end = line + 1 if line > 0 else end
    return Piece(text[offset:end], len(text), end if end < len(text) else 0)


def with_words(text: str, words: str, offset: int, most: int) -> Piece:
    """Lines that hold all of the words, numbered, with two lines around each; case is nothing."""
    wanted = words.lower().split()
    lines = text.splitlines()
    hits = [n for n, line in enumerate(lines) if all(word in line.lower() for word in wanted)]
    shown = sorted({near for hit in hits for near in range(hit - AROUND, hit + AROUND + 1)})
    told = [f"{n + 1}: {lines[n][:LONGEST_LINE]}" for n in shown if 0 <= n < len(lines)]
    return from_offset("\n".join(told), offset, most)
