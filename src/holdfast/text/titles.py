"""A session's title: what the user typed first, without tags and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.text.sentences import clip

MOST_CHARS = 200
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_MARKS = re.compile(r"^(?:[#>*+\-\s]|\d+[.)]\s)+|\*{2,}|`+|(?<=\])\([^()\s]*\)|[\[\]]")
_LEAD = re.compile(r"^(?:implement (?:the following|this) plan\b|plan:)[\s:.-]*", re.IGNORECASE)


def title_of(prompt: str) -> str:
    """Return the first paragraph or heading that says something; what a client puts before a plan
    says nothing."""
    candidates = (
        _LEAD.sub("", paragraph) for paragraph in _paragraphs(_TAG.sub(" ", prompt[:20_000]))
    )
    title = next(
        (candidate for candidate in candidates if any(map(str.isalnum, candidate))), prompt
    )
    return clip(" ".join(title.split()), MOST_CHARS)


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        lines.append(_MARKS.sub("", line).strip())
        if not line.strip() or line.startswith("#"):
            yield " ".join(lines)
            lines = []
    yield " ".join(lines)
