"""From the bytes of one line to an entry, with every line counted once in the tally."""

from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from holdfast.transcript.blocks import (
    UNDECODABLE,
    ToolResult,
    ToolUse,
    Usage,
    decoded,
    without_blanks,
    words_within,
)
from holdfast.transcript.entries import (
    Answer,
    Attachment,
    Boundary,
    CompactMetadata,
    Entry,
    MicrocompactMetadata,
    Prompt,
    Queued,
    Result,
    Summary,
    TranscriptLine,
    TranscriptMessage,
    decode,
)

# Line types written by clients 1.0.53 to 2.1.325. Only the first five become entries.
UNDERSTOOD = frozenset({"assistant", "user", "system", "attachment", "queue-operation"})
LEFT_ALONE = frozenset(
    {
        "api-request",
        "api-request-blob",  # a copy of every sent message: counting it would count twice
        "api-request-shape",
        "agent-name",
        "ai-title",
        # of other agents, as far as they say nothing that we read
        *("session.start", "session.shutdown", "system.message", "session.compaction_start"),
        *("assistant.turn_start", "assistant.turn_end", "tool.execution_start"),
        *("session_meta", "turn_context", "world_state", "event_msg", "response_item"),
        *("compacted", "token_usage_record", "context-window"),
        "atis-latch",
        "bridge-session",
        "cost-state",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "holdfast-left-out",  # ours, in an archived transcript
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "summary",  # a session's title, not a compaction's summary
        "tools-used",
    }
)
MOST_TYPES = 64  # a hostile file could name a new type on every line
LONGEST_TYPE = 64
ALL_FURTHER = "(all further)"
_COMMANDS = ("<command-name>", "<local-command-")
NO_USAGE = Usage()
SYNTHETIC = "<synthetic>"  # the client's own words where an answer should be: no model, no usage


class LineTally(msgspec.Struct):
    """Counts of lines: by type, and by what was wrong with them."""

    by_type: dict[str, int] = {}
    malformed: int = 0  # whole lines that are not a JSON object
    torn_tail: bool = False  # the last line has no end yet, and is not whole
    oversized: int = 0
    words_lost: int = 0  # of the malformed and oversized, those that may hold a prompt
    misfit: int = 0  # lines that needed mending, kept or not
    misfit_fields: Counter[str] = msgspec.field(default_factory=Counter)

    @property
    def lines(self) -> int:
        """Complete lines; empty ones are not counted."""
        return sum(self.by_type.values()) + self.malformed + self.oversized

    @property
    def torn(self) -> int:
        """Lines that do not parse, including an unfinished last one."""
        return self.malformed + self.torn_tail

    @property
    def unknown(self) -> dict[str, int]:
        """Unknown line types, and how many lines of each."""
        return {
            name: count
            for name, count in self.by_type.items()
            if name not in UNDERSTOOD and name not in LEFT_ALONE
        }

    def as_dict(self) -> dict[str, int]:
        """The counts to show."""
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

    def add_misfit(self, fields: Iterable[str]) -> None:
        """Count one line and the names of its invalid fields."""
        self.misfit += 1
        self.misfit_fields.update(fields)


def _answer(offset: int, line: TranscriptLine, data: bytes) -> Answer | None:
    message = line.message
    if message is None or message.model == SYNTHETIC:
        return None
    return Answer(offset, line, message, message.usage or NO_USAGE)


def _user_entry(offset: int, line: TranscriptLine, data: bytes) -> Summary | Result | Prompt | None:
    """A line in the user's name."""
    message = line.message
    if message is None:
        return None
    if line.is_compact_summary:
        return Summary(offset, line, message)
    if not isinstance(message.content, str):
        for block in message.content or ():
            if isinstance(block, ToolResult):
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
        content = "\n".join(words_within(line.content))
        if kind or content.startswith(_COMMANDS):
            return Prompt(offset, line, TranscriptMessage(role="user", content=content))
    return None


def _attachment(offset: int, line: TranscriptLine, data: bytes) -> Attachment | None:
    attachment = decoded(line.attachment)
    if not isinstance(attachment, dict):
        return None
    kind = attachment.get("type")
    if not isinstance(kind, str):
        kind = "queued_command" if "prompt" in attachment else ""
    return Attachment(offset, line, kind)


def _queued_entry(offset: int, line: TranscriptLine, data: bytes) -> Queued | None:
    operation, text = decoded(line.operation), "\n".join(words_within(line.content))
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
    except UNDECODABLE:
        line = _second_try(data, tally)
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
        calls = any(isinstance(block, ToolUse) for block in line.message.blocks)
        return "assistant" if calls or line.message.role == "assistant" else "user"
    if bytes(line.attachment):
        return "attachment"
    if line.subtype or line.compact_metadata or line.microcompact_metadata:
        return "system"
    return "queue-operation" if b'"operation":' in without_blanks(data)[:200] else ""


def _second_try(data: bytes, tally: LineTally) -> TranscriptLine:
    """Parse a line with invalid fields; this is slower, and rarely needed."""
    from holdfast.transcript.lenient_line import decode_leniently

    errors: list[str] = []
    line = decode_leniently(data, errors)
    if errors:
        tally.add_misfit(errors)
    return line
