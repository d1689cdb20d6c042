"""How long a text is: in our tokens, in the units the client counts, and in the model's own."""

import msgspec

CHARS_PER_TOKEN = 3.5


class Estimate(msgspec.Struct, frozen=True):
    chars: int
    tokens: int  # as every budget here counts: characters / 3.5
    model_tokens: int | None = None  # by what this session's own usage tells, where there is one


def units(text: str) -> int:
    """UTF-16 units, as the client counts; never fewer than the characters."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def tokens_of(chars: int) -> int:
    return -int(-chars // CHARS_PER_TOKEN)


def estimate(text: str, density: float = 0.0) -> Estimate:
    """`density`: characters to a token of the model at work, as its transcript shows."""
    return Estimate(
        len(text), tokens_of(len(text)), round(len(text) / density) if density else None
    )
