"""How a named value is written decides how sure one must be that it is a secret.

Quoted, in a `.env` line, or behind a flag it is a literal; bare behind a colon it may be code;
with nothing but a blank before it, it must be long and random to count.
"""

from __future__ import annotations

import re

from holdfast.redact.value import is_password, unlike_a_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Judge = Callable[[str, bool], bool]
    Span = tuple[int, int]

_STOPS = r"[,;&<>(){}\[\]|]"
_CALLS = ("(", "[", "{", "<")
_LOOSE = ("", "|")


class Written:
    """A name, what stands between it and its value, and whether it is a flag or shouted."""

    __slots__ = ("flag", "loose", "match", "name", "plain_pass", "separator", "shouted", "text")

    def __init__(self, text: str, at: int, name: str, match: re.Match[str]) -> None:
        self.text = text
        self.name = name
        self.match = match
        self.separator = match["sep"].strip("\"'`\\ \t,")
        self.flag = _is_flag(text, at)
        self.loose = self.separator in _LOOSE and not self.flag
        self.shouted = text[at : at + len(name)].isupper() and match["sep"] == "="
        self.plain_pass = name == "pass" and not self.flag and text[at - 1 : at] not in ("_", "-")


def span_of(written: Written, judge: Judge) -> Span | None:
    """Where the value stands, if the way it is written and what it holds make it a secret."""
    if written.match["bare"] is not None:
        return None if written.plain_pass else _bare(written, judge)
    group = "quoted" if written.match["quoted"] is not None else "escaped"
    return written.match.span(group) if _quoted(written, written.match[group], judge) else None


def _quoted(written: Written, value: str, judge: Judge) -> bool:
    if " " in value and written.name != "passphrase":
        return False
    if written.plain_pass:  # `pass: 12`, say the test runners, and `pass: `x()``, the manuals
        return written.match["q"] in ("'", '"') and is_password(value, False)
    return judge(value, not written.loose and not written.separator.startswith("is"))


def _bare(written: Written, judge: Judge) -> Span | None:
    start, bare = written.match.span("bare")[0], written.match["bare"]
    if written.separator == ">":
        value, literal = bare.partition("<")[0], True
    elif written.flag or written.shouted:
        value, literal = bare.rstrip(",;)}]|>."), True
    else:
        value, literal = _first(written.text, start, bare), False
    if written.loose and not unlike_a_hash(value):
        return None
    if written.separator.startswith("is") and not _spoken(value):
        return None
    return (start, start + len(value)) if judge(value, literal) else None


def _is_flag(text: str, at: int) -> bool:
    """`--db-password`: two dashes, then nothing but the name."""
    head = text[max(0, at - 32) : at]
    dashes = head.rfind("--")
    return dashes >= 0 and re.fullmatch(r"[\w-]*", head[dashes + 2 :], re.A) is not None


def _spoken(value: str) -> bool:
    """ "The password is correct" names none; "the password is hunter2" does."""
    return len(value) >= 6 and re.search("[0-9]", value) is not None


def _first(text: str, start: int, bare: str) -> str:
    """The value without what code writes behind it; nothing where it is a call."""
    head = re.split(_STOPS, bare, maxsplit=1)[0]
    follows = text[start + len(head) : start + len(head) + 2]
    if follows[:1] in _CALLS and follows != "</":
        return ""
    tail = bare[len(head) :]
    if not re.search(r"[(){}\[\]<>=:]", tail):  # a comma or semicolon inside a password
        return bare.rstrip(",;|&.")
    return head.rstrip(".")
