"""A line as Claude Code writes it: the few fields we need of the many it has.

One struct serves every line type. A union tagged by `type` would read most lines twice, because
the client writes `type` after the message it describes.
"""

import msgspec

from holdfast.transcript.blocks import AnyBlock, Text
from holdfast.transcript.usage import Tokens, Usage

NOTHING = msgspec.Raw()


class Message(msgspec.Struct, frozen=True, gc=False):
    """The API's message inside a line."""

    id: str = ""
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
    def text(self) -> str:
        """The words of all text blocks."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, Text))


class Compaction(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a boundary line knows of its compaction."""

    trigger: str = ""
    pre_tokens: Tokens | None = None
    post_tokens: Tokens | None = None


class Microcompaction(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What a line knows of old tool results that were cleared from the context."""

    trigger: str = ""
    pre_tokens: Tokens | None = None
    tokens_saved: Tokens = 0
    compacted_tool_ids: tuple[str, ...] = ()


class Line(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One line of any type."""

    type: str = ""
    subtype: str | None = None
    uuid: str = ""
    timestamp: str = ""
    session_id: str = ""
    cwd: str = ""
    version: str = ""
    is_sidechain: bool = False
    agent_id: str | None = None
    prompt_id: str | None = None
    message: Message | None = None
    requested_model: str | None = None
    is_meta: bool | None = False
    is_compact_summary: bool | None = False
    permission_mode: str | None = None
    compact_metadata: Compaction | None = None
    microcompact_metadata: Microcompaction | None = None
    attachment: msgspec.Raw = NOTHING
    rendered: msgspec.Raw = NOTHING


class Copy(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The client's own record of a tool's result: large, and read only when asked for."""

    tool_use_result: msgspec.Raw = NOTHING


class Queueing(msgspec.Struct, frozen=True, gc=False):
    """What was done to the queue of prompts typed while the model works."""

    operation: str = ""
    content: str | None = ""


decode = msgspec.json.Decoder(Line).decode
decode_queueing = msgspec.json.Decoder(Queueing).decode
decode_copy = msgspec.json.Decoder(Copy).decode
