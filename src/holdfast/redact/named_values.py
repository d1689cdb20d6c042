"""A value behind a telling name: `.env`, YAML, JSON, code, headers, flags, XML, sentences.

A name is SURE where it can hardly mean anything else, and a HINT where it often does: behind a
hint the value must be long and random as well. WEAK is a hint that hashes follow too.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from holdfast.redact import kinds
from holdfast.redact.value import (
    REDACTED,
    SecretFinding,
    compiled,
    is_gibberish,
    is_hex,
    is_key,
    is_made,
    is_password,
    is_phrase,
    is_strong,
    is_uuid,
    like_a_password,
    looks_random,
    user_and_password,
)

SURE, HINT, WEAK = 3, 2, 1
SESSION = "session"
REMEMBERED = 4096  # names; code says the same few again and again
LONGEST_NAME = 64
_WORDS_OF_NAMES = r"[A-Z]{2,}(?![a-z])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+"
_PASSWORD_ENDS = ("password", "passwd", "passphrase", "passwort", "kennwort", "pwd", "pass", "pw")


class SecretName:
    """What a name says: its kind, how surely it names a secret, and whether that is a password."""

    __slots__ = ("is_password", "is_plain", "is_qualified", "kind", "level")

    def __init__(
        self, kind: str, level: int, *, is_plain: bool = False, is_qualified: bool = False
    ) -> None:
        self.kind = kind
        self.level = level
        self.is_password = kind == "password"
        self.is_plain = is_plain  # `pass` alone, as test runners say it too
        self.is_qualified = is_qualified  # `API key`, `access token`: said of nothing else


def judge_name(name: str) -> SecretName | None:
    """Return what a name says; nothing if it does not name a secret."""
    return _judge(name[-LONGEST_NAME:])


@lru_cache(REMEMBERED)
def _judge(name: str) -> SecretName | None:
    words = [word.lower() for word in compiled(_WORDS_OF_NAMES).findall(name)]
    while len(words) > 1 and words[-1] in kinds.TAILS:
        words.pop()
    if not words or not kinds.PUBLIC_WORDS.isdisjoint(words):
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    kind = _kind(last)
    if kind == "key":
        return _key(before)
    if kind == "password":
        return SecretName(kind, SURE, is_plain=len(words) == 1 and last in ("pass", "pw"))
    if kind:
        told = SecretName(kind, SURE, is_qualified=before in kinds.OPENING)
        return None if before in kinds.COUNTED else told
    if last in kinds.SESSION_WORDS:
        return SecretName(SESSION, HINT)
    if last in kinds.HINT_WORDS:
        return SecretName("key", HINT)
    if last in kinds.OTHER_TAILS:
        return None
    return SecretName("key", HINT) if _is_telling_before(words[:-1]) else None


def _kind(word: str) -> str:
    if word in kinds.PASSWORD_WORDS or (
        word.endswith(_PASSWORD_ENDS) and word not in kinds.NO_PASSWORDS
    ):
        return "password"
    if word in kinds.SECRET_WORDS or word.endswith(("secret", "token")):
        return "token" if word.endswith("token") else "secret" if "secret" in word else "credential"
    if word == "key" or (word.endswith("key") and word[:-3] in kinds.OPENING):
        return "key"
    return ""


def _key(before: str) -> SecretName | None:
    """Judge "key" by what is before it: `api_key` opens something, `cache key` names a thing."""
    if before in kinds.THINGS:
        return None
    level = SURE if before in kinds.OPENING else HINT if before else WEAK
    is_qualified = level == SURE and not before.startswith(("sign", "ssh", "gpg", "pgp", "deploy"))
    return SecretName("key", level, is_qualified=is_qualified)


def _is_telling_before(words: list[str]) -> bool:
    """Whether a word before the last one names a secret: `API_KEY_OPENAI`."""
    told = list(map(_kind, words))
    return any(
        kind and (kind != "key" or (at > 0 and words[at - 1] in kinds.OPENING))
        for at, kind in enumerate(told)
    )


def is_telling(key: str) -> bool:
    """Whether a key says that its value is a secret, whatever it looks like: `password`."""
    name = judge_name(key.strip())
    return name is not None and name.level == SURE and not name.is_plain


Span = tuple[int, int]

LONGEST_VALUE = 256  # that is judged; it may go on
LONGEST_QUOTED = 4096
LONGEST_BLOCK = 50  # lines
PASSWORD = SecretName("password", SURE)
# The pattern is tried only where one of few first letters stands: with all of them, it takes three
# times as long.
_STEMS = (
    r"p(?:ass|wd|w(?![a-z])|sk(?![a-z])|at(?![a-z])|arola)|token|auth|k(?:ey|ennwort)"
    r"|s(?:e(?:cret|ssion|nha)|id(?![a-z])|ig(?:nature)?(?==))"
    r"|c(?:red|ookie|ontrase|lave|ode(?==))"
)
_FOREIGN_STEMS = "парол[ьяюе]?м?|密码|密碼|パスワード|비밀번호|şifre|lösenord|hasło|jelszó"
_FOREIGN_LETTERS = "п密パ비şöłó"  # each of these stems has one
MARGIN = r"(?:[ \t>+#*|-]|[0-9]{1,6}(?:→|\t|:|\|)){0,60}"  # line numbers, marks of a diff or a list
_ATTRIBUTE = rf"(?:type|description|sensitive)[ \t]*=[^\n]{{0,80}}\n{MARGIN}"
# `name: DB_PASSWORD` and below it `value: …`; `<key>Password</key><string>…`
_VALUE_LINE = (
    rf"[\"']? {{0,11}}+(?:</\w{{1,20}}>)?[,;{{]?(?:[ \t\r]{{0,8}}+\n{MARGIN}){{0,2}}"
    rf"(?:{_ATTRIBUTE}){{0,3}}[ \t]{{0,8}}+[\"']? {{0,7}}+<?"
    r"(?:(?:\w{0,12}value|string|default|plaintext)[\"']? {0,7}(?:>|[ \t]{0,3}[:=])"
    r"|--(?:body|value)[ =])"
)
_SEPARATORS = (
    r"(?P<assign>[\\\"'`?\])*_]{0,8}[ \t]{0,40}(?:=>|:=|->|<-|={1,3}|:|\uff1d|\uff1a)[*_]{0,2})"
    rf"|(?P<value>{_VALUE_LINE})"
    r"|(?P<pair>[\"'] {0,7},[ \t\n]{0,20}(?=[\"']))"
    r"|(?P<call>\([ \t\n]{0,20}(?=[brf]?[\"']))"
    r"|(?P<tag>[\"']?>(?=[^<>\s]))"
    r"|(?P<cell>[\"'`*]{0,3}[ \t]{0,20}(?:[,;\t|]|│|┃|\r?\n))"
    r"|(?P<blank>[\"'`*]{0,3}[ \t]{1,40}(?=[^\s|]))"
    r"|(?P<particle>は|が|是|为|為|는|은)"
)
_AFTER = rf"[a-zñ0-9_-]{{0,24}}(?:{_SEPARATORS})"
_NAMED = rf"(?:{_STEMS}){_AFTER}"
_ANY_NAMED = rf"(?:{_STEMS}|{_FOREIGN_STEMS}){_AFTER}"
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyz0123456789_-."
_TYPED = r"[A-Za-z_][\w.\[\]| &*<>]{0,40}=[ \t]*(?=[brfu]?[\"'])"  # `password: str = …`
_BLOCK = r"[|>][+-]?[0-9]?[ \t]*\r?\n"
_NEXT_LINE = rf"\(?[ \t]{{0,8}}\\?[ \t]{{0,4}}(?:\r?\n{MARGIN}){{1,2}}"
# `{"gitlab-token": {"git.x.io": …`
_NESTED = r"\{\s{0,40}[\"'] {0,7}[\w.:/-]{1,80}[\"'] {0,7}:\s{0,4}"
_TUPLE = r"\(\s{0,20}[\"'][^\"'\n]{1,80}[\"'] {0,7},\s{0,20}(?=[\"'])"  # `auth=("bob", …)`
_LOGIN = r"login\s{1,20}\S{1,128}\s{1,20}(?:[0-9]{1,6} {0,3}(?:→|\t)\s{0,20})?\Z"  # of `.netrc`
_SPOKEN = (
    r"(?i)(?:[ \t](?:for|of|on|to|at|in|de|del|du|für|von|от|для)[ \t][^\r\n:=\"]{1,24}?"
    r"|[ \t]\([^)\r\n]{1,40}\))?"
    r"(?:[ \t]{0,2}[:=]|,?[ \t]{1,4}(?:is|are|was|will be|ist|lautet|est|c'est|es|is now|set to"
    r"|changed to|это|є|είναι|là|adalah)(?![\w])(?: now| set to)?:?)[ \t]{1,4}"
)
# "What password should I use?" and below it the answer, or `?"="…"`, as the client writes it.
_QUESTION = r"[^\n\"?]{0,80}+(?:\?\"? {0,7}(?:[:=] {0,7}\"|\n)|\n)"
_SOME_WORDS = r"(?:[ \t]{1,2}[a-z]{2,12}){1,3}:[ \t]{1,4}"  # "Incorrect API key provided: …"
_BARE = rf"[^\s\"'`<>\x00-\x1f]{{1,{LONGEST_VALUE}}}"
_STOPS = r"[,;&(){}\[\]|»]|「|」|”"
_GROUPS = r"(?:[a-z]{4} ){3}[a-z]{4}(?![\w-])"  # Google's passwords for apps
_WORDS = r"(?:[a-z0-9]{2,9} ){3,23}[a-z0-9]{2,9}(?=[ \t]{0,8}(?:[\r\n\"'`]|\Z))"
_CALL = r"[\w.]{2,}\("
_BLOCK_LINE = rf"{MARGIN}(\S(?:[^\n\"]|\"(?! {{0,7}}[,}}\]])){{0,4096}})"  # or to the end of JSON
_COOKIE = r"[\w.%-]{1,64}=([^;\s\"'`]{8,4096})"
_REST = r"[A-Za-z0-9+/=_.~%-]*+"
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "«": "»", "「": "」", "『": "』"}


def matches(low: str) -> Iterator[re.Match[str]]:
    """Yield each name that may tell, with the sign behind it; its group says how it is written."""
    is_foreign = not low.isascii() and any(letter in low for letter in _FOREIGN_LETTERS)
    return compiled(_ANY_NAMED if is_foreign else _NAMED).finditer(low)


def findings(text: str, low: str, match: re.Match[str]) -> list[SecretFinding]:
    """Return the secret behind a name; a cookie may have several."""
    end = match.start(match.lastgroup or 0)
    head = low[max(0, match.start() - 40) : match.start()]
    start = match.start() - (len(head) - len(head.rstrip(_NAME_CHARS)))
    written = text[start:end]
    if written[-13:].lower() == "authorization":
        return _authorization(text, match)
    if written[-6:].lower() == "cookie" and match.lastgroup == "assign":
        return _cookies(text, match.end())
    name = judge_name(written)
    if name and not name.is_password and text[start - 1 : start] == " " and written.isalpha():
        # `API key` and `design token` are two words.
        before = compiled(r"[A-Za-z0-9-]{1,20}\Z").search(text, max(0, start - 21), start - 1)
        name = judge_name(f"{before[0]}_{written}") if before else name
    if name is None or ("=" not in match[0] and _is_no_name(text, start, name, match)):
        return []
    if name.is_plain and written == "PASS" and "=" not in match[0]:
        return []  # `--- PASS: TestThis2`
    span = _NamedValue(text, start, written, name, match).span()
    if span is None or text.startswith(REDACTED, span[0]):
        return []
    return [SecretFinding(name.kind, span[0], _end_of_value(text, *span))]


def _end_of_value(text: str, start: int, end: int) -> int:
    """Base64 of a keystore is longer than what is judged."""
    rest = compiled(_REST).match(text, end) if end - start >= LONGEST_VALUE else None
    return rest.end() if rest else end


def _is_no_name(text: str, start: int, name: SecretName, match: re.Match[str]) -> bool:
    """Whether it only counts before an equals sign: `/etc/passwd`, `pass it on`, `Session: …`."""
    before, way = text[start - 1 : start], match.lastgroup
    is_part = before == "/" or (before == ":" and way == "assign")
    return is_part or name.kind == SESSION or (name.is_plain and way in ("blank", "cell"))


def _authorization(text: str, match: re.Match[str]) -> list[SecretFinding]:
    """`Authorization: Bearer …`, also in quotes and without a scheme."""
    if match.lastgroup not in ("assign", "pair"):
        return []
    value = compiled(
        r"[ \t]{0,8}[\"'`]?(?:[A-Za-z][\w-]{1,24}[ \t]{1,4})?([^\s\"'`<>,;(){}]{6,256})"
    ).match(text, match.end())
    if value is None or not (is_key(value[1], literal=True) or user_and_password(value[1])):
        return []
    return [SecretFinding("authorization", value.start(1), _end_of_value(text, *value.span(1)))]


def _cookies(text: str, at: int) -> list[SecretFinding]:
    """The values of a cookie header that a machine made."""
    last = at + LONGEST_QUOTED
    ends = (text.find(stop, at, last) for stop in ("\n", "ookie"))
    pairs = compiled(_COOKIE).finditer(text, at, min(end for end in (*ends, last) if end >= 0))
    return [
        SecretFinding("cookie", *pair.span(1))
        for pair in pairs
        if is_strong(pair[1], hash_too=True) or (len(pair[1]) >= 12 and like_a_password(pair[1]))
    ]


class _NamedValue:
    def __init__(
        self, text: str, start: int, written: str, name: SecretName, match: re.Match[str]
    ) -> None:
        self._text = text
        self._start = start
        self._name = name
        self._way = match.lastgroup or ""
        self._sign = match[self._way]
        self._at = match.end()
        self._is_flag = written[:1] == "-"
        self._is_shouted = written.isupper() and ("_" in written or "=" in self._sign)
        self._is_spoken = self._way == "particle" or "?" in self._sign

    def span(self) -> Span | None:
        text, at = self._text, self._at
        if self._way == "cell" or (self._way == "blank" and not self._is_flag):
            is_pair = self._way == "blank" or self._sign[-1] in "|\t"
            return (self._behind_blank() if is_pair else None) or self._answer()
        if self._way == "pair" and not (
            self._is_flag or "(" in text[self._start - 8 : self._start]
        ):
            return None  # a list of names; `getenv("DB_PASSWORD", "…")` is none
        at = _skip_blanks(text, at)
        if self._way in ("assign", "value"):
            if block := compiled(_BLOCK).match(text, at):
                return self._block(block.end())
            if ":" in self._sign and (typed := compiled(_TYPED).match(text, at)):
                at = typed.end()
            if below := compiled(_NEXT_LINE).match(text, at):
                return self._below(below.end())
            if pair := compiled(_TUPLE).match(text, at):
                self._name = PASSWORD
            nested = pair or compiled(_NESTED).match(text, at)
            at = nested.end() if nested else at + (text[at : at + 1] == "(")
        return self._value(at)

    def _value(self, at: int) -> Span | None:
        text = self._text
        if text[at : at + 1] in tuple("brfu@$") and text[at + 1 : at + 2] in ("'", '"'):
            at += 1
        quote, head = text[at : at + 1], text[self._start - 1 : at]
        if quote not in _QUOTES:
            # `-H "X-Api-Key: …"`: the quotes open before the name
            is_inside = head[:1] in _QUOTES and "-" in head and head[0] not in head[1:]
            return (self._quoted(at, head[0]) if is_inside else None) or self._bare(at)
        if self._sign == ":" and at == self._at and quote == head[:1]:
            return None  # the end of `Password:`
        if text.startswith(quote * 3, at):
            at += 2
            if text[at + 1 : at + 2] == "\n":
                return self._below(at + 2)
        return self._quoted(at + 1, quote)

    def _quoted(self, at: int, quote: str) -> Span | None:
        at = _skip_blanks(self._text, at) if quote == '"' else at  # they stand for escapes
        line = self._text[at : at + LONGEST_QUOTED].partition("\n")[0]
        value = line.partition(_QUOTES[quote])[0].rstrip("\\ ")
        if self._name.is_plain and (quote == "`" or not is_password(value, literal=False)):
            return None
        return (at, at + len(value)) if self._judge(value, literal=not self._is_spoken) else None

    def _bare(self, at: int) -> Span | None:
        match = compiled(_BARE).match(self._text, at)
        if match is None:
            return None
        is_passphrase = not self._is_spoken and "phrase" in self._text[self._start : at].lower()
        words = compiled(_WORDS if is_passphrase else _GROUPS).match(self._text, at)
        if words and self._judge(words[0], literal=True):
            return words.span()
        bare, is_env = match[0], self._is_shouted and "=" in self._sign
        if self._is_flag or self._way == "tag" or (is_env and not compiled(_CALL).match(bare)):
            value, literal = bare.rstrip(",;)}]|."), True
        else:
            value = _without_code(bare)
            literal = sum(map(str.isdigit, value)) >= 2 and self._fills_line(at + len(value))
        if (self._is_spoken or self._name.is_plain) and not _is_no_word(value):
            return None
        return (at, at + len(value)) if self._judge(value, literal) else None

    def _fills_line(self, end: int) -> bool:
        """Whether the line is `name: value` or `name=value`, as in settings."""
        before = self._text[max(0, self._start - 64) : self._start].rpartition("\n")[2]
        return not before.strip(" \t+>|-#*0123456789→.:") and self._ends_line(end)

    def _ends_line(self, end: int) -> bool:
        return self._text[end : end + 8].lstrip(" ")[:1] in ("", "\n", "\r", '"', "`")

    def _behind_blank(self) -> Span | None:
        """Without a sign between, the value must be beyond doubt, or a sentence says so."""
        text, after = self._text, self._at - len(self._sign.lstrip("\"'`*"))
        if spoken := compiled(_SPOKEN).match(text, after):
            self._is_spoken = True
            return self._value(spoken.end())
        words = compiled(_SOME_WORDS).match(text, after)
        is_other = words and not kinds.OTHER_TAILS.isdisjoint(words[0].rstrip(": \t").split())
        if self._name.level != SURE or is_other:
            return None
        at = _skip_blanks(text, words.end() if words else self._at)
        is_quoted = text[at : at + 1] in ('"', "'", "`")
        match = compiled(_BARE).match(text, at + is_quoted)
        value = match[0].rstrip(".,;:!?)|") if match else ""
        is_set_off = text[at : at + 1] in ('"', "'") or (self._is_shouted and len(self._sign) > 1)
        if match and self._is_sure(value, is_set_off):
            return match.start(), match.start() + len(value)
        return None

    def _answer(self) -> Span | None:
        if self._name.level != SURE:
            return None
        question = compiled(_QUESTION).match(self._text, self._at - len(self._sign))
        return self._below(question.end()) if question else None

    def _is_sure(self, value: str, is_set_off: bool) -> bool:
        if is_strong(value):
            return True
        if not self._name.is_password:
            is_hash = (is_hex(value) and len(value) >= 20) or is_uuid(value)
            return is_hash and looks_random(value) and (self._is_shouted or self._name.is_qualified)
        if is_set_off and is_password(value, literal=False):
            return True
        before = self._text[max(0, self._start - 180) : self._start]
        is_netrc = "login" in before and compiled(_LOGIN).search(before) is not None
        return is_password(value, literal=True) if is_netrc else like_a_password(value)

    def _below(self, at: int) -> Span | None:
        """The value alone on the next line: in quotes, or beyond doubt."""
        quote = self._text[at : at + 1]
        if quote in ("'", '"'):
            return self._quoted(at + 1, quote)
        match = compiled(_BARE).match(self._text, at)
        if match is None or not self._ends_line(match.end()):
            return None
        is_sure = like_a_password(match[0]) if self._name.is_password else is_made(match[0])
        return match.span() if is_sure and self._judge(match[0], literal=False) else None

    def _block(self, at: int) -> Span | None:
        """A block of YAML: the lines that are indented as far as the first."""
        first = compiled(_BLOCK_LINE).match(self._text, at)
        if first is None or not self._judge(first[1].strip(), literal=True):
            return None
        start, end = first.span(1)
        for _ in range(LONGEST_BLOCK):
            line = compiled(_BLOCK_LINE).match(self._text, end + 1)
            if line is None or line.start(1) - end - 1 < start - at:
                break
            end = line.end(1)
        return start, start + len(self._text[start:end].rstrip(" "))  # without an escape's blanks

    def _judge(self, value: str, literal: bool) -> bool:
        name = self._name
        if " " in value:
            # A bare `token` is a word of a text, or a machine made it.
            is_chosen = name.is_qualified or name.kind not in ("token", "credential")
            is_sure = name.level == SURE and is_chosen and not name.is_plain
            return is_sure and is_phrase(value, self._is_shouted and self._sign == "=")
        if name.level != SURE:
            return is_strong(value, self._is_shouted or (name.level == HINT and len(value) >= 32))
        return is_password(value, literal) if name.is_password else is_key(value, literal)


def _skip_blanks(text: str, at: int) -> int:
    match = compiled("[ \t]{0,40}").match(text, at)
    return match.end() if match else at


def _is_no_word(value: str) -> bool:
    """ "The password is correct" names none; "the password is hunter2" does."""
    return (len(value) >= 6 and any(map(str.isdigit, value))) or is_gibberish(value)


def _without_code(bare: str) -> str:
    """Return the value without the code behind it; empty if it is a call."""
    stop = compiled(_STOPS).search(bare)
    if stop is None:
        return bare.rstrip(".:")
    if stop[0] in "([{":
        return ""
    if not compiled(r"[(){}\[\]=:]").search(bare, stop.start()):  # a comma inside a password
        return bare.rstrip(",;|&.»”」")
    return bare[: stop.start()].rstrip(".")
