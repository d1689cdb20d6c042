"""The spool: one line per event and window, appended by the hook, drained by the warm side.

`v1 ms event used flags tool_use_id tool chars answer_id`: ids, names, sizes and times only;
what was said stays in the transcript. A line is one write of under 512 bytes to a file opened
for appending, so lines of parallel hooks never mix. At 2 MB the spool becomes `spool.1`.
"""

from __future__ import annotations

import os

from holdfast.wire import places

VERSION = "v1"
FIELDS = 9
ROTATE_BYTES = 2 << 20
SHORTEST_LINE = 34  # bytes; lets the warm side say "not before five more lines" in bytes
RECENT_BYTES = 4096
NOTHING = "-"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:")


class Line:
    __slots__ = ("answer_id", "chars", "event", "flags", "ms", "tool", "tool_use_id", "used")

    def __init__(
        self,
        ms: int,
        event: str,
        used: int,
        flags: str = "",
        tool_use_id: str = "",
        tool: str = "",
        chars: int = 0,
        answer_id: str = "",
    ) -> None:
        self.ms = ms
        self.event = event
        self.used = used
        self.flags = flags
        self.tool_use_id = tool_use_id
        self.tool = tool
        self.chars = chars
        self.answer_id = answer_id

    def render(self) -> str:
        return (
            f"{VERSION} {self.ms} {word(self.event)} {self.used} {word(self.flags)} "
            f"{word(self.tool_use_id)} {word(self.tool)} {self.chars} {word(self.answer_id)}\n"
        )


def word(text: str) -> str:
    """One field: never empty, never a blank or a line end, never long."""
    if not text:
        return NOTHING
    if len(text) <= 80 and _PLAIN.issuperset(text):
        return text
    return "".join(c if c in _PLAIN else "?" for c in text[:80])


def parse(data: str) -> Line | None:
    """None for a torn line or one of another version."""
    fields = data.split(" ")
    if len(fields) != FIELDS or fields[0] != VERSION:
        return None
    _, ms, event, used, flags, tool_use_id, tool, chars, answer_id = (
        "" if field == NOTHING else field for field in fields
    )
    if not (ms.isdecimal() and used.isdecimal() and chars.isdecimal()):
        return None
    return Line(int(ms), event, int(used), flags, tool_use_id, tool, int(chars), answer_id)


def append(folder: str, line: Line) -> int:
    """Add a line; the length of the spool after it."""
    path = os.path.join(folder, "spool")
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(folder, 0o700, exist_ok=True)
        fd = os.open(path, flags, 0o600)
    try:
        os.write(fd, line.render().encode("ascii", "replace"))
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def rotate(folder: str) -> None:
    """Called by the warm side, holding the window's lock: bounded at twice ROTATE_BYTES."""
    path = os.path.join(folder, "spool")
    if os.path.exists(path) and os.path.getsize(path) > ROTATE_BYTES:
        os.replace(path, path + ".1")


def lines(folder: str) -> list[Line]:
    """Everything kept, oldest first."""
    older = places.read_small(os.path.join(folder, "spool.1"), ROTATE_BYTES * 2)
    newer = places.read_small(os.path.join(folder, "spool"), ROTATE_BYTES * 2)
    return _parsed(older + newer)


def recent(folder: str) -> list[Line]:
    """The last few lines, for the hook: what parallel calls left behind a moment ago."""
    try:
        fd = os.open(os.path.join(folder, "spool"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        size = os.fstat(fd).st_size
        return _parsed(os.pread(fd, RECENT_BYTES, max(0, size - RECENT_BYTES)))
    finally:
        os.close(fd)


def _parsed(data: bytes) -> list[Line]:
    texts = data.decode("ascii", "replace").split("\n")
    return [line for line in map(parse, texts) if line is not None]
