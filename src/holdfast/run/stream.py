"""What a running Claude Code reports line by line: how full its window is, and its result.

The format is not ours: lines that do not fit are ignored.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from holdfast.redact import redact
from holdfast.run.supervisor import not_done, why_not
from holdfast.text import fence

USAGE = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)
MAX_QUOTE_CHARS = 500
MAX_NAMED = 20


@dataclass(slots=True)
class StreamReading:
    """What a session has reported so far. `first_tokens`: its window before any work;
    `most_tokens`: its window at its fullest."""

    first_tokens: int = 0
    most_tokens: int = 0
    now_tokens: int = 0
    compactions: int = 0
    result: str = ""
    words: str = ""  # the result's text, sanitized and short, from the reason on if it gives one
    not_done: tuple[str, ...] = ()  # the tasks it names as not done, sanitized and short
    waits_for: str = ""  # why there is no answer, and how often it was tried; empty after an answer

    @property
    def grown_tokens(self) -> int:
        return max(0, self.most_tokens - self.first_tokens)

    def hear(self, line: bytes) -> bool:
        """Read one line; true if it reports how full the window is."""
        event = _event(line)
        kind = event.get("type")
        if kind == "system" and event.get("subtype") == "compact_boundary":
            self.compactions += 1
        if kind == "system" and event.get("subtype") == "api_retry":
            self.waits_for = _waits_for(event)
        if kind == "result":
            self.result = str(event.get("subtype", ""))
            words = _words(event)
            self.words = quote(why_not(words)) or quote(words)
            self.not_done = tuple(map(quote, not_done(words)[:MAX_NAMED]))
        if kind != "assistant" or event.get("parent_tool_use_id"):
            return False  # a subagent has a window of its own
        return self._take(_tokens(event))

    def _take(self, tokens: tuple[int, int]) -> bool:
        total, sent = tokens
        if not total:
            return False
        self.first_tokens = self.first_tokens or sent
        self.now_tokens, self.waits_for = total, ""
        self.most_tokens = max(self.most_tokens, total)
        return True


def quote(text: str) -> str:
    """Foreign text on one line, without secrets and control characters."""
    return fence.flat(redact(text[: MAX_QUOTE_CHARS * 8]), MAX_QUOTE_CHARS)


def quote_end(text: str) -> str:
    """The end of an error text, where the cause usually is."""
    words = fence.flat(redact(text), len(text) + 1)
    return words if len(words) <= MAX_QUOTE_CHARS else f"… {words[-MAX_QUOTE_CHARS:].lstrip()}"


def _words(event: dict[str, Any]) -> str:
    """The answer, or the client's error if there is none."""
    errors = event.get("errors")
    listed = "; ".join(map(str, errors)) if isinstance(errors, list) else ""
    return str(event.get("result") or event.get("error") or listed)


def _waits_for(event: dict[str, Any]) -> str:
    status, error = event.get("error_status"), quote(str(event.get("error") or ""))
    what = f"the API answered {status}" if type(status) is int else "the API does not answer"
    why = f" ({error})" if error not in ("", "unknown") else ""
    tries = f"{event.get('attempt', '?')!s:.4} of {event.get('max_retries', '?')!s:.4}"
    return f"{what}{why}; Claude Code tries again, {tries}"


def _event(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _tokens(event: dict[str, Any]) -> tuple[int, int]:
    """The tokens in the window after one answer, and how many of them were sent."""
    message = event.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if not isinstance(usage, dict):
        return 0, 0
    numbers = [usage.get(name) for name in USAGE]
    known = [n if type(n) is int and 0 <= n < 1 << 40 else 0 for n in numbers]
    return sum(known), sum(known[:3])
