"""A random word some words behind a telling name: "the token you need: …", a table, the next line.

Between the two stand words alone: where another name or value stands between, the value is not
this name's. What is set off by a colon, or alone on the next line, may look less random.
"""

from __future__ import annotations

import re

from holdfast.redact.value import (
    is_gibberish,
    is_hex,
    is_key,
    is_made_up,
    is_random,
    is_uuid,
    like_a_password,
    stand_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.names import Name

NEXT_LINE_CHARS, CLOSE_CHARS, MOST_TOKENS = 240, 12, 12
_ANOTHER = r"[\"'`{}\[\]<>].*[\"'`{}\[\]<>]\s?\w"  # name or value stands between
_VALUE = r"[^\s\"'`,;|()<>{}\[\]„“”\\→]{8,1024}"
_ANY = r"[0-9][^\s\"'`,;|()<>]{4}|[^\s\"'`,;|()<>]{7}[0-9]|[A-Za-z]{12}"  # may be in a value
_TOKEN = rf"\\+[nrt]|(?P<value>{_VALUE})"
_WORDS = r"[^:=\"'`{}\[\]<>\r\n\\]{0,90}"
_SET_OFF = r"(?:[:=|,]|=>|\bis|\bwas|→|\b(?:ist|lautet|est|es)|[éè])[ \t]{0,8}"
_OPEN = r"[ \t]{0,8}[\\\"'`*(„“|]{0,8}\Z"
_BEHIND = rf"{_WORDS}(?:{_SET_OFF})?{_OPEN}"
_LINE = (
    r"(?:\r?\n|\\{1,7}n)(?:[\w./-]{1,80}-[0-9]{1,6}-)?"
    r"(?:[ \t>+#*|-]|\\t|[0-9]{1,6}(?:→|\t|:| \|)){0,60}"
)
_BELOW = rf"{_WORDS}:?[ \t]{{0,4}}(?:{_LINE}){{1,2}}(?:[\w.@-]{{1,40}},){{0,4}}{_OPEN}"
_SET_OFF_AT_END = rf"{_SET_OFF}{_OPEN}"
_BELOW_ECHO = (
    rf"[}}\"']{{0,3}}(?:{_LINE})({_VALUE})(?=[\"'`)*.]{{0,3}}[ \t]{{0,4}}(?:[\r\n\\\x1b]|\Z|\",?))"
)
_ENDS_LINE = r"[\"'`)*.]{0,3}[ \t]{0,4}(?:[\r\n\\\x1b]|\Z|\",?)"
_OTHER = (
    r"(?:hash|sha-?\d|digest|checksum|commit|integrity|signature|uuid|\bid|etag|public|fingerprint"
    r"|cache|version|revision|branch|file|path|url|model|image|count)\W{0,6}(?:\w+\W{1,3})?\Z"
)
_NO_VALUE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|.*(?::[0-9]+|\.[a-z]{1,5}|/)\Z|.*://|.*@[\w-]+\."
_NAMED = r"[\w-]+=."


_COLUMNS = r"[^()]{0,80}\)\s{0,8}values\s{0,8}\([^()]{0,200}\Z"  # of an INSERT
_AS = (
    r"(?:\A|[\s\"'`(])([^\s\"'`()]{8,64})[\"'`)]{0,2} as (?:(?:the|a|your|my|its) )?"
    r"(?:[\w-]+ ){0,3}\Z"
)


def find(
    text: str, at: int, end: int, name: Name, sure: bool, qualified: bool
) -> tuple[int, int] | None:
    """The value that the name from `at` to `end` speaks of, in front of it or behind."""
    return (
        (_printed(text, at, end) if sure else None)
        or _behind(text, end, Spoken(name.password, sure, qualified))
        or (_before(text, at) if name.password else None)
    )


class Spoken:
    """What the name says of the value: a password, surely a secret, or said of nothing else."""

    __slots__ = ("password", "qualified", "sure")

    def __init__(self, password: bool, sure: bool, qualified: bool) -> None:
        self.password = password
        self.sure = sure
        self.qualified = qualified


def _behind(text: str, end: int, spoken: Spoken) -> tuple[int, int] | None:
    """A word nearby, if it can be nothing else; `secrets.json` is a file."""
    if re.compile(r"[A-Za-z0-9+/]|\.[A-Za-z]").match(text, end):  # or base64 goes on
        return None
    if not re.compile(_ANY).search(text, end, end + NEXT_LINE_CHARS):
        return None
    for number, match in enumerate(re.compile(_TOKEN).finditer(text, end, end + NEXT_LINE_CHARS)):
        value = (match["value"] or "").rstrip(".:*!?")
        if number == MOST_TOKENS or re.match(_NAMED, value):
            return None
        if not (re.search("[0-9]", value) or is_gibberish(value)) or re.match(_NO_VALUE, value):
            continue
        between = text[end : match.start()]
        in_row = "alues" in between.lower() and re.match(_COLUMNS, between, re.I) is not None
        if not in_row and re.search(_ANOTHER, between):
            return None
        if stand_in(value):
            continue
        follows = text[match.start() + len(value) :][:8]
        if (in_row and _in_a_row(value)) or _is_value(between, value, follows, spoken):
            return match.start(), match.start() + len(value)
    return None


def _in_a_row(value: str) -> bool:
    return like_a_password(value) or (is_hex(value) and len(value) >= 16)


def _printed(text: str, at: int, end: int) -> tuple[int, int] | None:
    """`echo $TOKEN`, and the line below it."""
    if not re.search(r"\$\{?\w{0,40}\Z", text[max(0, at - 42) : at], re.A):
        return None
    match = re.compile(_BELOW_ECHO).match(text, end)
    return match.span(1) if match and is_key(match[1], literal=True) else None


def _before(text: str, at: int) -> tuple[int, int] | None:
    """ "Use … as the password"."""
    before = text[max(0, at - 120) : at]
    match = re.search(_AS, before) if " as " in before else None
    if match and (like_a_password(match[1]) or is_made_up(match[1])):
        start = at - len(before) + match.start(1)
        return start, start + len(match[1])
    return None


def _is_value(between: str, value: str, follows: str, spoken: Spoken) -> bool:
    if re.search(_OTHER, between, re.I):
        return False
    if re.match(_BEHIND, between):
        set_off = re.search(_SET_OFF_AT_END, between) is not None
    elif re.match(_BELOW, between) and re.match(_ENDS_LINE, follows):
        set_off = True
    else:
        return False
    if is_random(value):
        return True
    adjacent = spoken.qualified and not between.strip(" \t\"'`|,:=")
    if is_uuid(value):
        return spoken.sure and (set_off or adjacent)
    if is_hex(value):
        return _is_hex_key(len(value), between, adjacent, set_off)
    if not (spoken.password and spoken.sure):
        return False
    close = set_off or len(between) <= CLOSE_CHARS
    return close and (is_made_up(value) or is_gibberish(value) or like_a_password(value))


def _is_hex_key(length: int, between: str, adjacent: bool, set_off: bool) -> bool:
    """Forty digits are a commit, unless they are set off or stand right behind an "access key"."""
    if length == 40:
        return adjacent or (
            set_off and ("\n" not in between or ":" in between or between[:1] == "\n")
        )
    return length >= (20 if set_off else 32)
