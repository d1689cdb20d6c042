"""A line with a field of the wrong type, read one field at a time.

One wrong field must not cost the rest: a timestamp that is an object leaves the usage beside it
as good as ever. What is wrong falls back to its default and is named to the tally. Two things are
never guessed: the line's type, and whether it belongs to a subagent.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.transcript.blocks import (
    KNOWN_KINDS,
    LARGEST_TREE_BYTES,
    UNDECODABLE,
    AnyBlock,
    Malformed,
    OtherBlock,
    repair,
)
from holdfast.transcript.entries import TranscriptLine, TranscriptMessage
from holdfast.transcript.parse import UNDERSTOOD

Fields = dict[str, msgspec.Raw]


class BlockKind(msgspec.Struct):
    """Only the type of an object."""

    type: str = ""


_fields = msgspec.json.Decoder(Fields).decode
_pieces = msgspec.json.Decoder(list[msgspec.Raw]).decode
_kind = msgspec.json.Decoder(BlockKind).decode
_block: Any = msgspec.json.Decoder(AnyBlock).decode


def _decoders(struct: type[msgspec.Struct]) -> dict[str, tuple[str, Any]]:
    return {
        field.encode_name: (field.name, msgspec.json.Decoder(field.type).decode)
        for field in msgspec.structs.fields(struct)
    }


_OF_A_LINE = _decoders(TranscriptLine)
_OF_A_MESSAGE = _decoders(TranscriptMessage)


def decode_leniently(data: bytes, errors: list[str]) -> TranscriptLine:
    """What can be kept of the line; the wrong fields' names are added to `errors`."""
    fields = _fields_within(data, errors)
    kind = _fitting(fields, {"type": _OF_A_LINE["type"]}, errors).get("type", "")
    if kind not in UNDERSTOOD:
        return TranscriptLine(type=kind)  # not ours to judge
    values = _fitting(fields, _OF_A_LINE, errors)
    if "is_sidechain" in errors:
        return TranscriptLine(type=kind)
    if "message" in errors:
        errors.remove("message")
        values["message"] = _message(fields["message"], errors)
    return TranscriptLine(**values)


def _fields_within(data: bytes, errors: list[str]) -> Fields:
    if len(data) > LARGEST_TREE_BYTES:
        raise Malformed
    try:
        data.decode()  # msgspec looks at the encoding only of what it decodes
        return _fields(data)
    except UNDECODABLE:
        errors.append("(bytes)")
    try:
        return _fields(repair(data))
    except UNDECODABLE:
        raise Malformed from None


def _fitting(
    fields: Fields, decoders: Mapping[str, tuple[str, Any]], errors: list[str]
) -> dict[str, Any]:
    values = {}
    for written, (name, decode) in decoders.items():
        if written in fields:
            try:
                values[name] = decode(fields[written])
            except UNDECODABLE:
                errors.append(name)
    return values


def _message(raw: msgspec.Raw, errors: list[str]) -> TranscriptMessage | None:
    try:
        fields = _fields(raw)
    except UNDECODABLE:
        errors.append("message")
        return None
    values = _fitting(fields, _OF_A_MESSAGE, errors)
    if "content" in errors:
        errors.remove("content")
        values["content"] = _content(fields["content"], errors)
    return TranscriptMessage(**values)


def _content(raw: msgspec.Raw, errors: list[str]) -> tuple[AnyBlock, ...]:
    try:
        pieces = _pieces(raw)
    except UNDECODABLE:
        errors.append("content")
        return ()
    return tuple(_one_block(piece, errors) for piece in pieces)


def _one_block(raw: msgspec.Raw, errors: list[str]) -> AnyBlock:
    try:
        block: AnyBlock = _block(raw)
        return block
    except UNDECODABLE:
        return _odd_block(raw, errors)


def _odd_block(raw: msgspec.Raw, errors: list[str]) -> OtherBlock:
    """A new kind of block is no mistake of the line's; a known kind in a wrong shape is."""
    try:
        kind = _kind(raw).type
    except UNDECODABLE:
        kind = ""
    if not kind or kind in KNOWN_KINDS:
        errors.append("block")
    return OtherBlock(kind)
