"""The lines of a transcript as Claude Code writes them, and the entries they mean.

One struct, with the few fields we need, serves every line type. A union tagged by `type` would
read most lines twice, because the client writes `type` after the message it describes.

An entry is a line seen as what it means. It holds the line it came from and reads it when asked:
copying eight fields into every entry made parsing a quarter slower. Several `Answer`s may share a
`message_id`: they are one answer of the model, written as one line per content block.
"""

from datetime import UTC, datetime
from typing import Literal

import msgspec

from holdfast.transcript.blocks import (
    AnyBlock,
    Text,
    Tokens,
    ToolResult,
    Usage,
    attempt,
    decoded,
    words_within,
)
from holdfast.transcript.user_words import Author, marks_all
from holdfast.wire.tail import ENCRYPTED

NOTHING = msgspec.Raw()
_TYPED = ("typed", "queued", "suggestion_accepted")
# Ways a person may take to the model, found in client 2.1.325 and never seen in a transcript.
_UNSURE = ("bridge", "composer", "person", "remote", "suggestion", "unclassified", "voice-call")


class TranscriptMessage(msgspec.Struct, frozen=True, gc=False):
    id: str = ""
    role: str = ""
    model: str = ""
    content: str | tuple[AnyBlock, ...] | None = None
    stop_reason: str | None = ""  # an explicit null means "not ended yet", silence does not
    usage: Usage | None = None

    @property
    def blocks(self) -> tuple[AnyBlock, ...]:
        """The content as blocks, also where it was written as one string."""
        if isinstance(self.content, str):
            return (Text(self.content),)
        return self.content or ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The text blocks: each may have another author."""
        return tuple(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


# The client's words around a plan that the user approved.
PLAN_BEGINS = "Implement the following plan:\n"
PLAN_NOTE = "If you need specific details from before exiting plan mode"


class PromptOrigin(msgspec.Struct, frozen=True, gc=False):
    """Where a prompt came from, as clients from 2.1.119 on say of some and from 2.1.183 of all."""

    kind: str = ""


class CompactMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    trigger: str = ""
    pre_tokens: Tokens | None = None
    post_tokens: Tokens | None = None


class MicrocompactMetadata(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a line states about old tool results that were cleared from the context."""

    trigger: str = ""
    pre_tokens: Tokens | None = None
    tokens_saved: Tokens = 0
    compacted_tool_ids: tuple[str, ...] = ()


class TranscriptLine(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    type: str = ""
    subtype: str | None = None
    uuid: str = ""
    parent_uuid: str | None = None
    timestamp: str = ""
    session_id: str = ""
    cwd: str = ""
    version: str = ""
    entrypoint: str = ""
    git_branch: str | None = ""
    is_sidechain: bool = False
    agent_id: str | None = None
    prompt_id: str | None = None
    message: TranscriptMessage | None = None
    is_meta: bool | None = False
    is_compact_summary: bool | None = False
    is_visible_in_transcript_only: bool | None = False
    origin: PromptOrigin | None = None
    prompt_source: str | None = None
    plan_content: msgspec.Raw = NOTHING
    compact_metadata: CompactMetadata | None = None
    microcompact_metadata: MicrocompactMetadata | None = None
    attachment: msgspec.Raw = NOTHING
    rendered: msgspec.Raw = NOTHING
    operation: msgspec.Raw = NOTHING  # on the queue of prompts typed while the model works
    content: msgspec.Raw = NOTHING  # the words of a line that has no message

    @property
    def author(self) -> Author:
        """Who wrote a line in the user's name. A subagent's caller is not marked."""
        kind = self.origin.kind if self.origin else ""
        if kind or self.prompt_source:
            return author(kind, self.prompt_source)
        if self.is_sidechain or not marks_all(self.version):
            return ""
        return "unmarked" if self.entrypoint == "cli" else "headless"


def author(kind: str, source: str | None = None) -> Author:
    """Who wrote a prompt, by the marks beside it; there is at least one mark."""
    if source == "system" or (kind and kind != "human" and kind not in _UNSURE):
        return "other"
    if kind == "human" or (not kind and source in _TYPED):
        return "user"
    return "" if source == "sdk" and not kind else "unsure"


class ResultCopy(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The client's own record of a tool's result: large, and read only when asked for."""

    tool_use_result: msgspec.Raw = NOTHING


decode = msgspec.json.Decoder(TranscriptLine).decode
decode_copy = msgspec.json.Decoder(ResultCopy).decode


class Entry(msgspec.Struct, frozen=True, gc=False):
    """The fields of every line; `offset` is the byte at which the line begins."""

    offset: int
    line: TranscriptLine

    @property
    def timestamp(self) -> str:
        return self.line.timestamp

    @property
    def epoch_s(self) -> float | None:
        """The timestamp in seconds since 1970; None when it is not a time."""
        return epoch_seconds(self.line.timestamp)

    @property
    def is_sidechain(self) -> bool:
        return self.line.is_sidechain


class Answer(Entry, frozen=True, gc=False):
    message: TranscriptMessage
    usage: Usage

    @property
    def message_id(self) -> str:
        return self.message.id or self.line.uuid or f"byte {self.offset}"

    @property
    def model(self) -> str:
        return self.message.model

    @property
    def stop_reason(self) -> str | None:
        """None: written before the answer ended, so its output is a partial count."""
        return self.message.stop_reason

    @property
    def blocks(self) -> tuple[AnyBlock, ...]:
        return self.message.blocks


class Prompt(Entry, frozen=True, gc=False):
    """The user's own words, or (`is_meta`) words that the client wrote in the user's name."""

    message: TranscriptMessage

    @property
    def text(self) -> str:
        return self.message.text

    @property
    def texts(self) -> tuple[str, ...]:
        return self.message.texts

    @property
    def is_meta(self) -> bool:
        line = self.line
        is_agents = line.agent_id is not None and not line.is_sidechain
        is_hidden = line.is_meta or line.is_visible_in_transcript_only
        return bool(is_hidden) or is_agents or self.message.role == "assistant"

    @property
    def is_plan(self) -> bool:
        """Whether the client sent a plan of the model that the user approved, in a fresh context:
        it says so beside the prompt. Clients before 2.1.29 only end it with a certain note."""
        is_begun = self.text.startswith(PLAN_BEGINS) and self.line.author != "other"
        return is_begun and (bool(self.plan) or PLAN_NOTE in self.text)

    @property
    def plan(self) -> str:
        plan = decoded(self.line.plan_content)
        return plan if isinstance(plan, str) else ""


class Result(Entry, frozen=True, gc=False):
    """Results of tools; `text` holds words beside the results, which are rare."""

    message: TranscriptMessage
    data: bytes  # the line itself

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(block for block in self.message.blocks if isinstance(block, ToolResult))

    @property
    def text(self) -> str:
        return self.message.text

    @property
    def tool_use_result(self) -> msgspec.Raw:
        """The client's own record of the result, undecoded; see `decoded`."""
        copy = attempt(decode_copy, self.data)
        return copy.tool_use_result if copy else NOTHING


class Summary(Entry, frozen=True, gc=False):
    message: TranscriptMessage

    @property
    def text(self) -> str:
        return self.message.text

    @property
    def is_readable(self) -> bool:
        return self.text != ENCRYPTED


class Boundary(Entry, frozen=True, gc=False):
    """A compaction, or a microcompaction: that one clears the results of the tool calls
    `cleared_ids`, some `saved_tokens` of them, and no new window begins."""

    kind: Literal["compact", "microcompact"]
    trigger: str = ""
    pre_tokens: int | None = None
    post_tokens: int | None = None
    saved_tokens: int = 0
    cleared_ids: tuple[str, ...] = ()
    implied: bool = False  # told only by a summary: client 1.0.53 wrote no boundary line

    @property
    def resets_window(self) -> bool:
        return self.kind == "compact"


class Attachment(Entry, frozen=True, gc=False):
    """What the client added on its own: hook context, files read again, reminders."""

    kind: str

    @property
    def raw(self) -> msgspec.Raw:
        return self.line.attachment

    @property
    def text(self) -> str:
        return "\n".join(words_within(self.line.rendered))


class Queued(Entry, frozen=True, gc=False):
    """A prompt was put into the queue, or taken from it; only the former says which."""

    operation: str
    text: str


def epoch_seconds(timestamp: str) -> float | None:
    """ISO 8601 to seconds since 1970, taking a time without a zone as UTC."""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
