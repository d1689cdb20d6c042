"""The pieces of a message: text, thinking, a tool call, a tool's result, an image.

Large pieces (a tool's input, its result) stay undecoded until somebody asks: they are most of a
transcript's bytes, and most readers want only the usage beside them. An undecoded piece keeps its
whole line alive, so a caller who collects many of them should collect what it asked for instead.
"""

from typing import Any

import msgspec

from holdfast.transcript.repair import decoded


class Block(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """One content block of a message."""


class Text(Block, frozen=True, gc=False, tag="text"):
    """Words, the user's or the model's."""

    text: str = ""


class Thinking(Block, frozen=True, gc=False, tag="thinking"):
    """What the model thought aloud; newer clients often leave it empty."""

    thinking: str = ""


class ToolUse(Block, frozen=True, gc=False, tag="tool_use"):
    """One call of a tool."""

    id: str = ""
    name: str = ""
    raw_input: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw, name="input")

    @property
    def input(self) -> dict[str, Any]:
        """What the tool was called with; empty when it is not an object."""
        found = decoded(self.raw_input)
        return found if isinstance(found, dict) else {}


class ToolResult(Block, frozen=True, gc=False, tag="tool_result"):
    """What one tool call gave back, as the model saw it."""

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
    def text_chars(self) -> int:
        return sum(map(len, words_within(self.raw_content)))

    @property
    def image_count(self) -> int:
        parts = decoded(self.raw_content)
        parts = parts if isinstance(parts, list) else []
        return sum(isinstance(part, dict) and part.get("type") == "image" for part in parts)


class Image(Block, frozen=True, gc=False, tag="image"):
    """A picture; its data is not read."""


class OtherBlock(Block, frozen=True, gc=False, tag="(other)"):
    """A block of a kind we do not know, or one that is not shaped as its kind should be."""

    kind: str = ""


AnyBlock = Text | Thinking | ToolUse | ToolResult | Image | OtherBlock
KNOWN_KINDS = frozenset({"text", "thinking", "tool_use", "tool_result", "image"})


def words_within(raw: msgspec.Raw) -> list[str]:
    """The texts in a string, a part with `text` or `content`, or a list of such parts."""
    return _words(decoded(raw), depth=4)


def _words(found: object, depth: int) -> list[str]:
    if isinstance(found, str):
        return [found]
    if depth and isinstance(found, list):
        return [word for part in found for word in _words(part, depth - 1)]
    if depth and isinstance(found, dict):
        return _words(found.get("text", found.get("content")), depth - 1)
    return []
