"""The models of Claude Code: the window of each, and whether it is compacted early.

Seen with Claude Code 2.1.325, except where noted. An unknown model gets what Claude Code itself
assumes: a window of a million tokens.
"""

from __future__ import annotations

from typing import Final, NamedTuple

SMALL: Final = 200_000
LARGE: Final = 1_000_000


class Model(NamedTuple):
    prefix: str
    window_tokens: int
    compacts_early: bool = True


# The longest matching prefix wins. Versions 4.6 and older have 200K tokens, the rest a million.
MODELS: Final = (
    Model("claude-2", SMALL, compacts_early=False),
    Model("claude-3", SMALL, compacts_early=False),
    Model("claude-instant", SMALL, compacts_early=False),
    Model("claude-opus-4", SMALL, compacts_early=False),
    Model("claude-sonnet-4", SMALL, compacts_early=False),
    Model("claude-haiku-4", SMALL, compacts_early=False),
    Model("claude-opus-4-6", SMALL),
    Model("claude-sonnet-4-6", SMALL),
    Model("claude-sonnet-4-6[1m]", LARGE, compacts_early=False),
    Model("claude-opus-4-7", LARGE),
    Model("claude-opus-4-8", LARGE),
    Model("claude-opus-5", LARGE),
    Model("claude-sonnet-5", LARGE),
    Model("claude-haiku-5", LARGE),
    Model("claude-fable-5", LARGE),
)
UNKNOWN: Final = Model("", LARGE)
ALIASES: Final = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
    "fable": "claude-fable-5-2",
}


def find(model_id: str) -> Model:
    """The row for a model id as it is written in transcripts, payloads or command lines."""
    wide = model_id.strip().lower().endswith("[1m]")
    stem = _stem(model_id)
    fits = [row for row in MODELS if _fits(row.prefix, stem + ("[1m]" if wide else ""))]
    row = max(fits, key=lambda row: len(row.prefix), default=UNKNOWN)
    if wide and row.window_tokens < LARGE:
        return Model(row.prefix, LARGE, compacts_early=False)
    return row


def canonical(model_id: str) -> str:
    """The name without date, `[1m]` and a cloud's prefix, as Claude Code's settings use it."""
    stem = _stem(model_id).split("@")[0].split(":")[0].removesuffix("-v1")
    name, _, last = stem.rpartition("-")
    return name if len(last) == 8 and last.isdecimal() else stem


def _stem(model_id: str) -> str:
    """The full name without `[1m]` and the prefix of a cloud."""
    stem = model_id.strip().lower().removesuffix("[1m]")
    stem = ALIASES.get(stem, stem)
    return stem[stem.find("claude-") :] if "claude-" in stem else stem


def _fits(prefix: str, name: str) -> bool:
    """Whether the prefix means this name: `claude-opus-4` does not mean `claude-opus-45`."""
    bare = name.removesuffix("[1m]")
    if prefix.endswith("[1m]"):
        return name.endswith("[1m]") and _fits(prefix.removesuffix("[1m]"), bare)
    return bare == prefix or bare.startswith((prefix + "-", prefix + "@", prefix + "."))
