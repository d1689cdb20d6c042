"""Read how full the window is from the end of the transcript.

The newest answer of the main chain states its usage; text added after it is counted in characters.
The hook and all other code use this module, so they report the same number. It reads the last
64 KB, then four times as much, up to 4 MB: the cost does not grow with the file.
"""

from __future__ import annotations

import os

from holdfast.wire import mark, places, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from holdfast.wire import codex, copilot

    Translator = codex.CodexTranslator | copilot.CopilotTranslator

READ_BYTES = (1 << 16, 1 << 18, 1 << 20, 1 << 22)  # each is tried if the one before was too short
MOST_TOKENS = 1 << 40  # a larger count comes from a damaged line
USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
FRAME_CHARS = 24  # the tags and ids around a tool call or a result
# How the logs of other agents are named, and the words of a summary that its agent encrypts.
CODEX_LOGS = "rollout-"
COPILOT_FOLDER, COPILOT_LOG = "session-state", "events.jsonl"
ENCRYPTED = "(The client keeps this summary encrypted: its words cannot be read.)"
CUT_CHARS = 30_000  # the client cuts a longer output
PREVIEW_CHARS = 2_240  # or it writes the output to a file, and shows 2 KB and the path
IMAGE_TOKENS = 1_600  # of an image as large as a screen
LINE_NUMBER_CHARS = 7  # "    12" and an arrow
SHORT_CHARS = 60  # "Task #1 created …", "Todos have been modified …"
MOST_DEPTH = 40  # of nested values


class Tail:
    """What the end of a transcript says. `basis` tells where the number of tokens comes from:
    "usage" (the newest answer), "boundary" (a compaction after it) or "none"."""

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
        self.window_tokens = 0  # where the client states it
        self.size = 0
        self.is_whole_file = False
        self.torn_lines = 0

    def used_tokens(self, density: float, overhead: int, pending_chars: float = 0.0) -> int:
        """Return the tokens in the window. `pending_chars` are not in the file yet."""
        added = (self.added_chars + pending_chars) / density
        if self.basis == "usage":
            added += self.answer_tokens + self._missing_output_tokens(density)
        elif self.basis == "boundary":
            added += self._tokens_after_boundary(density) + overhead
        return max(0, int(added - self.saved_tokens))

    def _missing_output_tokens(self, density: float) -> float:
        """The output tokens that the usage lacks: before 2.1.59 it was written while streaming."""
        if not self.output_is_partial:
            return 0.0
        return max(0.0, self.answer_chars / density - self.output_tokens)

    def _tokens_after_boundary(self, density: float) -> float:
        post = self.boundary.get("postTokens")
        if type(post) is int and 0 < post < MOST_TOKENS:
            return post
        return self.summary_chars / density

    def is_counted_by_client(self) -> bool:
        """Whether the client counted the tokens; what a microcompaction saved is its estimate."""
        if self.saved_tokens:
            return False
        if self.basis == "boundary":
            return type(self.boundary.get("postTokens")) is int
        return self.basis == "usage"


def read(path: str, sidechain: bool = False, density: float = mark.CHARS_PER_TOKEN) -> Tail:
    """Read the end of a transcript. Return an empty tail if it is no readable, regular file."""
    try:
        fd = places.open_regular(path)
    except (OSError, ValueError):
        return Tail()
    try:
        return _read(fd, os.fstat(fd).st_size, sidechain, density, path)
    except OSError:
        return Tail()
    finally:
        os.close(fd)


def find_log(session_id: str) -> str:
    """Find Copilot's log of a session, which most events do not name; empty if there is none."""
    home = os.environ.get("COPILOT_HOME") or os.path.expanduser("~/.copilot")
    path = f"{home}/{COPILOT_FOLDER}/{session_id}/{COPILOT_LOG}"
    return path if session_id and "/" not in session_id and os.path.exists(path) else ""


def is_codex(path: str) -> bool:
    return path.rpartition("/")[2].startswith(CODEX_LOGS)


def is_copilot(path: str) -> bool:
    parts = path.rsplit("/", 3)
    return parts[-1] == COPILOT_LOG and parts[-3:-2] == [COPILOT_FOLDER]


def translator_for(path: str) -> Translator | None:
    """What translates the lines of another agent into Claude Code's; None for its own."""
    if is_codex(path):
        from holdfast.wire.codex import CodexTranslator

        return CodexTranslator()
    if is_copilot(path):
        from holdfast.wire.copilot import CopilotTranslator

        return CopilotTranslator()
    return None


def _read(fd: int, size: int, sidechain: bool, density: float, path: str) -> Tail:
    tail = Tail()
    for count in READ_BYTES:
        start = max(0, size - count)
        tail = Tail()
        tail.size = size
        tail.is_whole_file = start == 0
        raw = _split_lines(os.pread(fd, count, start), start)
        other = translator_for(path)
        lines = _translated(raw, tail, other) if other else _parsed(raw, tail)
        is_found = _read_back(lines, tail, sidechain, density)
        if is_found or tail.is_whole_file:
            break
    return tail


def _split_lines(data: bytes, start: int) -> list[bytes]:
    """The lines, newest first. If the data starts inside the file, its first line is left out."""
    lines = data.split(b"\n")
    if start:
        del lines[0]
    lines.reverse()
    return lines


def _parsed(lines: list[bytes], tail: Tail) -> Iterator[dict[str, Any]]:
    for raw in lines:
        kind = _detect_kind(raw)
        line = scan.parse_object(raw) if kind else {}
        tail.torn_lines += bool(kind) and not line
        if line and line.get("type") == kind:
            yield line


def _translated(lines: list[bytes], tail: Tail, translator: Translator) -> list[dict[str, Any]]:
    """Another agent's lines as Claude Code's, newest first, and the window that it states."""
    known: list[dict[str, Any]] = []
    for number in range(len(lines) - 1, -1, -1):
        if lines[number].strip():
            known += translator.lines(scan.parse_object(lines[number]), number)
    calls: set[str] = set()  # since the newest answer was counted
    for line in known:
        tail.window_tokens = line.get("contextWindow") or tail.window_tokens
        if line["type"] == scan.WINDOW:
            if line["usedTokens"]:  # an estimate, after a compaction
                line["type"] = "assistant"
                line["message"] = {"id": "", "usage": {"input_tokens": line["usedTokens"]}}
        elif line["type"] == "assistant":
            message = line["message"]
            calls |= {block["id"] for block in message["content"] if "id" in block}
            if message.get("usage"):
                tail.call_ids, calls = calls, set()
    tail.call_ids |= calls
    known.reverse()
    return known


def _read_back(
    lines: Iterable[dict[str, Any]], tail: Tail, sidechain: bool, density: float
) -> bool:
    """Read back to the start of the newest answer; return False if more lines are needed. An answer
    has one line per block, with tool results between them. Lines after its first block are added
    text. Lines before it are its input, and its usage already counts them."""
    added = _Added()  # moved to the tail once a block of the answer is found before it
    for line in lines:
        kind = line["type"]
        if (line.get("isSidechain") is True) != sidechain:
            continue
        if kind == "assistant":
            usage = _read_usage(line)
            if usage is None:
                continue
            if tail.summary_chars:  # client 1.0 wrote no boundary: the summary marks it
                return _end_at_boundary(tail, {}, added)
            if tail.basis == "usage" and line["message"].get("id") != tail.answer_id:
                return True
            _read_answer(tail, line, usage, density)
            added.move_to(tail)
        elif kind == "system":
            subtype = line.get("subtype")
            if subtype == "microcompact_boundary":
                added.saved += _saved_tokens(line)
                continue
            if subtype != "compact_boundary":
                continue
            if tail.basis == "usage":
                return True
            metadata = line.get("compactMetadata")
            return _end_at_boundary(tail, metadata if isinstance(metadata, dict) else {}, added)
        elif kind not in ("user", "attachment"):
            continue
        elif line.get("isCompactSummary") is True:
            if tail.basis == "usage":
                return True
            tail.summary_chars = _count_content_chars(line, density)
        else:
            added.add(line, density)
    if tail.basis == "none" and tail.is_whole_file:
        if tail.summary_chars:
            return _end_at_boundary(tail, {}, added)
        added.move_to(tail)
    return tail.basis == "usage" and tail.is_whole_file


def _detect_kind(raw: bytes) -> str:
    """A line's probable kind, unparsed. Quoted JSON is told by its escaped quotes."""
    if b'"assistant"' in raw and b'"usage"' in raw:
        return "assistant"
    if b'compact_boundary"' in raw:  # or microcompact_boundary
        return "system"
    if b'"user"' in raw:
        return "user"
    return "attachment" if b'"attachment"' in raw else ""


def _read_usage(line: dict[str, Any]) -> tuple[int, int] | None:
    """Return (total, output) tokens, or None if the line is not an answer of a model."""
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


def _read_answer(tail: Tail, line: dict[str, Any], usage: tuple[int, int], density: float) -> None:
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
                tail.answer_chars += count_answer_chars(block)


def count_answer_chars(block: dict[str, Any]) -> float:
    """Count the characters of one block of an answer: text, thinking, or a call with its input."""
    given = block.get("input")
    if isinstance(given, dict):
        return FRAME_CHARS * 2 + sum(len(k) + len(str(v)) + 6 for k, v in given.items())
    words = block.get("thinking") or block.get("text")
    return len(words) if isinstance(words, str) else 0


def _saved_tokens(line: dict[str, Any]) -> int:
    """Return how many tokens a microcompaction cleared. It removes old tool results only."""
    metadata = line.get("microcompactMetadata")
    saved = metadata.get("tokensSaved") if isinstance(metadata, dict) else None
    return saved if type(saved) is int and 0 < saved < MOST_TOKENS else 0


def _end_at_boundary(tail: Tail, metadata: dict[str, Any], added: _Added) -> bool:
    tail.basis = "boundary"
    tail.boundary = metadata
    added.move_to(tail)
    return True


def _count_content_chars(line: dict[str, Any], density: float) -> float:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return count_text_chars(content, density)


class _Added:
    """Text added after an answer, its tool results, and what microcompactions cleared."""

    def __init__(self) -> None:
        self.chars = 0.0
        self.result_ids: set[str] = set()
        self.saved = 0

    def add(self, line: dict[str, Any], density: float) -> None:
        """Add a line of the user, a tool or the client."""
        if line["type"] == "attachment":
            self.chars += _count_rendered_chars(line)
            return
        self.chars += _count_content_chars(line, density)
        message = line.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                self.chars += FRAME_CHARS
                self.result_ids.add(scan.text_of(block, "tool_use_id"))

    def move_to(self, tail: Tail) -> None:
        """Add everything to the tail, and start again from zero."""
        tail.added_chars += self.chars
        tail.result_ids |= self.result_ids
        tail.saved_tokens += self.saved
        self.chars = 0.0
        self.result_ids = set()
        self.saved = 0


def _count_rendered_chars(line: dict[str, Any]) -> float:
    rendered = line.get("rendered")
    if not isinstance(rendered, list):
        return 0
    return sum(len(scan.text_of(part, "content")) for part in rendered if isinstance(part, dict))


def count_text_chars(content: Any, density: float, depth: int = 0) -> float:
    """Count the characters of message content: a string, or blocks of text, results and images."""
    if isinstance(content, str):
        return len(content)
    if not isinstance(content, list) or depth > MOST_DEPTH:
        return 0
    return sum(_count_block_chars(block, density, depth + 1) for block in content)


def _count_block_chars(block: Any, density: float, depth: int) -> float:
    if isinstance(block, str):
        return len(block)
    if not isinstance(block, dict):
        return 0
    kind = block.get("type")
    if kind in ("image", "document"):
        return IMAGE_TOKENS * density
    if kind == "tool_result":
        return count_text_chars(block.get("content"), density, depth)
    text = block.get("text")
    return len(text) if isinstance(text, str) else 0


def count_response_chars(response: Any, density: float) -> float:
    """Count the characters of a `tool_response` as the model will see it. Compared with recorded
    sessions: exact for Bash and Grep, off by the line numbers at most for Read."""
    if isinstance(response, str):
        return min(len(response), CUT_CHARS)
    if not isinstance(response, dict):
        return count_text_chars(response, density)
    if response.get("persistedOutputPath"):
        return PREVIEW_CHARS
    if response.get("isImage"):
        return IMAGE_TOKENS * density
    if "stdout" in response:
        return min(_count_strings([response["stdout"], response.get("stderr")], 0), CUT_CHARS)
    if "file" in response:
        return _count_file_chars(response, density)
    if "filePath" in response:  # "The file … has been updated successfully."
        return 50 + _count_strings(response["filePath"], 0)
    if "filenames" in response:
        names = response["filenames"]
        count = len(names) if isinstance(names, list) else 0
        return min(_count_strings([response.get("content"), names], 0) + count, CUT_CHARS)
    if "task" in response or "taskId" in response or "newTodos" in response:
        return SHORT_CHARS
    if "content" in response:
        return count_text_chars(response["content"], density)
    return min(_count_strings(response, 0), CUT_CHARS)


def _count_file_chars(response: dict[str, Any], density: float) -> float:
    file = response["file"]
    if not isinstance(file, dict) or response.get("type") not in (None, "text"):
        return IMAGE_TOKENS * density
    content = scan.text_of(file, "content")
    lines = file.get("numLines")
    count = lines if type(lines) is int and 0 <= lines <= len(content) + 1 else 0
    return len(content) + LINE_NUMBER_CHARS * count


def _count_strings(value: Any, depth: int) -> int:
    """Count the characters of all strings in a nested value."""
    if isinstance(value, str):
        return len(value)
    if depth > MOST_DEPTH:
        return 0
    if isinstance(value, dict):
        value = list(value.values())
    return sum(_count_strings(v, depth + 1) for v in value) if isinstance(value, list) else 0
