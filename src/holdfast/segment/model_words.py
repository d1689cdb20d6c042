"""A model's words for a segment, taken in: cleaned, redacted, short enough, ours kept behind."""

from __future__ import annotations

from holdfast.redact import redact
from holdfast.segment import formats, relevance
from holdfast.segment.errors import NotASave
from holdfast.segment.formats import Compressed
from holdfast.segment.plain_text import line, visible

LARGEST_SHARE = 0.2  # at least 80 % fewer tokens
FLOOR_TOKENS = 120  # a small segment cannot be told in a fifth of itself
MOST_LISTED, LONGEST_LISTED = 60, 400


def most_tokens(original_tokens: int) -> int:
    """How long the words for a segment of this size may be."""
    return max(FLOOR_TOKENS, int(original_tokens * LARGEST_SHARE))


def take(one: Compressed, text: str, decisions: list[str], files: list[str], now_ms: int) -> None:
    """Put these in place of ours; a list that is empty leaves ours, and our text stays behind."""
    words = redact(visible(text)).strip()
    if not words:
        raise NotASave("there are no words to save")
    most = most_tokens(one.original_tokens)
    if formats.tokens(words) > most:
        told = f"{formats.tokens(words):,} tokens for a segment of {one.original_tokens:,}"
        raise NotASave(f"{told} are too many: at most {most:,}")
    if one.metadata.written_by != formats.MODEL:
        one.metadata.own_content = one.compressed_content
        one.metadata.written_by = formats.MODEL
    one.compressed_content = words
    one.compressed_tokens = formats.tokens(words)
    one.compression_ratio = formats.ratio(one.original_tokens, one.compressed_tokens)
    one.key_decisions = _listed(decisions) or one.key_decisions
    one.key_files = _listed(files) or one.key_files
    one.compressed_at = relevance.stamp(now_ms)
    one.relevance_score = relevance.score(one, now_ms)


def _listed(theirs: list[str]) -> list[str]:
    told = [redact(line(text, LONGEST_LISTED)) for text in theirs[:MOST_LISTED]]
    return list(dict.fromkeys(filter(None, told)))
