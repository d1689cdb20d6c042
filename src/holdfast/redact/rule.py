"""A rule: words that must stand in the text, and a pattern tried only where one of them does.

`str.find` passes over 100 KB in some 10 µs; compiling one pattern costs 20 to 50 times that. So a
text without the word costs next to nothing, and the pattern is compiled when it is first met.

Each pattern is tried at its word only, and what it may read from there is either bounded or
eaten, so the whole stays linear.
"""

from __future__ import annotations

import re

from holdfast.redact.finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.redact.search_text import Page

_GLUE = r"(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,7}m)\Z"
_GLUE_CHARS = 10


def begins(text: str, at: int) -> bool:
    """True where a word can begin: `\\n` before it in an escaped string ends in a letter too,
    and `__` parts the names in a tool's name."""
    if at == 0 or not (text[at - 1].isalnum() or text[at - 1] == "_"):
        return True
    if text[max(0, at - 2) : at] == "__":
        return True
    return re.search(_GLUE, text[max(0, at - _GLUE_CHARS) : at]) is not None


def places(hay: str, word: str) -> Iterator[int]:
    """Where the word stands, one after the other."""
    at = hay.find(word)
    while at >= 0:
        yield at
        at = hay.find(word, at + 1)


class Rule:
    """Group 1 of the pattern is the secret; `judge` may still say that it is none.

    A rule of one long word says so by `within`, the part of a page worth looking through first.
    With `once`, what the judge refused is passed over: no part of it could fare better.
    """

    __slots__ = ("_compiled", "any_case", "judge", "kind", "once", "pattern", "within", "words")

    def __init__(
        self,
        kind: str,
        words: str,
        pattern: str,
        judge: Callable[[str], bool] | None = None,
        *,
        any_case: bool = False,
        within: str = "long",
        once: bool = False,
    ) -> None:
        self.kind = kind
        self.words = words.split(" ")
        self.pattern = pattern
        self.judge = judge
        self.any_case = any_case
        self.within = within + "_low" if any_case and within == "long" else within
        self.once = once
        self._compiled: re.Pattern[str] | None = None

    def scan(self, page: Page) -> Iterator[Finding]:
        first: str = getattr(page, self.within)
        for word in self.words:
            if word in first:
                yield from self._tried(page, word)

    def _tried(self, page: Page, word: str) -> Iterator[Finding]:
        compiled = self._compiled = self._compiled or self._compile()
        if self.within == "very_long" and not compiled.search(page.very_long):
            return
        done = 0
        for at in places(page.low if self.any_case else page.text, word):
            match = compiled.match(page.text, at) if at >= done else None
            if match and (self.judge is None or self.judge(match[1])):
                done = match.end(1)
                yield Finding(self.kind, match.start(1), done)
            elif match and self.once:
                done = match.end(1)

    def _compile(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.A | re.I if self.any_case else re.A)
