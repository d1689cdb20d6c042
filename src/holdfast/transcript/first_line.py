"""How a transcript begins: with the session, or in the middle of one that another file began."""

import os

import msgspec

from holdfast.transcript.reader import LONGEST_LINE_BYTES
from holdfast.transcript.source import Source

# A session opens with lines that belong to no conversation: titles of others by the hundred.
MOST_LINES, MOST_BYTES = 5000, 4 << 20


class _Opening(msgspec.Struct, rename="camel"):
    parent_uuid: str | msgspec.UnsetType | None = msgspec.UNSET
    subtype: str | None = None
    is_sidechain: bool = False


def begins_midway(path: str | os.PathLike[str]) -> bool:
    """The first line of the conversation follows a line that this file does not hold. Old clients
    wrote subagents' lines between; a subagent's own file has no others."""
    first: _Opening | None = None
    try:
        with Source(path) as source:  # an archived copy is a gzip
            lines, seen_bytes = source.lines(0, LONGEST_LINE_BYTES), 0
            for _, line in zip(range(MOST_LINES), lines, strict=False):
                opening = _decoded(line)
                if opening and opening.parent_uuid is not msgspec.UNSET:
                    first = first or opening
                    if not opening.is_sidechain:
                        return _follows(opening)
                seen_bytes += len(line)
                if seen_bytes > MOST_BYTES:
                    break
    except (OSError, ValueError):
        return False
    return first is not None and _follows(first)


def _follows(opening: _Opening) -> bool:
    return opening.parent_uuid is not None or opening.subtype == "compact_boundary"


def _decoded(line: bytes) -> _Opening | None:
    try:
        return msgspec.json.decode(line, type=_Opening)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
