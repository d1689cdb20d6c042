"""Ids. What hooks and transcripts tell gets the same id whenever it is told."""

from __future__ import annotations

import uuid

_OURS = uuid.UUID("6f1d7c1e-6c0b-5c7e-9a55-8f3f1b0a7d42")


def of(kind: str, *parts: str) -> str:
    """The id of a thing told from outside: made of what it is."""
    return str(uuid.uuid5(_OURS, "\x1f".join((kind, *parts))))


def new() -> str:
    """The id of a row somebody writes."""
    return str(uuid.uuid4())


def is_id(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
