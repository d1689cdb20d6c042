"""The text as a reader sees it: without colours, control and invisible characters, and with its
escaped letters decoded.

`grep --color`, `jq -C` and `bat` put escape sequences into the middle of names and tokens, and no
rule recognises either then. What is shown later has no such sequences, so its pieces are joined
again. Therefore the text is searched once more as it is seen, and each finding is mapped back.
"""

from __future__ import annotations

from holdfast.redact import names
from holdfast.redact.rule import SecretFinding, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from holdfast.redact.rule import SearchPage

# Controls but tab and line ends, and NUL, which separates variables; formats and fillers of no
# width; half surrogates.
_CHARACTER = (
    r"\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e01ef"
)
_PRINTED = "\u034f\u115f\u1160\u3164\uffa0\ufe0e\ufe0f"  # Python calls these printable
_SPLITTING = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"  # words end at these, so no word has one
# How programs, JSON, shells, HTML and `cat -v` write the escape character.
_SPELLED = r"\\{1,8}(?:u001b|x1b|033|e)|&\#x1b;|&\#27;|\^\["
_SIGNS = ("1b[", "1b]", "1b;", "033[", "\\e[", "27;[", "^[[")
_ESCAPED = r"\\{1,8}u(?P<letter>[0-9a-f]{4})"
_FIRST_LETTER = r"\\u(?P<letter>[0-9a-f]{4})"
_SEQUENCE = rf"(?:\x1b|(?i:{_SPELLED})(?=[\[\]]))"
_HIDDEN = (
    rf"(?:{_SEQUENCE}\[|\x9b)[0-?]{{0,64}}+[ -/]{{0,8}}+[@-~]"
    r"|{title}"
    rf"|{_SEQUENCE}(?:\]|[ -/]{{1,4}}[0-~]|[0-Z\\^-~])?"
    r"|[^\n\x1b]\x08"  # struck over, as in a manual page
    r"|(?<=\0[^\0])\0|\0(?=[^\0]\0)"  # UTF-16 read as bytes
    rf"|[{_CHARACTER}]|(?i:{_ESCAPED})"
)
_FIRST = rf"(?=[\x00&\\^{_CHARACTER}])(?:"
# The title of a window or the address of a link ends at a bell or at the next sequence. Where
# either is missing, the text that follows it is read as well.
_TITLE = rf"{_SEQUENCE}\][^\x07\x1b]*+(?:\x07|\x1b\\|(?=\x1b))"


class TextView:
    """What a reader sees of a text, and where in the text it stands. `starts` are the places in
    the view from which on it is copied, `spans` the pieces of the text that were copied."""

    __slots__ = ("_spans", "_starts", "text")

    def __init__(self, text: str, pattern: str) -> None:
        parts: list[str] = []
        self._starts: list[int] = []
        self._spans: list[tuple[int, int]] = []
        at = length = 0
        for match in compiled(pattern).finditer(text):
            start, end = match.span()
            if start > at:
                parts.append(text[at:start])
                self._starts.append(length)
                self._spans.append((at, start))
                length += start - at
            letter = _decoded(match)
            if letter:
                parts.append(letter)
                self._starts.append(length)
                self._spans.append((start, end))
                length += len(letter)
            at = end
        self._starts.append(length)
        self._spans.append((at, len(text)))
        self.text = "".join([*parts, text[at:]])

    def in_text(self, finding: SecretFinding) -> SecretFinding:
        """Return the finding at its place in the text."""
        start, end = self._place(finding.start)[0], self._place(finding.end - 1)[1]
        return SecretFinding(finding.kind, start, end)

    def _place(self, at: int) -> tuple[int, int]:
        """Return where the character at this place of the view begins and ends in the text."""
        from bisect import bisect_right

        number = bisect_right(self._starts, at) - 1
        start, end = self._spans[number]
        if self._starts[number + 1 : number + 2] == [self._starts[number] + 1]:
            return start, end  # one character, perhaps an escaped one
        start += at - self._starts[number]
        return start, start + 1


def views(page: SearchPage) -> Iterator[TextView]:
    """Yield what a reader sees of the text, unless that is what it says."""
    if _has_hidden(page) or ("\\u" in page.text and _has_escaped(page.text)):
        seen = TextView(page.text, _pattern(page.text).replace("{title}", _TITLE))
        if seen.text != page.text:  # else a second search would find the same
            yield seen
        if "]" in page.text and compiled(rf"{_SEQUENCE}\]").search(page.text):
            yield TextView(page.text, _pattern(page.text).replace("|{title}", ""))


def _pattern(text: str) -> str:
    """Where nothing is struck over, what is hidden begins with one of few characters: to look for
    them first takes a fourth of the time."""
    return _HIDDEN if "\x08" in text else _FIRST + _HIDDEN + ")"


def visible(text: str) -> str:
    """Return the text without escape sequences, control and invisible characters."""
    return TextView(text, _HIDDEN.replace("{title}", _TITLE)).text


def _has_hidden(page: SearchPage) -> bool:
    """Whether there is anything to hide. Each word is looked at once, which takes 1 % of a
    search."""
    return (
        not page.words.isprintable()
        or any(sign in page.words_low for sign in _SIGNS)
        or any(mark in page.text for mark in _SPLITTING)
        or (not page.text.isascii() and any(mark in page.text for mark in _PRINTED))
    )


def _has_escaped(text: str) -> bool:
    """Whether JSON wrote a letter of a name as `\\u006f`, or a character that hides one."""
    letters = {_decode(one) for one in compiled(f"(?i:{_FIRST_LETTER})").finditer(text)}
    return names.has_foreign(letters) or any(
        (one.isascii() and one.isalnum()) or _hides(one) for one in letters
    )


def _decoded(match: re.Match[str]) -> str:
    """Return what a reader sees of a match: a letter if one was escaped, else nothing."""
    if match["letter"] is None:
        return ""
    letter = _decode(match)
    if _hides(letter):
        return ""
    return letter if letter.isalnum() or not letter.isascii() else match[0]


def _decode(match: re.Match[str]) -> str:
    return chr(int(match["letter"], 16))


def _hides(letter: str) -> bool:
    return compiled(f"[{_CHARACTER}]").match(letter) is not None
