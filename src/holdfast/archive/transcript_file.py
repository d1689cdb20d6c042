"""One archived transcript: a gzip that any tool can read, and a header that says what it holds.

The header is an extra field of an empty first gzip member. So one rename replaces words and header
together, and a transcript that grew is one more member behind those that are there.
"""

from __future__ import annotations

import json
import zlib
from typing import NamedTuple

from holdfast.wire import places

VERSION = 1
ENDING = ".jsonl.gz"
MOST_HEADER = 60_000
MOST_FILE = 2 << 30
GZIP_MAGIC = b"\x1f\x8b\x08"  # as in transcript/, which a search by words alone does not load
_HAS_EXTRA = 4
_NAME = b"HF"
_FIXED = 16  # ten bytes of gzip, the length of all extra fields, our name, the length of ours
_EMPTY = b"\x03\x00" + bytes(8)  # a deflate stream of nothing, its checksum and length


class About(NamedTuple):
    """What a header says. `source_bytes` of the client's file are in it; `sign` tells whether that
    file only grew since. `told` are the lines there that told a secret with its name."""

    source: str
    session_id: str
    agent_id: str = ""
    project: str = ""
    asked: str = ""  # the first words of the user, secrets out
    lines: int = 0
    left_out: int = 0  # lines too long to be read
    source_bytes: int = 0
    changed_ns: int = 0
    sign: str = ""
    told: tuple[int, ...] = ()


def header(about: About) -> bytes:
    """The empty first member; too many `told` lines are left out, and then all is read anew."""
    data = _encoded(about)
    if len(data) > MOST_HEADER:
        data = _encoded(about._replace(told=(), sign=""))
    lengths = (len(data) + 4).to_bytes(2, "little"), len(data).to_bytes(2, "little")
    start = GZIP_MAGIC + bytes([_HAS_EXTRA, 0, 0, 0, 0, 0, 255])
    return start + lengths[0] + _NAME + lengths[1] + data + _EMPTY


def packing() -> zlib._Compress:
    """Makes one member of a gzip."""
    return zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)


def about(path: str) -> About | None:
    """None for a file that is not there, or is none of ours."""
    data, length = _header_of(places.read_small(path, _FIXED + MOST_HEADER))
    try:
        found = json.loads(data[_FIXED : _FIXED + length])
        if found.pop("version") != VERSION:
            return None
        found["told"] = tuple(int(line) for line in found["told"])
        return About(**found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def members(path: str) -> bytes:
    """The packed words behind the header, as they are."""
    data, length = _header_of(places.read_small(path, MOST_FILE))
    return data[_FIXED + length + len(_EMPTY) :] if data else b""


def _header_of(data: bytes) -> tuple[bytes, int]:
    """The same bytes and how long our field is; none where they do not begin with it."""
    if data[:3] != GZIP_MAGIC or len(data) < _FIXED or data[12:14] != _NAME:
        return b"", 0
    return data, int.from_bytes(data[14:16], "little")


def _encoded(about: About) -> bytes:
    """A path may hold bytes that are no text, and is the same path when it is read again."""
    text = json.dumps({"version": VERSION, **about._asdict()}, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")
