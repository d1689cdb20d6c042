"""How full the window is, from the end of the transcript alone.

The newest answer of the main chain states its usage; what was added since is counted in
characters. The hook and the rest both read with this, so there is one number. It looks at the last
64 KB, then four times as far, and gives up after 4 MB: the cost does not grow with the file.
"""

from __future__ import annotations

import os

from holdfast.wire import mark, result_size, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STEPS = (1 << 16, 1 << 18, 1 << 20, 1 << 22)
MOST_TOKENS = 1 << 40  # a larger count is a broken line, not a window
REGULAR = 0o100000
USAGE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)
FRAME_CHARS = 24  # what wraps every block: a tool call's and a result's tags and ids


class Tail:
    """What the end of a transcript says. `basis`: usage, boundary, or none."""

    __slots__ = (
        "added_chars",
        "answer_chars",
        "answer_id",
        "answer_tokens",
        "basis",
        "boundary",
        "call_ids",
        "model",
        "output_is_partial",
        "output_tokens",
        "result_ids",
        "saved_tokens",
        "size",
        "summary_chars",
        "torn",
        "version",
        "whole",
    )

    def __init__(self) -> None:
        self.basis = "none"
        self.answer_id = ""
        self.answer_tokens = 0
        self.output_tokens = 0
        self.output_is_partial = False
        self.answer_chars = 0.0
        self.added_chars = 0.0
        self.summary_chars = 0.0
        self.saved_tokens = 0  # cleared by microcompactions since the answer
        self.call_ids: set[str] = set()
        self.result_ids: set[str] = set()
        self.boundary: dict[str, Any] = {}
        self.model = ""
        self.version = ""
        self.size = 0
        self.whole = False
        self.torn = 0

    def used_tokens(self, density: float, overhead: int, pending_chars: float = 0.0) -> int:
        """Tokens in the window, with characters that are not in the file yet."""
        added = (self.added_chars + pending_chars) / density
        if self.basis == "usage":
            added += self.answer_tokens + self._unreported(density)
        elif self.basis == "boundary":
            added += self._after_boundary(density) + overhead
        return max(0, int(added - self.saved_tokens))

    def _unreported(self, density: float) -> float:
        """Clients before 2.1.59 wrote the output count while the answer still streamed."""
        if not self.output_is_partial:
            return 0.0
        return max(0.0, self.answer_chars / density - self.output_tokens)

    def _after_boundary(self, density: float) -> float:
        post = self.boundary.get("postTokens")
        if type(post) is int and 0 < post < MOST_TOKENS:
            return post
        return self.summary_chars / density

    def states_tokens(self) -> bool:
        """False where the number rests on a guess about text rather than on the client's count.
        What a microcompaction saved is the client's own guess: 5 to 18 % off in real sessions."""
        if self.saved_tokens:
            return False
        if self.basis == "boundary":
            return type(self.boundary.get("postTokens")) is int
        return self.basis == "usage"


def look(path: str, sidechain: bool = False, density: float = mark.CHARS_PER_TOKEN) -> Tail:
    """Read the end of a transcript. A missing or odd file gives an empty tail."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return Tail()
    try:
        status = os.fstat(fd)
        if status.st_mode & 0o170000 != REGULAR:
            return Tail()
        return _look(fd, status.st_size, sidechain, density)
    except OSError:
        return Tail()
    finally:
        os.close(fd)


def _look(fd: int, size: int, sidechain: bool, density: float) -> Tail:
    tail = Tail()
    for step in STEPS:
        start = max(0, size - step)
        tail = Tail()
        tail.size = size
        tail.whole = start == 0
        settled = _walk(_lines(os.pread(fd, step, start), start), tail, sidechain, density)
        if settled or tail.whole:
            break
    return tail


def _lines(data: bytes, start: int) -> list[bytes]:
    """The lines, newest first. The first piece of a cut file is half a line, and is left out."""
    lines = data.split(b"\n")
    if start:
        del lines[0]
    lines.reverse()
    return lines


def _walk(lines: list[bytes], tail: Tail, sidechain: bool, density: float) -> bool:
    """Go back to the start of the newest answer; True when the search is over."""
    loose = _Added()  # lines before the part of the answer seen last: its results, or its input
    for raw in lines:
        kind = _kind(raw)
        if not kind:
            continue
        line = scan.parse_object(raw)
        if not line:
            tail.torn += 1
            continue
        if line.get("type") != kind or (line.get("isSidechain") is True) != sidechain:
            continue
        if kind == "assistant":
            usage = _usage(line)
            if usage is None:
                continue
            if tail.summary_chars:  # client 1.0 wrote no boundary: the summary is one
                return _bound(tail, {}, loose)
            if tail.basis == "usage" and line["message"].get("id") != tail.answer_id:
                return True
            _answer(tail, line, usage, density)
            loose.give(tail)
        elif kind == "system":
            subtype = line.get("subtype")
            if subtype == "microcompact_boundary":
                loose.saved += _saved_tokens(line)
                continue
            if subtype != "compact_boundary":
                continue
            if tail.basis == "usage":
                return True
            metadata = line.get("compactMetadata")
            return _bound(tail, metadata if isinstance(metadata, dict) else {}, loose)
        elif line.get("isCompactSummary") is True:
            if tail.basis == "usage":
                return True
            tail.summary_chars = _content_chars(line, density)
        else:
            loose.take(line, density)
    if tail.basis == "none" and tail.whole:
        if tail.summary_chars:
            return _bound(tail, {}, loose)
        loose.give(tail)
    return tail.basis == "usage" and tail.whole


def _kind(raw: bytes) -> str:
    """A line's kind by a look at its bytes; an escaped quotation can never look like it."""
    if b'"assistant"' in raw and b'"usage"' in raw:
        return "assistant"
    if b'compact_boundary"' in raw:  # or microcompact_boundary
        return "system"
    if b'"user"' in raw:
        return "user"
    return "attachment" if b'"attachment"' in raw else ""


def _usage(line: dict[str, Any]) -> tuple[int, int] | None:
    """(total, output) tokens, or None where the line is no answer of a model."""
    message = line.get("message")
    if not isinstance(message, dict) or message.get("model") == "<synthetic>":
        return None
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) for name in USAGE]
    good = [n if type(n) is int and 0 <= n < MOST_TOKENS else 0 for n in counts]
    total = sum(good)
    return (total, good[3]) if total else None


def _answer(tail: Tail, line: dict[str, Any], usage: tuple[int, int], density: float) -> None:
    message = line["message"]
    if tail.basis != "usage":
        tail.basis = "usage"
        tail.answer_id = scan.text_of(message, "id")
        tail.answer_tokens, tail.output_tokens = usage
        tail.output_is_partial = message.get("stop_reason", "") is None
        tail.model = scan.text_of(message, "model")
        tail.version = scan.text_of(line, "version")
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            if block.get("type") == "tool_use":
                tail.call_ids.add(scan.text_of(block, "id"))
            if tail.output_is_partial:
                tail.answer_chars += answer_chars(block)


def answer_chars(block: dict[str, Any]) -> float:
    """Characters of one block of an answer: words, thoughts, or a call and what it was given."""
    given = block.get("input")
    if isinstance(given, dict):
        return FRAME_CHARS * 2 + sum(len(k) + len(str(v)) + 6 for k, v in given.items())
    words = block.get("thinking") or block.get("text")
    return len(words) if isinstance(words, str) else 0


def _saved_tokens(line: dict[str, Any]) -> int:
    """What a microcompaction cleared: old tool results; the conversation goes on."""
    metadata = line.get("microcompactMetadata")
    saved = metadata.get("tokensSaved") if isinstance(metadata, dict) else None
    return saved if type(saved) is int and 0 < saved < MOST_TOKENS else 0


def _bound(tail: Tail, metadata: dict[str, Any], loose: _Added) -> bool:
    tail.basis = "boundary"
    tail.boundary = metadata
    loose.give(tail)
    return True


def _content_chars(line: dict[str, Any], density: float) -> float:
    message = line.get("message")
    return (
        result_size.text_chars(message.get("content"), density) if isinstance(message, dict) else 0
    )


class _Added:
    """Characters the model will read next, which results they are, and tokens cleared since."""

    __slots__ = ("chars", "result_ids", "saved")

    def __init__(self) -> None:
        self.chars = 0.0
        self.result_ids: set[str] = set()
        self.saved = 0

    def take(self, line: dict[str, Any], density: float) -> None:
        if line["type"] == "attachment":
            self.chars += _rendered_chars(line)
            return
        self.chars += _content_chars(line, density)
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                self.chars += FRAME_CHARS
                self.result_ids.add(scan.text_of(block, "tool_use_id"))

    def give(self, tail: Tail) -> None:
        tail.added_chars += self.chars
        tail.result_ids |= self.result_ids
        tail.saved_tokens += self.saved
        self.chars = 0.0
        self.result_ids = set()
        self.saved = 0


def _rendered_chars(line: dict[str, Any]) -> float:
    rendered = line.get("rendered")
    if not isinstance(rendered, list):
        return 0
    return sum(len(scan.text_of(part, "content")) for part in rendered if isinstance(part, dict))
