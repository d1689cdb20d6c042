"""The spool: one line per event and window, appended by the hook, read by the rest.

`v2 ms event used flags tool_use_id tool chars answer_id duration`: ids, names, sizes and times
only; what was said stays in the transcript. Version 1 had no duration. A line is one write of
under 512 bytes, so lines of parallel hooks never mix. At 2 MB it becomes `spool.1`.
"""

from __future__ import annotations

import os

from holdfast.wire import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VERSION = "v2"
FIELDS = {"v1": 9, "v2": 10}
ROTATE_BYTES = 2 << 20
SHORTEST_LINE = 36  # bytes; so that "not before five more lines" can be said in bytes
RECENT_BYTES = 4096
STOP_BYTES = 64 << 10  # looked at for agents and failures before a turn ends
OPERATIONS = 10  # an older failure no longer holds up a stop
LIVE_MS = 6 * 3_600_000  # an agent that never reported its end is not waited for any longer
NOTHING = "-"
LONGEST_ID = 36  # a uuid
ID_STARTS = ("toolu_", "srvtoolu_", "msg_", "call_", "chatcmpl-")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:")


class SpoolLine:
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
        duration_ms: int = 0,
    ) -> None:
        self.ms = ms
        self.event = event
        self.used = used
        self.flags = flags
        self.tool_use_id = tool_use_id
        self.tool = tool
        self.chars = chars
        self.answer_id = answer_id
        self.duration_ms = duration_ms  # 0: not told

    def tells_fill(self) -> bool:
        """The count is of a whole window: before the first answer it is not."""
        return self.used > 0 and not self.flags.startswith(("agent", "compacting", "none"))

    def render(self) -> str:
        return (
            f"{VERSION} {self.ms} {word(self.event)} {self.used} {word(self.flags)} "
            f"{ident(self.tool_use_id)} {word(self.tool)} {self.chars} {ident(self.answer_id)} "
            f"{self.duration_ms}\n"
        )


def word(text: str) -> str:
    """One field: not empty, without blanks and line ends, and short."""
    if not text:
        return NOTHING
    if len(text) <= 80 and _PLAIN.issuperset(text):
        return text
    return "".join(c if c in _PLAIN else "?" for c in text[:80])


def ident(text: str) -> str:
    """A client's id as it is; anything else as a checksum, because it could hold anything."""
    if len(text) <= LONGEST_ID or text.startswith(ID_STARTS):
        known = word(text)
        if known == text or not text:
            return known
    from zlib import crc32

    return f"sum-{crc32(text.encode('utf-8', 'surrogatepass')):08x}-{len(text)}"


def parse(data: str) -> SpoolLine | None:
    """None for a torn line or one of another version."""
    fields = data.split(" ")
    if len(fields) != FIELDS.get(fields[0]):
        return None
    _, ms, event, used, flags, tool_use_id, tool, chars, answer_id, duration = (
        "" if field == NOTHING else field for field in (*fields, "0")[:10]
    )
    if not all(n.isdecimal() and len(n) < 18 for n in (ms, used, chars, duration)):
        return None
    numbers = int(chars), answer_id, int(duration)
    return SpoolLine(int(ms), event, int(used), flags, tool_use_id, tool, *numbers)


def append(folder: str, line: SpoolLine) -> int:
    """Append a line; returns the length of the spool after it."""
    return places.append(os.path.join(folder, "spool"), line.render().encode("ascii", "replace"))


def rotate(folder: str) -> int:
    """Rotate a spool that is too long; returns its length. The caller holds the lock."""
    path = os.path.join(folder, "spool")
    size = os.path.getsize(path) if os.path.exists(path) else 0
    if size <= ROTATE_BYTES:
        return size
    os.replace(path, path + ".1")
    return 0


def lines(folder: str) -> list[SpoolLine]:
    older = places.read_small(os.path.join(folder, "spool.1"), ROTATE_BYTES * 2)
    newer = places.read_small(os.path.join(folder, "spool"), ROTATE_BYTES * 2)
    return _parse(older) + _parse(newer)


def recent(folder: str, last_bytes: int = RECENT_BYTES) -> list[SpoolLine]:
    """The last few lines, as parallel calls left them; none if it is not a plain file."""
    try:
        fd = places.open_regular(os.path.join(folder, "spool"))
    except OSError:
        return []
    try:
        size = os.fstat(fd).st_size
        return _parse(os.pread(fd, last_bytes, max(0, size - last_bytes)))
    finally:
        os.close(fd)


def running_agents(lines: Iterable[SpoolLine], now_ms: int) -> dict[str, str]:
    """Agents that started and have not stopped, with their type; none after a new start."""
    running: dict[str, SpoolLine] = {}
    for line in lines:
        if line.event == "SubagentStart":
            running[line.tool_use_id] = line
        elif line.event == "SubagentStop":
            running.pop(line.tool_use_id, None)
        elif line.event == "SessionStart" and not line.flags.startswith("compacting"):
            running.clear()
    return {
        tool_use_id: line.tool
        for tool_use_id, line in running.items()
        if now_ms - line.ms < LIVE_MS
    }


def failed_tools(lines: Sequence[SpoolLine]) -> list[str]:
    answers = dict.fromkeys(line.answer_id for line in lines if line.tool_use_id and line.answer_id)
    recent = set(list(answers)[-OPERATIONS:])
    last: dict[str, str] = {}
    for line in lines:
        if line.event.startswith("PostToolUse") and line.answer_id in recent:
            last[line.tool] = line.event
    return [tool for tool, event in last.items() if event == "PostToolUseFailure"]


def _parse(data: bytes) -> list[SpoolLine]:
    """The whole lines: text after the last line end was cut short."""
    texts = data.decode("ascii", "replace").split("\n")[:-1]
    return [line for line in map(parse, texts) if line is not None]
