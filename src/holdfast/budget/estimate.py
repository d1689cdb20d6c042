"""The length of a text in tokens, in UTF-16 units, and in the model's own tokens."""

import msgspec

from holdfast.wire.mark import CHARS_PER_TOKEN


class TextEstimate(msgspec.Struct, frozen=True):
    chars: int
    tokens: int  # characters / CHARS_PER_TOKEN, as every budget counts
    model_tokens: int | None = None  # by the density measured in this session, if there is one


def units(text: str) -> int:
    """UTF-16 units, as the client counts; never fewer than the characters."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def tokens_of(chars: int) -> int:
    return -int(-chars // CHARS_PER_TOKEN)


def estimate(text: str, density: float = 0.0) -> TextEstimate:
    """Estimate a text. `density`: characters per token of the model, measured in its transcript."""
    return TextEstimate(
        len(text), tokens_of(len(text)), round(len(text) / density) if density else None
    )
