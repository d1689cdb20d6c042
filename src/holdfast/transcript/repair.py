"""Bytes that are nearly JSON, made JSON where that loses nothing else.

JavaScript writes half of an emoji as a lone `\\ud83d`, and a crash can leave control characters or
broken UTF-8 behind. msgspec refuses the whole line for it, and with it the usage we came for.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

Decoded = TypeVar("Decoded")

# msgspec errors are ValueErrors only from 0.21 on; broken UTF-8 is always one.
UNDECODABLE = (msgspec.DecodeError, ValueError, RecursionError)
# Python objects can take thirty times the room of their text ("[[],[],...]"), so the largest
# texts are not turned into them. The largest line in 161 real sessions has 0.5 MB.
LARGEST_TREE_BYTES = 8 << 20


_LINE_STARTS = (b'{"parentUuid":', b'{"type":"queue-operation"')  # as the client begins them
_NO_WORDS = (
    *(b'"tool_result"', b'"type":"assistant"', b'"role":"assistant"', b'"type":"progress"'),
    *(b'"type":"file-history', b'"type":"system"'),
)


class Malformed(Exception):
    """These bytes are not one JSON object."""


class _Anything(msgspec.Struct):
    """Any object; nothing of it is kept."""


check_object = msgspec.json.Decoder(_Anything).decode


def repaired(data: bytes) -> bytes:
    """The same value with `?` for each half character; empty when it is not JSON at all."""
    if len(data) > LARGEST_TREE_BYTES:
        return b""
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    except UNDECODABLE:
        return b""


def end_of_torn(data: bytes) -> int:
    """Where a whole line begins behind a torn one; 0 where none does. After a crash or on a full
    disk a line is left without its end, and the client writes the next one right behind it."""
    start = max(data.rfind(mark, 1) for mark in _LINE_STARTS)
    if start <= 0:
        return 0
    try:
        check_object(data[start:])
    except UNDECODABLE:
        return 0
    return start


def may_hold_words(data: bytes) -> bool:
    """A line that does not parse may have been a prompt, unless it tells what it was."""
    return not any(mark in data for mark in _NO_WORDS)


def decoded(raw: msgspec.Raw) -> Any:
    """What an undecoded piece holds; None when it holds nothing, or nothing readable."""
    small = memoryview(raw).nbytes <= LARGEST_TREE_BYTES
    wanted: Any = Any if small else str
    return attempt(msgspec.json.Decoder(wanted).decode, bytes(raw))


def attempt(decode: Callable[[bytes], Decoded], data: bytes) -> Decoded | None:
    """Decode as it is, or else repaired; None when neither will do."""
    try:
        return decode(data)
    except UNDECODABLE:
        pass
    try:
        return decode(repaired(data))
    except UNDECODABLE:
        return None
