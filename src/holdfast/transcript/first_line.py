"""How a transcript begins: with the session, or in the middle of one that another file began."""

import os
from itertools import islice

import msgspec

from holdfast.transcript.reader import LONGEST_LINE_BYTES
from holdfast.transcript.source import Source

MOST_LINES = 50  # a session opens with a few lines that belong to no conversation


class _Opening(msgspec.Struct, rename="camel"):
    parent_uuid: str | msgspec.UnsetType | None = msgspec.UNSET
    subtype: str | None = None


def begins_midway(path: str | os.PathLike[str]) -> bool:
    """The first line of the conversation follows a line that this file does not hold."""
    try:
        with Source(path) as source:  # an archived copy is a gzip
            for line in islice(source.lines(0, LONGEST_LINE_BYTES), MOST_LINES):
                opening = _decoded(line)
                if opening and opening.parent_uuid is not msgspec.UNSET:
                    return opening.parent_uuid is not None or opening.subtype == "compact_boundary"
    except (OSError, ValueError):
        return False
    return False


def _decoded(line: bytes) -> _Opening | None:
    try:
        return msgspec.json.decode(line, type=_Opening)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
