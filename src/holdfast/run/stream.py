"""What a running client tells of itself, line by line: how full its window is, and its result.

The format is not ours: what does not fit is passed over.
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
MOST_WORDS = 500
MOST_NAMED = 20


@dataclass(slots=True)
class Heard:
    """`first_tokens`: its window before it did anything; `most_tokens`: at its fullest."""

    first_tokens: int = 0
    most_tokens: int = 0
    now_tokens: int = 0
    compactions: int = 0
    result: str = ""
    words: str = ""  # of the result, clean and short; from the reason on, where it gives one
    not_done: tuple[str, ...] = ()  # what it names so, clean and short
    waits_for: str = ""  # why it has no answer, and how often it was tried; empty once it has one

    @property
    def grown_tokens(self) -> int:
        return max(0, self.most_tokens - self.first_tokens)

    def hear(self, line: bytes) -> bool:
        """True if it told how full its window is."""
        event = _event(line)
        kind = event.get("type")
        if kind == "system" and event.get("subtype") == "compact_boundary":
            self.compactions += 1
        if kind == "system" and event.get("subtype") == "api_retry":
            self.waits_for = _waits_for(event)
        if kind == "result":
            self.result = str(event.get("subtype", ""))
            words = _words(event)
            self.words = quoted(why_not(words)) or quoted(words)
            self.not_done = tuple(map(quoted, not_done(words)[:MOST_NAMED]))
        if kind != "assistant" or event.get("parent_tool_use_id"):
            return False  # a subagent's window is its own
        return self._take(_tokens(event))

    def _take(self, tokens: tuple[int, int]) -> bool:
        total, sent = tokens
        if not total:
            return False
        self.first_tokens = self.first_tokens or sent
        self.now_tokens, self.waits_for = total, ""
        self.most_tokens = max(self.most_tokens, total)
        return True


def quoted(text: str) -> str:
    """Anyone's words, on one line, without secrets, and nothing in them that acts."""
    return fence.flat(redact(text[: MOST_WORDS * 8]), MOST_WORDS)


def quoted_end(text: str) -> str:
    """The same of errors, of which the last words tell most."""
    words = fence.flat(redact(text), len(text) + 1)
    return words if len(words) <= MOST_WORDS else f"… {words[-MOST_WORDS:].lstrip()}"


def _words(event: dict[str, Any]) -> str:
    """The answer; where there is none, what the client says of why."""
    errors = event.get("errors")
    listed = "; ".join(map(str, errors)) if isinstance(errors, list) else ""
    return str(event.get("result") or event.get("error") or listed)


def _waits_for(event: dict[str, Any]) -> str:
    status, error = event.get("error_status"), quoted(str(event.get("error") or ""))
    what = f"the API answered {status}" if type(status) is int else "the API does not answer"
    why = f" ({error})" if error not in ("", "unknown") else ""
    tries = f"{event.get('attempt', '?')!s:.4} of {event.get('max_retries', '?')!s:.4}"
    return f"{what}{why}; the client tries again, {tries}"


def _event(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _tokens(event: dict[str, Any]) -> tuple[int, int]:
    """All of the window at one answer, and what of it was sent."""
    message = event.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    if not isinstance(usage, dict):
        return 0, 0
    numbers = [usage.get(name) for name in USAGE]
    known = [n if type(n) is int and 0 <= n < 1 << 40 else 0 for n in numbers]
    return sum(known), sum(known[:3])
