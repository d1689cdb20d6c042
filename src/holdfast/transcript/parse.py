"""From the bytes of one line to an entry, with every line counted once in the tally."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec

from holdfast.transcript import blocks
from holdfast.transcript.entries import (
    Answer,
    Attachment,
    Boundary,
    CompactMetadata,
    Entry,
    MicrocompactMetadata,
    Prompt,
    PromptOrigin,
    Queued,
    Result,
    Summary,
    TranscriptLine,
    TranscriptMessage,
    decode,
)

# Line types written by clients 1.0.53 to 2.1.325. Only these become entries.
UNDERSTOOD = frozenset({"assistant", "user", "system", "attachment", "queue-operation"})
# An `api-request-blob` is a copy of every sent message: counting it would count twice. A `summary`
# is a session's title, not a compaction's. `holdfast-left-out` is ours, in an archived transcript.
_LEFT_ALONE = (
    "api-request api-request-blob api-request-shape agent-name ai-title atis-latch bridge-session "
    "cost-state custom-title file-history-delta file-history-snapshot holdfast-left-out "
    "last-prompt mode permission-mode pr-link progress summary tools-used "
    # of other agents, as far as they say nothing that we read
    "session.start session.shutdown system.message session.compaction_start assistant.turn_start "
    "assistant.turn_end tool.execution_start session_meta turn_context world_state event_msg "
    "response_item compacted token_usage_record context-window"
)
LEFT_ALONE = frozenset(_LEFT_ALONE.split())
MOST_TYPES = 64  # a hostile file could name a new type on every line
LONGEST_TYPE = 64
ALL_FURTHER = "(all further)"
_COMMANDS = ("<command-name>", "<local-command-")
NO_USAGE = blocks.Usage()
SYNTHETIC = "<synthetic>"  # the client's own words where an answer should be: no model, no usage


class LineTally(msgspec.Struct):
    by_type: dict[str, int] = {}
    malformed: int = 0  # whole lines that are not a JSON object
    torn_tail: bool = False  # the last line has no end yet, and is not whole
    oversized: int = 0
    words_lost: int = 0  # of the malformed and oversized, those that may hold a prompt
    misfit: int = 0  # lines that needed mending, kept or not

    @property
    def lines(self) -> int:
        """Complete lines; empty ones are not counted."""
        return sum(self.by_type.values()) + self.malformed + self.oversized

    @property
    def torn(self) -> int:
        return self.malformed + self.torn_tail

    @property
    def unknown(self) -> dict[str, int]:
        return {
            name: count
            for name, count in self.by_type.items()
            if name not in UNDERSTOOD and name not in LEFT_ALONE
        }

    def as_dict(self) -> dict[str, int]:
        return {
            "lines": self.lines,
            "understood": sum(self.by_type.get(name, 0) for name in UNDERSTOOD),
            "left_alone": sum(self.by_type.get(name, 0) for name in LEFT_ALONE),
            "unknown": sum(self.unknown.values()),
            "torn": self.torn,
            "oversized": self.oversized,
            "misfit": self.misfit,
        }

    def add_type(self, name: str) -> None:
        """Count one line of this type; the number of different types is limited."""
        if name not in self.by_type:
            name = name[:LONGEST_TYPE] or "(none)"
            if name not in self.by_type and len(self.by_type) >= MOST_TYPES:
                name = ALL_FURTHER
        self.by_type[name] = self.by_type.get(name, 0) + 1


def _answer(offset: int, line: TranscriptLine, data: bytes) -> Answer | None:
    message = line.message
    if message is None or message.model == SYNTHETIC:
        return None
    return Answer(offset, line, message, message.usage or NO_USAGE)


def _user_entry(offset: int, line: TranscriptLine, data: bytes) -> Summary | Result | Prompt | None:
    message = line.message
    if message is None:
        return None
    if line.is_compact_summary:
        return Summary(offset, line, message)
    if not isinstance(message.content, str):
        for block in message.content or ():
            if isinstance(block, blocks.ToolResult):
                return Result(offset, line, message, data)
    return Prompt(offset, line, message)


def _system_entry(offset: int, line: TranscriptLine, data: bytes) -> Boundary | Prompt | None:
    kind = line.subtype
    if kind == "compact_boundary" or (kind is None and line.compact_metadata):
        known = line.compact_metadata or CompactMetadata()
        return Boundary(offset, line, "compact", known.trigger, known.pre_tokens, known.post_tokens)
    if kind == "microcompact_boundary" or (kind is None and line.microcompact_metadata):
        thinned = line.microcompact_metadata or MicrocompactMetadata()
        return Boundary(
            offset,
            line,
            "microcompact",
            thinned.trigger,
            thinned.pre_tokens,
            saved_tokens=thinned.tokens_saved,
            cleared_ids=thinned.compacted_tool_ids,
        )
    if kind in ("local_command", None):  # `/model x`; others are lines of the user
        content = "\n".join(blocks.words_within(line.content))
        if kind or content.startswith(_COMMANDS):
            return Prompt(offset, line, TranscriptMessage(role="user", content=content))
    return None


def _attachment(offset: int, line: TranscriptLine, data: bytes) -> Attachment | None:
    attachment = blocks.decoded(line.attachment)
    if not isinstance(attachment, dict):
        return None
    kind = attachment.get("type")
    if not isinstance(kind, str):
        kind = "queued_command" if "prompt" in attachment else ""
    return Attachment(offset, line, kind)


def _queued_entry(offset: int, line: TranscriptLine, data: bytes) -> Queued | None:
    operation, text = blocks.decoded(line.operation), "\n".join(blocks.words_within(line.content))
    if not isinstance(operation, str):
        operation = "enqueue" if text else ""
    return Queued(offset, line, operation, text)


BUILDERS: dict[str, Callable[[int, TranscriptLine, bytes], Entry | None]] = {
    "assistant": _answer,
    "user": _user_entry,
    "system": _system_entry,
    "attachment": _attachment,
    "queue-operation": _queued_entry,
}


def parse(data: bytes, offset: int, tally: LineTally) -> Entry | None:
    """Return the entry in one line; None if there is none. Raises Malformed and nothing else."""
    try:
        line = decode(data)
    except blocks.UNDECODABLE:  # a field is invalid: this is slower, and rarely needed
        errors: list[str] = []
        line = _decode_leniently(data, errors)
        tally.misfit += bool(errors)
    kind = line.type or _kind_of(line, data)
    try:
        tally.by_type[kind] += 1
    except KeyError:
        tally.add_type(kind)
    build = BUILDERS.get(kind)
    return build(offset, line, data) if build is not None else None


def _kind_of(line: TranscriptLine, data: bytes) -> str:
    """The type of a line that does not say it, by what the line holds."""
    if line.message is not None and line.uuid:
        calls = any(isinstance(block, blocks.ToolUse) for block in line.message.blocks)
        return "assistant" if calls or line.message.role == "assistant" else "user"
    if bytes(line.attachment):
        return "attachment"
    if line.subtype or line.compact_metadata or line.microcompact_metadata:
        return "system"
    return "queue-operation" if b'"operation":' in blocks.without_blanks(data)[:200] else ""


Fields = dict[str, msgspec.Raw]
_fields = msgspec.json.Decoder(Fields).decode
_pieces = msgspec.json.Decoder(list[msgspec.Raw]).decode
_text = msgspec.json.Decoder(str).decode
_block: Any = msgspec.json.Decoder(blocks.AnyBlock).decode
# Structs inside a line, by the field that holds one.
_STRUCTS: dict[str, type[msgspec.Struct]] = {
    "message": TranscriptMessage,
    "usage": blocks.Usage,
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


@cache
def _decoders(struct: type[msgspec.Struct]) -> dict[str, tuple[str, Any]]:
    """The name and the decoder of each field, by the name that is written."""
    return {
        field.encode_name: (field.name, msgspec.json.Decoder(field.type).decode)
        for field in msgspec.structs.fields(struct)
    }


def _decode_leniently(data: bytes, errors: list[str]) -> TranscriptLine:
    """Read a line with a field of the wrong type one field at a time: one wrong field must not cost
    the rest. What is wrong falls back to its default, and its name is added to `errors`. Where it
    cannot be told whether a line belongs to a subagent, its content stays, but no reading of the
    window and no words of the user are taken from it."""
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
    if len(data) > blocks.LARGEST_TREE_BYTES:
        raise blocks.Malformed
    try:
        data.decode()  # msgspec looks at the encoding only of what it decodes
        return _fields(data)
    except blocks.UNDECODABLE:
        errors.append("(bytes)")
    try:
        return _fields(blocks.repair(data))
    except blocks.UNDECODABLE:
        raise blocks.Malformed from None


def _fitting(struct: type[msgspec.Struct], fields: Fields, errors: list[str]) -> dict[str, Any]:
    """The fields that have the right type, and what can be kept of those with more inside."""
    values = {}
    for written, (name, decode_field) in _decoders(struct).items():
        if written not in fields:
            continue
        try:
            values[name] = decode_field(fields[written])
        except blocks.UNDECODABLE:
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
    except blocks.UNDECODABLE:
        return None


def _one_block(raw: msgspec.Raw, errors: list[str]) -> blocks.AnyBlock:
    """One block. A new kind is no mistake of the line's; a known kind in a wrong shape is."""
    try:
        block: blocks.AnyBlock = _block(raw)
        return block
    except blocks.UNDECODABLE:
        pass
    try:
        fields = _fields(raw)
    except blocks.UNDECODABLE:
        fields = {}
    kind = _text_of(fields, "type")
    if not kind:
        errors.append("block")
        kind = next((_TELLING[field] for field in _TELLING if field in fields), "")
    struct: Any = blocks.BLOCKS.get(kind)
    return struct(**_fitting(struct, fields, errors)) if struct else blocks.OtherBlock(kind)


def _text_of(fields: Fields, name: str) -> str:
    try:
        return _text(fields[name])
    except (KeyError, *blocks.UNDECODABLE):
        return ""
