"""Ids. What hooks and transcripts tell gets the same id whenever it is told."""

from __future__ import annotations

import itertools
import random
import uuid

_ORDER = itertools.count()
_OURS = uuid.UUID("6f1d7c1e-6c0b-5c7e-9a55-8f3f1b0a7d42")


def of(kind: str, *parts: str) -> str:
    """The id of a thing told from outside: made of what it is."""
    return str(uuid.uuid5(_OURS, "\x1f".join((kind, *parts))))


def is_told(row_id: str) -> bool:
    """True for one of `of`: hooks and transcripts say how that row stands."""
    return row_id[14:15] == "5"  # a UUID shows its version there


def new() -> str:
    """The id of a row somebody writes."""
    return str(uuid.uuid4())


def in_order(now_ms: int) -> str:
    """As `new`, but those of one process sort as they were made, within a millisecond too."""
    order = next(_ORDER) & 0xFFFF_FFFF
    high = (now_ms & 0xFFFF_FFFF_FFFF) << 16 | 0x7000 | order >> 20
    # not `secrets`: a system call, for which a busy server's threads take turns; 50 µs
    low = 0b10 << 62 | (order & 0xF_FFFF) << 42 | random.getrandbits(42)
    return str(uuid.UUID(int=high << 64 | low))
