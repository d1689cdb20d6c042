"""A line with a field of the wrong type, read one field at a time.

One wrong field must not cost the rest: a timestamp that is an object leaves the usage beside it
as good as ever. What is wrong falls back to its default and is named to the tally. Where it cannot
be told whether a line belongs to a subagent, its content stays, but no reading of the window and no
words of the user are taken from it.
"""

from typing import Any

import msgspec

from holdfast.transcript.blocks import (
    BLOCKS,
    LARGEST_TREE_BYTES,
    UNDECODABLE,
    AnyBlock,
    Malformed,
    OtherBlock,
    Usage,
    repair,
)
from holdfast.transcript.entries import (
    CompactMetadata,
    MicrocompactMetadata,
    PromptOrigin,
    TranscriptLine,
    TranscriptMessage,
)
from holdfast.transcript.parse import UNDERSTOOD

Fields = dict[str, msgspec.Raw]
_fields = msgspec.json.Decoder(Fields).decode
_pieces = msgspec.json.Decoder(list[msgspec.Raw]).decode
_text = msgspec.json.Decoder(str).decode
_block: Any = msgspec.json.Decoder(AnyBlock).decode
_STRUCTS: dict[str, type[msgspec.Struct]] = {
    "message": TranscriptMessage,
    "usage": Usage,
    "origin": PromptOrigin,
    "compact_metadata": CompactMetadata,
    "microcompact_metadata": MicrocompactMetadata,
}
# The field that only blocks of this kind have, for a block that does not say its kind.
_TELLING = {
    "tool_use_id": "tool_result",
    "input": "tool_use",
    "text": "text",
    "thinking": "thinking",
}
_TRUE = (b"1", b'"true"')


def _decoders(struct: type[msgspec.Struct]) -> dict[str, tuple[str, Any]]:
    return {
        field.encode_name: (field.name, msgspec.json.Decoder(field.type).decode)
        for field in msgspec.structs.fields(struct)
    }


_KNOWN: list[type[msgspec.Struct]] = [TranscriptLine, *_STRUCTS.values(), *BLOCKS.values()]
_DECODERS = {struct: _decoders(struct) for struct in _KNOWN}


def decode_leniently(data: bytes, errors: list[str]) -> TranscriptLine:
    """What can be kept of the line; the wrong fields' names are added to `errors`."""
    fields = _fields_within(data, errors)
    kind = _text_of(fields, "type")
    if kind and kind not in UNDERSTOOD:
        return TranscriptLine(type=kind)  # not ours to judge
    values = _fitting(TranscriptLine, fields, errors)
    if "is_sidechain" in errors:
        values["is_sidechain"] = bytes(fields["isSidechain"]) in _TRUE
        values["prompt_source"] = "(unknown)"
        if message := values.get("message"):
            values["message"] = msgspec.structs.replace(message, usage=None)
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


def _fitting(struct: type[msgspec.Struct], fields: Fields, errors: list[str]) -> dict[str, Any]:
    """The fields that have the right type, and what can be kept of those with more inside."""
    values = {}
    for written, (name, decode) in _DECODERS[struct].items():
        if written not in fields:
            continue
        try:
            values[name] = decode(fields[written])
        except UNDECODABLE:
            inner = _inner(name, fields[written], errors)
            if inner is None:
                errors.append(name)
            else:
                values[name] = inner
    return values


def _inner(name: str, raw: msgspec.Raw, errors: list[str]) -> Any:
    try:
        if name == "content":
            return tuple(_one_block(piece, errors) for piece in _pieces(raw))
        struct = _STRUCTS.get(name)
        return struct(**_fitting(struct, _fields(raw), errors)) if struct else None
    except UNDECODABLE:
        return None


def _one_block(raw: msgspec.Raw, errors: list[str]) -> AnyBlock:
    """One block. A new kind of block is no mistake of the line's; a known kind in a wrong shape
    is."""
    try:
        block: AnyBlock = _block(raw)
        return block
    except UNDECODABLE:
        pass
    try:
        fields = _fields(raw)
    except UNDECODABLE:
        fields = {}
    kind = _text_of(fields, "type")
    if not kind:
        errors.append("block")
        kind = next((_TELLING[one] for one in _TELLING if one in fields), "")
    struct: Any = BLOCKS.get(kind)
    return struct(**_fitting(struct, fields, errors)) if struct else OtherBlock(kind)


def _text_of(fields: Fields, name: str) -> str:
    try:
        return _text(fields[name])
    except (KeyError, *UNDECODABLE):
        return ""
