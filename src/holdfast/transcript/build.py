"""From a line as written to the entry it means; None where it means nothing to us."""

from collections.abc import Callable

from holdfast.transcript.blocks import ToolResult
from holdfast.transcript.entries import (
    Answer,
    Attachment,
    Boundary,
    Entry,
    Prompt,
    Queued,
    Result,
    Summary,
)
from holdfast.transcript.lines import Compaction, Line, Microcompaction, decode_queueing
from holdfast.transcript.repair import attempt, decoded

SYNTHETIC = "<synthetic>"  # the client's own words where an answer should be: no model, no usage


def _answer(offset: int, line: Line, data: bytes) -> Answer | None:
    message = line.message
    if message is None or message.usage is None or not message.id or message.model == SYNTHETIC:
        return None
    return Answer(offset, line, message, message.usage)


def _said(offset: int, line: Line, data: bytes) -> Summary | Result | Prompt | None:
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


def _boundary(offset: int, line: Line, data: bytes) -> Boundary | None:
    if line.subtype == "compact_boundary":
        known = line.compact_metadata or Compaction()
        return Boundary(offset, line, "compact", known.trigger, known.pre_tokens, known.post_tokens)
    if line.subtype == "microcompact_boundary":
        thinned = line.microcompact_metadata or Microcompaction()
        return Boundary(
            offset,
            line,
            "microcompact",
            thinned.trigger,
            thinned.pre_tokens,
            saved_tokens=thinned.tokens_saved,
            cleared_ids=thinned.compacted_tool_ids,
        )
    return None


def _attachment(offset: int, line: Line, data: bytes) -> Attachment | None:
    found = decoded(line.attachment)
    if not isinstance(found, dict):
        return None
    kind = found.get("type")
    return Attachment(offset, line, kind if isinstance(kind, str) else "")


def _queued(offset: int, line: Line, data: bytes) -> Queued | None:
    found = attempt(decode_queueing, data)
    return Queued(offset, line, found.operation, found.content or "") if found else None


BUILDERS: dict[str, Callable[[int, Line, bytes], Entry | None]] = {
    "assistant": _answer,
    "user": _said,
    "system": _boundary,
    "attachment": _attachment,
    "queue-operation": _queued,
}
