"""Every command prints through here: nothing in an outside text acts on the terminal.

Paths, branches, tasks and names come from anywhere. An escape sequence in one could clear the
screen or forge a line, and a direction override could show a path backwards. So the streams
themselves take such characters out, whichever command prints, and whether or not it remembered.
Colours (`ESC [ … m`) pass.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

REPLACEMENT = "?"
_RANGES = (
    (0x00, 0x08),  # C0 without tab and line end; escape is looked at below
    (0x0B, 0x1A),
    (0x1C, 0x1F),
    (0x7F, 0x9F),  # delete, C1: U+009B alone begins a sequence
    (0x061C, 0x061C),  # marks and overrides of direction
    (0x200E, 0x200F),
    (0x2028, 0x202E),  # line and paragraph separators among them
    (0x2066, 0x2069),
    (0xFEFF, 0xFEFF),
    (0xD800, 0xDFFF),  # half characters: no UTF-8 holds them
    (0xE0000, 0xE007F),  # invisible tags
)
ACTING = {code: REPLACEMENT for first, last in _RANGES for code in range(first, last + 1)}
_OF_COLOURS = frozenset("0123456789;")


def safe(text: str) -> str:
    """The same text with "?" for every character that would act; line ends and tabs stay."""
    if "\x1b" not in text:
        return text.translate(ACTING)
    first, *rest = text.translate(ACTING).split("\x1b")
    return first + "".join(_after_escape(part) for part in rest)


def _after_escape(part: str) -> str:
    if part[:1] == "[":
        for character in part[1:]:
            if character not in _OF_COLOURS:
                return ("\x1b" if character == "m" else REPLACEMENT) + part
    return REPLACEMENT + part


class SafeStream(io.TextIOWrapper):
    """Standard output or error, through `safe`; `raw_stream` is the one it stands for."""

    raw_stream: TextIO

    def write(self, text: str, /) -> int:
        super().write(safe(text))
        return len(text)


@contextmanager
def safe_streams() -> Iterator[None]:
    """Standard output and error are safe inside."""
    before = sys.stdout, sys.stderr
    inside = [_guarded(stream) for stream in before]
    sys.stdout, sys.stderr = inside
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for ours, theirs in zip(inside, before, strict=True):
            if isinstance(ours, SafeStream) and ours is not theirs:
                _let_go(ours)


def own_drawing(stream: TextIO) -> TextIO:
    """The stream below, for what moves the cursor itself and prints only text made safe."""
    return stream.raw_stream if isinstance(stream, SafeStream) else stream


def _guarded(stream: TextIO) -> TextIO:
    if isinstance(stream, SafeStream) or not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    found = SafeStream(
        stream.buffer,
        encoding=stream.encoding,
        errors="replace",  # a terminal that lacks a character shows "?"
        newline="\n",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
    found.raw_stream = stream
    return found


def _let_go(stream: SafeStream) -> None:
    """Without closing what it stands for. What cannot be written (a closed pipe, a full disk) is
    met when that one is flushed."""
    with suppress(OSError, ValueError):
        stream.flush()
    with suppress(OSError, ValueError):
        stream.detach()
