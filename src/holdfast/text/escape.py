"""Escape control characters, so that quoted text cannot act on a terminal or a parser.

A checkpoint quotes text of any origin: terminal escapes, carriage returns, direction overrides,
NUL, half surrogates. They are written as Markdown character references (`&#x1b;`): harmless under
`cat`, correct in a viewer, and reversible.
"""

from __future__ import annotations

import re

# C0 but tab and newline, DEL, C1, marks and overrides of direction, line and paragraph separators,
# the byte order mark, half surrogates (no UTF-8 holds them), invisible tag characters.
_ACTING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_SPELLED = "amp;|#x[0-9a-f]{1,6};"
HIGHEST = 0x10FFFF


def escape(text: str) -> str:
    if _is_inert(text) and not _has_spelled(
        text
    ):  # nearly every text; compiling the pattern takes 1 ms
        return text
    return re.sub(f"[{_ACTING}]|&(?={_SPELLED})", _spell, text)


def unescape(text: str) -> str:
    return re.sub(f"&(?:{_SPELLED})", _read, text) if _has_spelled(text) else text


def shown(text: str) -> str:
    """One escaped line for a terminal. It cannot be turned back into the text."""
    return " ".join(escape(text).split())


def acting(text: str) -> list[str]:
    """The characters of a text that `escape` would replace."""
    return [] if _is_inert(text) else re.findall(f"[{_ACTING}]", text)


def _is_inert(text: str) -> bool:
    """Whether no character needs escaping: Python calls none of those printable."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def _has_spelled(text: str) -> bool:
    return "&amp;" in text or "&#x" in text


def _spell(found: re.Match[str]) -> str:
    return "&amp;" if found[0] == "&" else f"&#x{ord(found[0]):x};"


def _read(found: re.Match[str]) -> str:
    if found[0] == "&amp;":
        return "&"
    point = int(found[0][3:-1], 16)
    return chr(point) if point <= HIGHEST else found[0]
