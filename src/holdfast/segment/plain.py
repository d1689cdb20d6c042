"""Words as they may be kept: what is seen, and nothing that acts."""

from __future__ import annotations

_OPENS_WORDS = "'\"`(/@#-*[<“¿¡"


def is_pasted(text: str) -> bool:
    """What a terminal printed rather than what somebody asked: it begins with a sign or a shell's
    prompt."""
    head = text.lstrip()[:100].partition("\n")[0]
    sign = head[:1]
    if sign and not sign.isalnum() and sign not in _OPENS_WORDS:
        return True
    before, dollar, _ = head.partition("$ ")
    return (bool(dollar) and ("@" in before or not before.strip())) or head.startswith("Traceback")


def visible(text: str) -> str:
    """Without characters that are not seen, or act."""
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() or mark == "\n" else " " for mark in text)


def line(text: str, most: int) -> str:
    """On one line, at most so long, and saying so when there was more."""
    words = " ".join(visible(text[: most * 4]).split())
    return words if len(words) <= most else words[: most - 2].rstrip() + " …"
