"""The pieces of a message: text, thinking, a tool call, a tool's result, an image, the usage.

Large pieces (a tool's input, its result) stay undecoded until somebody asks: they are most of a
transcript's bytes, and most readers want only the usage beside them. An undecoded piece keeps its
whole line alive, so a caller who collects many of them should collect what it asked for instead.

Bytes that are nearly JSON are repaired where that loses nothing else. JavaScript writes half of an
emoji as a lone `\\ud83d`, and a crash can leave control characters or broken UTF-8 behind. msgspec
refuses the whole line for it, and with it the usage.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import msgspec

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
    """Return the same value with `?` for each half character; empty if it is not JSON at all."""
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
