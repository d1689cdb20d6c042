"""Long texts in pieces: a search finds a paragraph better than a chapter, and an embedder reads no
more than some 250 tokens."""

from __future__ import annotations

MOST_CHARS = 1_200
MOST_PIECES = 24
_CUTS = ("\n\n", "\n", ". ", " ")


def clean(text: str) -> str:
    """Without what no index holds: NUL, and halves of characters."""
    text = text.replace("\0", " ")
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def pieces(text: str, most: int = MOST_CHARS) -> list[str]:
    """Cut where a paragraph, a line, a sentence or at least a word ends; the end of a very long one
    is left out."""
    found: list[str] = []
    text = text.strip()
    while len(text) > most and len(found) < MOST_PIECES - 1:
        at = _cut(text, most)
        found.append(text[:at].strip())
        text = text[at:].strip()
    return [*found, text[:most]] if text else found


def _cut(text: str, most: int) -> int:
    for mark in _CUTS:
        at = text.rfind(mark, most // 3, most)
        if at >= 0:
            return at + len(mark)
    return most
