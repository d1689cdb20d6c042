"""The tokens an answer cost, as the API reported them."""

from typing import Annotated

import msgspec

# JavaScript's largest exact integer: a bigger count is no count, and SQLite could not hold it.
Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Input and output must be there; a line without them says nothing of the window."""

    input_tokens: Tokens
    output_tokens: Tokens
    cache_creation_tokens: Tokens = msgspec.field(default=0, name="cache_creation_input_tokens")
    cache_read_tokens: Tokens = msgspec.field(default=0, name="cache_read_input_tokens")

    @property
    def input_side_tokens(self) -> int:
        """All that was sent, cached or not."""
        return self.input_tokens + self.cache_creation_tokens + self.cache_read_tokens

    @property
    def total_tokens(self) -> int:
        """How much of the window this answer leaves filled."""
        return self.input_side_tokens + self.output_tokens
