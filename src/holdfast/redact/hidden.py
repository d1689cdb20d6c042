"""The text as a reader sees it: without colours and invisible characters, with escapes decoded.

`grep --color` and `jq -C` put escape sequences into the middle of names and tokens, and JSON inside
JSON writes line ends and quotes as escapes. Such a text is searched as it is seen, and each finding
is mapped back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.redact.value import SecretFinding, compiled

# Controls but tab and line ends; formats and fillers of no width; half surrogates.
_INVISIBLE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e01ef"
)
_ESC = r"(?:\x1b|\\{1,8}(?:[uU]001[bB]|x1[bB]|033|e(?=\[)))"
_SEQUENCE = (
    rf"(?:{_ESC}\[|\x9b)[0-?]{{0,64}}[ -/]{{0,8}}[@-~]"
    rf"|{_ESC}\][0-9]{{0,4}};?|{_ESC}[ -/]{{0,4}}[0-~]?"
)
# What is hidden begins with one of few characters: to look for them first saves three fourths.
_HIDDEN = (
    rf"(?=[\\{_INVISIBLE}])(?:{_SEQUENCE}|\\{{1,8}}u(?P<letter>[0-9a-fA-F]{{4}})|[{_INVISIBLE}])"
)
# An address within an address is written so, also twice.
_ENCODED = r"%(?:25){0,3}(?P<code>[2-7][0-9a-fA-F])"
_NOT_ENCODED = r"(?m:^[^%]+$)"  # lines that need not be read twice
_SPELLED = ("\\u", "\\x1b", "\\033")
_PLAIN = bytes((9, 10, 13, *range(32, 127)))


class TextView:
    """What a reader sees of a text: `_starts` are the places of the pieces in `_spans`."""

    __slots__ = ("_spans", "_starts", "text")

    def __init__(self, text: str, pattern: str) -> None:
        parts: list[str] = []
        self._starts: list[int] = []
        self._spans: list[tuple[int, int]] = []
        at = length = 0
        for match in compiled(pattern).finditer(text):
            start, end = match.span()
            for shown, span in ((text[at:start], (at, start)), (_shown(match), (start, end))):
                if shown:
                    parts.append(shown)
                    self._starts.append(length)
                    self._spans.append(span)
                    length += len(shown)
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
            return start, end  # one character, perhaps an escape
        start += at - self._starts[number]
        return start, start + 1


def _shown(match: re.Match[str]) -> str:
    """Return what a reader sees of a match: the character that an escape stands for, or nothing."""
    if match.lastgroup is None:
        return "\n" if match[0] == "\0" else ""  # it separates variables
    char = chr(int(match[match.lastgroup], 16))
    return "" if compiled(f"[{_INVISIBLE}]").match(char) else char


def views(text: str) -> Iterator[TextView | None]:
    """Yield what a reader sees of the text, nothing if that is the text itself, and what a server
    reads of it. A password may have a blank there, so both count."""
    yield TextView(text, _HIDDEN) if _has_hidden(text) else None
    if "%" in text and compiled(_ENCODED).search(text):
        yield TextView(text, f"{_NOT_ENCODED}|{_HIDDEN}|{_ENCODED}")


def _has_hidden(text: str) -> bool:
    # Plain characters are left out first: a pattern takes three times as long.
    others = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if others and compiled(f"[{_INVISIBLE}]").search(others.decode("utf-8", "surrogatepass")):
        return True
    return "\\" in text and any(one in text for one in _SPELLED)


def without_escapes(text: str) -> str:
    """Return a text of the same length in which escaped line ends, tabs and quotes are plain.
    Blanks stand beside them, so that nothing moves: a map of places would take ten times as
    long."""
    if "\\" not in text:
        return text
    for slashes in (7, 3, 1) if "\\\\" in text else (1,):  # JSON in JSON has more of them
        slash, blanks = "\\" * slashes, " " * slashes
        text = text.replace(f'{slash}"', f'"{blanks}')
    for slashes in (4, 2, 1) if "\\\\" in text else (1,):
        slash, blanks = "\\" * slashes, " " * slashes
        text = text.replace(f"{slash}n", f"{blanks}\n").replace(f"{slash}r", f"{blanks} ")
        text = text.replace(f"{slash}t", f"{blanks}\t")
    return text


def visible(text: str) -> str:
    """Return the text without escape sequences and invisible characters."""
    return compiled(rf"{_SEQUENCE}|[{_INVISIBLE}]").sub("", text)
