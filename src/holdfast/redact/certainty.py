"""How certain one must be that a value behind a telling name is a secret.

A value that is quoted, in a `.env` line, or behind a flag is a literal; bare behind a colon it may
be code; with only a blank before it, it must be long and random to count.

A random word may also stand some words away: "the token you need: …", a table, the next line. Only
plain words may stand between, because another name or value would own it. A value set off by a
colon, or alone on the next line, may look less random.
"""

from __future__ import annotations

import re

from holdfast.redact.names import HINT, IS, PARTICLE, SURE, is_qualified
from holdfast.redact.rule import ANY_CASE, ASCII, BETWEEN_LINES, compiled, compiled_kinds
from holdfast.redact.value import (
    is_gibberish,
    is_hex,
    is_key,
    is_made_up,
    is_no_hash,
    is_password,
    is_phrase,
    is_placeholder,
    is_random,
    is_scrambled,
    is_strong,
    is_uuid,
    like_a_password,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redact.names import SecretName
    from holdfast.redact.rule import SearchPage

    Span = tuple[int, int]

_STOPS = r"[,;&<>(){}\[\]|»]"
_CALLS = ("(", "[", "{", "<")
_LOOSE = ("", "|")
_QUOTES = "\"'`"
_SPOKEN = rf"(?:\A| )(?:{IS})(?!\w)"
NEXT_LINE_CHARS, CLOSE_CHARS, MOST_TOKENS, MOST_LINES = 240, 12, 12, 3
_ANOTHER = r"[\"'`{}\[\]<>].*[\"'`{}\[\]<>]\s?\w"  # name or value stands between
_VALUE = r"[^\s\"'`,;|()<>{}\[\]„“”«»「」\\→]{8,1024}"
# What may be in a value: a digit, many letters, or capitals among fewer.
_ANY = (
    r"[0-9][^\s\"'`,;|()<>]{4}|[^\s\"'`,;|()<>]{7}[0-9]|[A-Za-z]{12}"
    r"|[a-z][A-Z]+[a-z]*[A-Z]"
)
_TWELVE_LETTERS = b"a" * 12
# The same, of the kinds of characters; a little more may match.
_DIGIT_KINDS, _HUMP_KINDS = rb"0(?:[^ ]{4}|(?<=[^ ]{8}))", rb"aA+a*A"
_TOKEN = rf"\\+[nrt]|(?P<value>{_VALUE})"
_WORDS = r"[^:=\"'`{}\[\]<>\r\n\\]{0,90}"
_SET_OFF = rf"(?:[:=|,]|=>|\bis|\bwas|→|—|{PARTICLE}|\b(?:ist|lautet|est|es)|[éè])[ \t]{{0,8}}"
_OPEN = r"[ \t]{0,8}[\\\"'`*(„“|]{0,8}\Z"
_BEHIND = rf"{_WORDS}(?:{_SET_OFF})?{_OPEN}"
_LINE = (
    r"(?:\r?\n|\\{1,7}n)(?:[\w./-]{1,80}-[0-9]{1,6}-)?"
    r"(?:[ \t>+#*|/-]|\\t|[0-9]{1,6}(?:→|\t|:| \|)){0,60}"
)
_BELOW = rf"{_WORDS}:?[ \t]{{0,4}}(?:{_LINE}){{1,2}}(?:[\w.@-]{{1,40}},){{0,4}}{_OPEN}"
_SET_OFF_AT_END = rf"{_SET_OFF}{_OPEN}"
_BELOW_ECHO = (
    rf"[}}\"']{{0,3}}(?:{_LINE})({_VALUE})(?=[\"'`)*.]{{0,3}}[ \t]{{0,4}}(?:[\r\n\\\x1b]|\Z|\",?))"
)
_ENDS_LINE = r"[\"'`)*.\]>]{0,3}[ \t]{0,4}(?:[\r\n\\\x1b<]|\Z|\",?)"
_OTHER = (
    r"(?:hash|sha-?\d|digest|checksum|commit|integrity|signature|uuid|\bid|etag|public|fingerprint"
    r"|cache|version|revision|branch|file|path|url|model|image|count)\W{0,6}(?:\w+\W{1,3})?\Z"
)
_NO_VALUE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|.*(?::[0-9]+|\.[a-z]{1,5}|/)\Z|.*://|.*@[\w-]+\."
_GROUPS = (
    r"(?!(?:[a-z]{4} ){3}[a-z]{4} [a-z])(?:[a-z]{4} ){3}[a-z]{4}(?![\w-])"  # Google's for apps
)
_NAMED = r"[\w-]+=."


_COLUMNS = r"[^()]{0,80}\)\s{0,8}values\s{0,8}\([^()]{0,200}\Z"  # of an INSERT
_AS = (
    r"(?:\A|[\s\"'`(])([^\s\"'`()]{8,64})[\"'`)]{0,2} as (?:(?:the|a|your|my|its) )?"
    r"(?:[\w-]+ ){0,3}\Z"
)
# `- value: …` above `name: DB_PASSWORD`
_VALUE_ABOVE = (
    r"value[\\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4}[\\\"']{0,4}([^\s\"'\\,]{8,64})[\\\"']{0,4},?"
    rf"{BETWEEN_LINES}{{1,40}}"
    r"[\\\"']{0,4}(?:name|key)[\\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4}"
    r"[\\\"']{0,4}[\w./-]{0,40}\Z"
)


class Written:
    """A name, what stands between it and its value, and whether it is a flag or shouted."""

    __slots__ = ("blanks", "ends_at", "flag", "loose", "match", "name", "plain_pass", "separator",
                 "shouted", "spoken", "text", "verdict")  # fmt: skip

    def __init__(
        self, text: str, at: int, name: SecretName, separator: re.Match[str], match: re.Match[str]
    ) -> None:
        self.text = text
        self.name = name
        self.match = match
        between = separator[0]
        self.ends_at = separator.start()
        self.separator = between.strip("\"'`\\ \t,")
        self.blanks = between[:1] == " "
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
    """Return the span of the value, if its form and its content make it a secret."""
    if written.verdict:  # `--- PASS: TestThis2`
        return None
    if written.match["bare"] is not None:
        return _bare(written, sure)
    group = next(
        one for one in ("quoted", "long", "escaped", "curly") if written.match[one] is not None
    )
    start, end = written.match.span(group)
    return (start, end) if _quoted(written, written.text[start:end], sure) else None


def _quoted(written: Written, value: str, sure: int) -> bool:
    if " " in value:
        if written.plain_pass or value[0] == " ":
            return False
        calm = not written.loose or written.name.word == "passphrase"
        in_env = written.shouted and not written.blanks
        return written.name.password and calm and is_phrase(value, written.shouted, in_env)
    if written.plain_pass:  # `pass: 12`, say the test runners, and `pass: `x()``, the manuals
        return written.match["q"] != "`" and is_password(value, False)
    return written.judge(value, sure, not written.loose and not written.spoken)


def _bare(written: Written, sure: int) -> Span | None:
    start, end = written.match.span("bare")
    bare = written.text[start:end]
    if written.separator.endswith(">"):
        value, literal = bare.partition("<")[0], True
    elif written.flag or (written.shouted and not _is_call(written, bare)):
        value, literal = bare.rstrip(",;)}]|>."), True
    else:
        value = _first(written.text, start, bare)
        literal = _has_digits(value) and _is_setting(written, start + len(bare))
    if written.name.password and written.text[start + 4 : start + 15 : 5] == "   ":
        groups = compiled(_GROUPS).match(written.text, start)
        if groups:
            return groups.span()
    if written.loose and not is_no_hash(value) and not _sure_alone(written.name, value):
        return None
    if (written.spoken or written.plain_pass) and not _spoken(value):
        return None
    return (start, start + len(value)) if written.judge(value, sure, literal) else None


def _is_call(written: Written, bare: str) -> bool:
    """`NO_TOKEN = Refusal(401`: code has blanks around its sign, and `.env` has none."""
    return written.blanks and compiled(r"[A-Za-z_.]{2,}\(").match(bare) is not None


def _sure_alone(name: SecretName, value: str) -> bool:
    """Whether a value behind `password` and a blank can be no word of a sentence."""
    if not name.password:
        return False
    return like_a_password(value) or is_made_up(value) or (len(value) >= 12 and is_hex(value))


def _is_setting(written: Written, end: int) -> bool:
    """Whether the whole line is `name: value` or `name=value`, as in settings."""
    text, at = written.text, written.ends_at
    head = text[max(0, at - 64) : at]
    line = compiled(r"\n|\\n").split(head)[-1]
    before = compiled(
        r"[ \t+>|-]{0,40}(?:[0-9]{1,6}(?:→|\t))?[ \t+-]{0,40}[\w.-]*", ASCII
    ).fullmatch(line)
    return (
        before is not None
        and compiled(r"[ \t]*(?:[\r\n\"]|\\[nr]|\Z)").match(text[end : end + 8]) is not None
    )


def _has_digits(value: str) -> bool:
    return len(compiled("[0-9]").findall(value)) >= 2


_FLAG_STARTS = (" -", "\n-", '"-', "'-", " /")


def _is_flag(text: str, at: int) -> bool:
    """`--db-password`, `-storepass`, `/pass`: dashes, then nothing but the name."""
    head = text[max(0, at - 32) : at]
    head = head if at > 32 else f" {head}"  # the text may begin with it
    dash = max(map(head.rfind, _FLAG_STARTS))
    return dash >= 0 and compiled(r"-?[\w.-]*", ASCII).fullmatch(head[dash + 2 :]) is not None


def _is_spoken(separator: str) -> bool:
    return compiled(_SPOKEN).search(separator) is not None


def _spoken(value: str) -> bool:
    """ "The password is correct" names none; "the password is hunter2" does."""
    return (len(value) >= 6 and compiled("[0-9]").search(value) is not None) or is_scrambled(value)


def _first(text: str, start: int, bare: str) -> str:
    """Return the value without the code behind it; empty if it is a call."""
    head = compiled(_STOPS).split(bare, maxsplit=1)[0]
    follows = text[start + len(head) : start + len(head) + 2]
    if follows[:1] in _CALLS and follows != "</":
        return ""
    tail = bare[len(head) :]
    if not compiled(r"[(){}\[\]<>=:]").search(tail):  # a comma or semicolon inside a password
        return bare.rstrip(",;|&.»”」")
    return head.rstrip(".")


def find_nearby(
    page: SearchPage, at: int, end: int, name: SecretName, sure: bool
) -> tuple[int, int] | None:
    """Find the value that the name from `at` to `end` refers to, before or after it."""
    text = page.text
    return (
        (_printed(text, at, end) if sure else None)
        or (_behind(page, at, end, name, sure) if _has_any(page, end) else None)
        or (_before(text, at) if name.password else None)
    )


class Spoken:
    """What the name says of the value: a password, surely a secret, or said of nothing else."""

    __slots__ = ("password", "qualified", "sure")

    def __init__(self, password: bool, sure: bool, qualified: bool) -> None:
        self.password = password
        self.sure = sure
        self.qualified = qualified


def _behind(
    page: SearchPage, at: int, end: int, name: SecretName, sure: bool
) -> tuple[int, int] | None:
    """Find a word nearby that can be nothing but the value; `secrets.json` is a file."""
    text = page.text
    if compiled(r"[A-Za-z0-9+/]|\.[A-Za-z]").match(text, end):  # or base64 goes on
        return None
    spoken = Spoken(name.password, sure, is_qualified(page.low, at))
    has_digit = compiled("[0-9]").search
    tokens = compiled(_TOKEN).finditer(text, end, _last_line_end(text, end))
    for number, match in enumerate(tokens):
        value = (match["value"] or "").rstrip(".:*!?")
        if number == MOST_TOKENS or ("=" in value and compiled(_NAMED).match(value)):
            return None
        if not (has_digit(value) or _no_words(value, spoken)):
            continue
        if compiled(_NO_VALUE).match(value):
            continue
        between = text[end : match.start()]
        if not between:  # `/Password-rules-1f3a…`: the name goes on
            continue
        in_row = (
            "alues" in between.lower() and compiled(_COLUMNS, ANY_CASE).match(between) is not None
        )
        if not in_row and compiled(_ANOTHER).search(between):
            return None
        if is_placeholder(value):
            continue
        value_end = match.start() + len(value)
        follows = text[value_end : value_end + 8]
        if (in_row and _in_a_row(value)) or _is_value(between, value, follows, spoken):
            return match.start(), value_end
    return None


def _last_line_end(text: str, end: int) -> int:
    """Return up to where a value can stand: two lines below its name at most (`_BELOW`), but
    anywhere in a row of SQL."""
    at, stop = end - 1, end + NEXT_LINE_CHARS
    for _ in range(MOST_LINES):
        at = text.find("\n", at + 1, stop)
        if at < 0:
            return stop
    return stop if "alues" in text[end:stop].lower() else at


def _has_any(page: SearchPage, end: int) -> bool:
    """Whether a value may follow. `_ANY` tries each place anew, 30 µs for each name; what must be
    there for it to match is found in the kinds of the characters in 1 µs."""
    kinds, stop = page.kinds, end + NEXT_LINE_CHARS
    if page.letters.find(_TWELVE_LETTERS, end, stop) >= 0:
        return True
    has_digit = kinds.find(b"0", end, stop) >= 0
    has_hump = kinds.find(b"aA", end, stop) >= 0
    if not (has_digit and compiled_kinds(_DIGIT_KINDS).search(kinds, end, stop)) and not (
        has_hump and compiled_kinds(_HUMP_KINDS).search(kinds, end, stop)
    ):
        return False
    return compiled(_ANY).search(page.text, end, stop) is not None


def _no_words(value: str, spoken: Spoken) -> bool:
    return is_gibberish(value) or (spoken.password and is_scrambled(value))


def _in_a_row(value: str) -> bool:
    return like_a_password(value) or (is_hex(value) and len(value) >= 16)


def _printed(text: str, at: int, end: int) -> tuple[int, int] | None:
    """`echo $TOKEN`, and the line below it."""
    if not compiled(r"\$\{?\w{0,40}\Z", ASCII).search(text[max(0, at - 42) : at]):
        return None
    match = compiled(_BELOW_ECHO).match(text, end)
    return match.span(1) if match and is_key(match[1], literal=True) else None


def _before(text: str, at: int) -> tuple[int, int] | None:
    """ "Use … as the password", and a value above its name."""
    before = text[max(0, at - 120) : at]
    match = compiled(_AS).search(before) if " as " in before else None
    if match is None and "value" in before:
        match = compiled(_VALUE_ABOVE).search(before)
    if match and (like_a_password(match[1]) or is_made_up(match[1])):
        start = at - len(before) + match.start(1)
        return start, start + len(match[1])
    return None


def _is_value(between: str, value: str, follows: str, spoken: Spoken) -> bool:
    if compiled(_BEHIND).match(between):
        set_off = compiled(_SET_OFF_AT_END).search(between) is not None
    elif compiled(_BELOW).match(between) and compiled(_ENDS_LINE).match(follows):
        set_off = True
    else:
        return False
    if compiled(_OTHER, ANY_CASE).search(between):  # last: it tries each place, 20 µs
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
    close = set_off or len(between) <= CLOSE_CHARS or between[-1] in _QUOTES
    return close and (is_made_up(value) or is_gibberish(value) or like_a_password(value))


def _is_hex_key(length: int, between: str, adjacent: bool, set_off: bool) -> bool:
    """Whether hex digits are a key. Forty digits are a commit, unless they are set off or
    directly follow "access key"."""
    if length == 40:
        return adjacent or (
            set_off and ("\n" not in between or ":" in between or between[:1] == "\n")
        )
    return length >= (20 if set_off else 32)
