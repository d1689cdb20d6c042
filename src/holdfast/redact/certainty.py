"""How a named value is written decides how sure one must be that it is a secret.

Quoted, in a `.env` line, or behind a flag it is a literal; bare behind a colon it may be code;
with nothing but a blank before it, it must be long and random to count.
"""

from __future__ import annotations

import re

from holdfast.redact.names import HINT, SURE
from holdfast.redact.value import (
    is_hex,
    is_key,
    is_made_up,
    is_password,
    is_phrase,
    is_strong,
    like_a_password,
    unlike_a_hash,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.names import Name

    Span = tuple[int, int]

_STOPS = r"[,;&<>(){}\[\]|]"
_CALLS = ("(", "[", "{", "<")
_LOOSE = ("", "|")
_SPOKEN = (
    r"(?:is|are|was|will be|ist|lautet|hei(?:ß|ss)t|est|es|é|è|set to|changed to|reset to|to)(?!\w)"
)


class Written:
    """A name, what stands between it and its value, and whether it is a flag or shouted."""

    __slots__ = ("ends_at", "flag", "loose", "match", "name", "plain_pass", "separator", "shouted",
                 "spoken", "text", "verdict")  # fmt: skip

    def __init__(
        self, text: str, at: int, name: Name, separator: re.Match[str], match: re.Match[str]
    ) -> None:
        self.text = text
        self.name = name
        self.match = match
        between = separator[0]
        self.ends_at = separator.start()
        self.separator = between.strip("\"'`\\ \t,")
        self.flag = _is_flag(text, at)
        # `"How shall we hash the password?"="bcrypt"` answers a question with a word.
        self.spoken = _is_spoken(self.separator) or between[:1] == "?"
        self.loose = self.separator in _LOOSE and not self.flag
        self.shouted = text[at : separator.start()].isupper() and between in ("=", " = ")
        self.plain_pass = (
            name.word in ("pass", "pw") and not self.flag and text[at - 1 : at] not in ("_", "-")
        )
        self.verdict = self.plain_pass and text[at : at + 4] == "PASS" and between != "="

    def judge(self, value: str, sure: int, literal: bool) -> bool:
        if sure != SURE:
            hash_too = sure == HINT and len(value) >= 32
            return is_strong(value, self.shouted or hash_too)
        return is_password(value, literal) if self.name.password else is_key(value, literal)


def span_of(written: Written, sure: int) -> Span | None:
    """Where the value stands, if the way it is written and what it holds make it a secret."""
    if written.verdict:  # `--- PASS: TestThis2`
        return None
    if written.match["bare"] is not None:
        return _bare(written, sure)
    group = next(one for one in ("quoted", "escaped", "curly") if written.match[one] is not None)
    start, end = written.match.span(group)
    return (start, end) if _quoted(written, written.text[start:end], sure) else None


def _quoted(written: Written, value: str, sure: int) -> bool:
    if " " in value:
        if written.plain_pass or value[0] == " ":
            return False
        calm = not written.loose or written.name.word == "passphrase"
        return written.name.password and calm and is_phrase(value, written.shouted)
    if written.plain_pass:  # `pass: 12`, say the test runners, and `pass: `x()``, the manuals
        return written.match["q"] != "`" and is_password(value, False)
    return written.judge(value, sure, not written.loose and not written.spoken)


def _bare(written: Written, sure: int) -> Span | None:
    start, end = written.match.span("bare")
    bare = written.text[start:end]
    if written.separator.endswith(">"):
        value, literal = bare.partition("<")[0], True
    elif written.flag or written.shouted:
        value, literal = bare.rstrip(",;)}]|>."), True
    else:
        value = _first(written.text, start, bare)
        literal = _is_setting(written, start + len(bare)) and _has_digits(value)
    if written.loose and not unlike_a_hash(value) and not _sure_alone(written.name, value):
        return None
    if (written.spoken or written.plain_pass) and not _spoken(value):
        return None
    return (start, start + len(value)) if written.judge(value, sure, literal) else None


def _sure_alone(name: Name, value: str) -> bool:
    """Behind `password` and a blank: a value that can be no word of a sentence."""
    if not name.password:
        return False
    return like_a_password(value) or is_made_up(value) or (len(value) >= 12 and is_hex(value))


def _is_setting(written: Written, end: int) -> bool:
    """The whole line is `name: value` or `name=value`, as settings have it."""
    text, at = written.text, written.ends_at
    head = text[max(0, at - 64) : at]
    line = re.split(r"\n|\\n", head)[-1]
    before = re.fullmatch(r"[ \t+>|-]{0,40}(?:[0-9]{1,6}(?:→|\t))?[ \t+-]{0,40}[\w.-]*", line, re.A)
    return (
        before is not None
        and re.match(r"[ \t]*(?:[\r\n\"]|\\[nr]|\Z)", text[end : end + 8]) is not None
    )


def _has_digits(value: str) -> bool:
    return len(re.findall("[0-9]", value)) >= 2


def _is_flag(text: str, at: int) -> bool:
    """`--db-password`, `-storepass`, `/pass`: dashes, then nothing but the name."""
    head = text[max(0, at - 32) : at]
    dash = max(head.rfind(" -"), head.rfind('"-'), head.rfind("'-"), head.rfind(" /"))
    return dash >= 0 and re.fullmatch(r"-?[\w.-]*", head[dash + 2 :], re.A) is not None


def _is_spoken(separator: str) -> bool:
    return (
        re.match(_SPOKEN, separator) is not None or re.search(rf" {_SPOKEN}", separator) is not None
    )


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
