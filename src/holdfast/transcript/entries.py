"""The lines of a transcript as Claude Code writes them, their blocks, and the entries they mean.

One struct, with the few fields we need, serves every line type. A union tagged by `type` would
read most lines twice, because the client writes `type` after the message it describes.

An entry is a line seen as what it means. It holds the line it came from and reads it when asked:
copying eight fields into every entry made parsing a quarter slower. Several `Answer`s may share a
`message_id`: they are one answer of the model, written as one line per content block.

Large pieces (a tool's input, its result) stay undecoded until somebody asks: they are most of a
transcript's bytes, and most readers want only the usage beside them. An undecoded piece keeps its
whole line alive, so a caller who collects many of them should collect what it asked for instead.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from holdfast.transcript.user_words import Author, marks_all
from holdfast.wire.tail import ENCRYPTED

DecodedValue = TypeVar("DecodedValue")

# msgspec errors are ValueErrors only from 0.21 on; broken UTF-8 is always one.
UNDECODABLE = (msgspec.DecodeError, ValueError, RecursionError)
# Python objects can take thirty times the room of their text ("[[],[],...]"), so the largest
# texts are not turned into them. The largest line in 161 real sessions has 0.5 MB.
LARGEST_TREE_BYTES = 8 << 20
_QUEUE_STARTS = (b'{"type":"queue-operation"', b'{"type": "queue-operation"')
_LINE_STARTS = (b'{"parentUuid":', *_QUEUE_STARTS)  # as the client begins them
_NO_WORDS = (
    *(b'"tool_result"', b'"type":"assistant"', b'"role":"assistant"', b'"type":"progress"'),
    *(b'"type":"file-history', b'"type":"system"'),
)
# JavaScript's largest exact integer: a bigger count is no count, and SQLite could not hold it.
Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Malformed(Exception):
    """These bytes are not one JSON object."""


class _Anything(msgspec.Struct):
    """Any object, without its content."""


check_object = msgspec.json.Decoder(_Anything).decode
_decode_any: Callable[[bytes], Any] = msgspec.json.Decoder().decode
_decode_text: Callable[[bytes], Any] = msgspec.json.Decoder(str).decode


def repair(data: bytes) -> bytes:
    """Return the same value with `?` for each half character; empty if it is not JSON at all.
    JavaScript writes half of an emoji as a lone `\\ud83d`, and msgspec refuses the line for it."""
    if len(data) > LARGEST_TREE_BYTES:
        return b""
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"), strict=False)
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    except UNDECODABLE:
        return b""


def without_blanks(data: bytes) -> bytes:
    """Return a line as the client spells it, for tests of its bytes: other programs write a blank
    behind `:` and `,`. The blank behind the first key tells, so a line of the client costs one
    short search. Blanks in texts go too, so such a line is not for decoding."""
    value = data.find(b'":', 0, 80) + 2
    if data[value : value + 1] != b" ":
        return data
    return data.replace(b'": ', b'":').replace(b', "', b',"')


def end_of_torn(data: bytes) -> int:
    """Return where a complete line begins behind a torn one; 0 if there is none. After a crash
    or on a full disk a line has no end, and the client writes the next one directly behind it."""
    start = max(data.rfind(mark, 1) for mark in _LINE_STARTS)
    if start <= 0:
        return 0
    try:
        check_object(data[start:])
    except UNDECODABLE:
        return 0
    return start


def may_hold_words(data: bytes) -> bool:
    """Whether a line that does not parse may have been a prompt."""
    spelled = without_blanks(data)
    return not any(mark in spelled for mark in _NO_WORDS)


def decoded(raw: msgspec.Raw) -> Any:
    """Decode a piece; None if it is empty or unreadable."""
    is_small = memoryview(raw).nbytes <= LARGEST_TREE_BYTES
    return attempt(_decode_any if is_small else _decode_text, bytes(raw))


def attempt(decode: Callable[[bytes], DecodedValue], data: bytes) -> DecodedValue | None:
    """Decode the bytes as they are, or else repaired; None if neither works."""
    try:
        return decode(data)
    except UNDECODABLE:
        pass
    try:
        return decode(repair(data))
    except UNDECODABLE:
        return None


class Usage(msgspec.Struct, frozen=True, gc=False, rename=lambda name: f"{name}_tokens"):
    """The tokens of an answer. A gateway may write null for a count, which then counts as 0; an
    answer whose total is 0 says nothing of the window."""

    input: Tokens | None = 0
    output: Tokens | None = 0
    cache_creation_input: Tokens | None = 0
    cache_read_input: Tokens | None = 0

    @property
    def output_tokens(self) -> int:
        return self.output or 0

    @property
    def input_side_tokens(self) -> int:
        """All tokens that were sent, cached or not."""
        return (self.input or 0) + (self.cache_creation_input or 0) + (self.cache_read_input or 0)

    @property
    def total_tokens(self) -> int:
        """How much of the window this answer leaves filled."""
        return self.input_side_tokens + self.output_tokens


class Block(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """One content block of a message."""


class Text(Block, frozen=True, gc=False, tag="text"):
    """Words, the user's or the model's."""

    text: str = ""


class Thinking(Block, frozen=True, gc=False, tag="thinking"):
    """The model's thoughts; newer clients often leave them empty."""

    thinking: str = ""


class ToolUse(Block, frozen=True, gc=False, tag="tool_use"):
    id: str = ""
    name: str = ""
    raw_input: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw, name="input")

    @property
    def input(self) -> dict[str, Any]:
        value = decoded(self.raw_input)
        return value if isinstance(value, dict) else {}


class ToolResult(Block, frozen=True, gc=False, tag="tool_result"):
    """The result of one tool call, as the model saw it."""

    tool_use_id: str = ""
    raw_content: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw, name="content")
    raw_is_error: bool | None = msgspec.field(default=False, name="is_error")

    @property
    def is_error(self) -> bool:
        return bool(self.raw_is_error)

    @property
    def text(self) -> str:
        """The words of the result; images and other parts have none."""
        return "\n".join(words_within(self.raw_content))

    @property
    def image_count(self) -> int:
        parts = decoded(self.raw_content)
        parts = parts if isinstance(parts, list) else []
        return sum(isinstance(part, dict) and part.get("type") == "image" for part in parts)


class Image(Block, frozen=True, gc=False, tag="image"):
    """A picture; its data is not read."""


class OtherBlock(Block, frozen=True, gc=False, tag="(other)"):
    """A block of a kind we do not know."""

    kind: str = ""


AnyBlock = Text | Thinking | ToolUse | ToolResult | Image | OtherBlock
BLOCKS: dict[str, type[Block]] = {
    "text": Text,
    "thinking": Thinking,
    "tool_use": ToolUse,
    "tool_result": ToolResult,
    "image": Image,
}


def words_within(raw: msgspec.Raw) -> list[str]:
    """The texts in a string, a part with `text` or `content`, or a list of such parts."""
    return _words(decoded(raw), depth=4)


def _words(content: object, depth: int) -> list[str]:
    if isinstance(content, str):
        return [content]
    if depth and isinstance(content, list):
        return [word for part in content for word in _words(part, depth - 1)]
    if depth and isinstance(content, dict):
        return _words(content.get("text", content.get("content")), depth - 1)
    return []


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
