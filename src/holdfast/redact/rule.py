"""A rule: words that must occur in the text, and a pattern that is tried only where one of them
does.

`str.find` searches 100 KB in about 10 µs; compiling one pattern takes 20 to 50 times that. So a
text without the word costs next to nothing, and a pattern is compiled when its word first occurs.
Each pattern is tried at its word only, and what it reads from there is bounded or possessive, so
the whole stays linear.

Most of a text is short words, and no token is short. There are 150 words to look for, so only the
long words of a page are searched first: that saves 9 of 10 ms. A quote or comma ends a word too: no
token holds one, and JSON without blanks would be one long word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Alone in a line: no table goes on behind it. No text can have it, because it is made of the time.
TABLE_END = f"{time_ns():064b}"[-32:].translate({ord("0"): ".", ord("1"): "~"})
REDACTED = "[redacted"  # every placeholder begins so, and no rule takes it for a secret
LONG_CHARS = 12  # no token is shorter
VERY_LONG_CHARS = 48
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_ASCII_LOWER[0x212A] = ord("k")  # of the others `lower` makes but the Kelvin sign a plain letter
# Characters that a reader takes for others: wide letters and signs, and the blanks of Unicode.
_WIDE = "".join(map(chr, (*range(0xFF10, 0xFF1B), 0xFF1D, *range(0xFF21, 0xFF3B), 0xFF3F)))
_WIDE += "".join(map(chr, (0xFF0D, *range(0xFF41, 0xFF5B))))
_FOLDED = {ord(char): ord(char) - 0xFEE0 for char in _WIDE}
_BLANKS = (0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_FOLDED |= dict.fromkeys(_BLANKS, 0x20)
_MAY_FOLD = r"[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000\uff0d-\uff5a]"
_GLUE = r"(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]{0,7}m)\Z"
_GLUE_CHARS = 10
ASCII, ANY_CASE = int(re.A), int(re.I)
# The kind of each character: letters, digits, what ends a word, and others.
_KINDS = bytes(
    (
        97
        if chr(code).islower()
        else 65
        if chr(code).isalpha()
        else 48
        if chr(code).isdigit()
        else 46
    )
    if code < 128 and chr(code).isalnum()
    else 32
    if chr(code).isspace() or chr(code) in "\"'`,;|()<>"
    else 46
    for code in range(256)
)
_BEHIND = r"|(?<=\\[nrt])|(?<=%[0-9A-F]{2})|(?<=\x1b\[[0-9;]m)|(?<=\x1b\[[0-9;]{2}m))"
START = r"(?:(?<![A-Za-z0-9_])" + _BEHIND  # of a word
APART = r"(?:(?<![A-Za-z0-9_-])" + _BEHIND  # one start in a run, else a run of starts is quadratic
# What may stand between two lines: their end, also escaped, and what numbers or a diff put there.
BETWEEN_LINES = r"(?:\s|\\{1,7}[rn]|[0-9]{1,6}(?:→|\t)|[+-])"
GLUED_CHARS = 4  # of a word may belong to an escape before it, and a word may start behind them


@lru_cache(None)
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern once. `re.compile` finds a known one too, but takes ten times as long."""
    return re.compile(pattern, flags)


@lru_cache(None)
def compiled_kinds(pattern: bytes) -> re.Pattern[bytes]:
    """Compile a pattern of the kinds of characters."""
    return re.compile(pattern)


class SecretFinding:
    """One secret: its kind, and the half-open span it fills."""

    __slots__ = ("end", "kind", "start")  # no dataclass: that import alone costs 20 ms

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SecretFinding):
            return NotImplemented
        return self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return f"Finding({self.kind!r}, {self.start}, {self.end})"

    def _all(self) -> tuple[str, int, int]:
        return self.kind, self.start, self.end

    @property
    def placeholder(self) -> str:
        return f"{REDACTED}: {self.kind}]"


def merge_findings(findings: Iterable[SecretFinding]) -> list[SecretFinding]:
    """Sort findings and merge those that overlap; the one found first (by the surer rule) names
    the result."""
    ranked = sorted(enumerate(findings), key=lambda item: item[1].start)
    kept: list[tuple[int, SecretFinding]] = []
    for rank, one in ranked:
        if kept and one.start < kept[-1][1].end:
            last_rank, last = kept[-1]
            kind = last.kind if last_rank < rank else one.kind
            both = SecretFinding(kind, last.start, max(last.end, one.end))
            kept[-1] = (min(last_rank, rank), both)
        else:
            kept.append((rank, one))
    return [one for _, one in kept]


class SearchPage:
    """The text, the same in lower case, and its words, each once: all, long and very long ones,
    and those of other scripts."""

    __slots__ = ("_kinds", "_letters", "apart", "foreign_low", "long", "long_low", "low", "text",
                 "very_long", "words", "words_low")  # fmt: skip

    def __init__(self, text: str) -> None:
        apart = set(text.replace('"', " ").replace(",", " ").split())
        words = [word for word in apart if len(word) >= LONG_CHARS]
        self.text = text
        self.apart = apart
        self.low = lower_in_place(text)
        self.words = f" {' '.join(apart)} "
        self.words_low = lower_in_place(self.words)
        self.foreign_low = "" if text.isascii() else _foreign(apart).lower()
        self.long = " ".join(words)
        self.long_low = self.long.lower()
        self.very_long = " ".join([word for word in words if len(word) >= VERY_LONG_CHARS])
        self._kinds = self._letters = b""

    @property
    def kinds(self) -> bytes:
        """One byte for each character: `a`, `A`, `0`, a blank where words end, else a dot. Beyond
        Latin-1 a blank is not told from others."""
        if not self._kinds:
            self._kinds = self.text.encode("latin-1", "replace").translate(_KINDS)
        return self._kinds

    @property
    def letters(self) -> bytes:
        """The same, with `a` for any letter."""
        if not self._letters:
            self._letters = self.kinds.lower()
        return self._letters


def _foreign(words: Iterable[str]) -> str:
    """Join the words with a letter beyond ASCII: few, so names of other scripts cost nothing."""
    return " ".join([word for word in words if not word.isascii()])


def lower_in_place(text: str) -> str:
    """Lower the text without moving any character: "İ".lower() is two characters long. Wide letters
    and blanks become plain ones."""
    if not text.isascii() and compiled(_MAY_FOLD).search(text):
        text = text.translate(_FOLDED)
    low = text.lower()
    return low if len(low) == len(text) else text.translate(_ASCII_LOWER)


def can_begin(text: str, at: int) -> bool:
    r"""Whether a word can begin here: `\n` in an escaped string ends in a letter too, and `__`
    separates the names in a tool's name."""
    if at == 0 or not (text[at - 1].isalnum() or text[at - 1] == "_"):
        return True
    if text[max(0, at - 2) : at] == "__":
        return True
    return re.search(_GLUE, text[max(0, at - _GLUE_CHARS) : at]) is not None


def positions(hay: str, word: str) -> Iterator[int]:
    """Yield each position of the word."""
    at = hay.find(word)
    while at >= 0:
        yield at
        at = hay.find(word, at + 1)


def _end_of_run(text: str, at: int) -> int:
    """Return where the letters and digits around this place end, if no word can start among them:
    four stand before it. In 1 MB of `eyJ` a pattern was tried 300,000 times."""
    before = text[at - GLUED_CHARS : at] if at >= GLUED_CHARS else ""
    if not (before.isascii() and before.isalnum()):
        return 0
    run = compiled("[A-Za-z0-9]+").match(text, at)
    return run.end() if run else 0


class Rule:
    """Group 1 of the pattern is the secret; `judge` may reject it.

    `within` is the part of a page that is searched for the words first: the long words, for a rule
    that finds one long word. With `once`, a match that the judge rejected is skipped whole, because
    no part of it could pass. With `begins`, one of these texts must start where the word does: any
    text has `log`, few have `log in`. With `back`, the pattern begins so many characters before the
    word.
    """

    __slots__ = (
        "_compiled",
        "any_case",
        "back",
        "begins",
        "judge",
        "kind",
        "once",
        "pattern",
        "starts_word",
        "within",
        "words",
    )

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
        begins: tuple[str, ...] = ("",),
        back: int = 0,
    ) -> None:
        self.kind = kind
        self.words = words.split(" ")
        self.pattern = pattern
        self.judge = judge
        self.any_case = any_case
        self.within = within + "_low" if any_case and within == "long" else within
        self.once = once
        self.begins = begins
        self.back = back
        self.starts_word = pattern.startswith((START, APART))
        self._compiled: re.Pattern[str] | None = None

    def scan(self, page: SearchPage) -> Iterator[SecretFinding]:
        first: str = getattr(page, self.within)
        for word in self.words:
            if word in first:
                yield from self._tried(page, word)

    def _tried(self, page: SearchPage, word: str) -> Iterator[SecretFinding]:
        hay = page.low if self.any_case else page.text
        if self.within == "very_long" and not self._pattern().search(page.very_long):
            return
        at, done = hay.find(word), 0
        while at >= 0:
            match = self._match(page.text, hay, at)
            if match and (self.judge is None or self.judge(match[1])):
                done = match.end(1)
                yield SecretFinding(self.kind, match.start(1), done)
            elif match and self.once:
                done = match.end(1)
            elif self.starts_word:
                done = _end_of_run(page.text, at)
            at = hay.find(word, max(at + 1, done + self.back))

    def _match(self, text: str, hay: str, at: int) -> re.Match[str] | None:
        if at < self.back or not hay.startswith(self.begins, at):
            return None
        return self._pattern().match(text, at - self.back)

    def _pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, re.A | re.I if self.any_case else re.A)
        return self._compiled
