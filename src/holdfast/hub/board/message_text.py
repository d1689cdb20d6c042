"""A message as its agent will read it: one line, at most 60 tokens, no secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.redact import redact
from holdfast.text import fence
from holdfast.window import outbox
from holdfast.window.outbox import OutboxEntry

MOST_NAME = 40  # characters of who says it: the words are what matters


def entry_of(row: Mapping[str, Any]) -> OutboxEntry:
    """For an outbox."""
    tag = f"m-{row['id'].replace('-', '')[-12:]}"
    content = row["content"] or {}
    words = content.get("message")
    words = words if isinstance(words, str) else json.dumps(content, ensure_ascii=False)
    whom = "you" if row["to_agent"] is not None else "all agents"
    who = fence.flat(row["from_agent"], MOST_NAME)
    line = f"- [{tag}] {who} to {whom}, {row['topic']}: {redact(words)}"
    text = fence.flat(line, outbox.MOST_CHARS)
    return OutboxEntry(row["id"], tag, text, row["created_ms"], row["expires_ms"])
