"""A value that is given a telling name: `.env`, YAML, JSON, code, flags, XML, prose.

The name is found first, by `str.find`; one pattern then reads on from it. What the name says
decides how much the value must look like a secret: `names` has the words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from holdfast.redact import certainty, names
from holdfast.redact.certainty import Written, span_of
from holdfast.redact.rule import ASCII, REDACTED, SecretFinding, compiled, positions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.names import SecretName
    from holdfast.redact.rule import SearchPage

_QUOTE = r"(?:[\\\"'`]{1,8}|&quot;|&#3[49];|%22)?"
_QUOTES = r"[\\\"'`]{0,8}"
_TYPE = r":[ \t]*[\w.\[\]| &*<>']{1,40}=(?!=)"  # `password: str =`
_SIGN = rf"(?:{_TYPE}|:=|=>|<-|->|={{1,3}}|:|<<<|\uff1d|\uff1a|→|%3d|\\u003d)"
_LINE_END = r"(?:\r?\n|\\{1,3}r?\\{0,3}n)"
# What may stand before the next line: its number, the file grep found it in, marks of a diff.
_GREPPED = r"(?:[\w./-]{1,80}[-:][0-9]{1,6}[-:])?"
_MARGIN = rf"{_GREPPED}(?:[ \t+>|-]|\\t|[0-9]{{1,6}}(?:→|\t|:|\|)){{0,60}}"
_OF = (
    "for|of|on|to|at|in|de|del|do|da|di|du|della|para|pour|für|der|des|von|van|voor|till|för|dla"
    "|от|для|к|до"
)
_ABOUT = rf"(?:[ \t]\([\w .,@/-]{{1,40}}\))?(?:[ \t](?:{_OF})[ \t][^\r\n:=\"]{{1,40}}?)??"
_NEXT = r"(?:[,;\s+>|/<-]|\\+[nrt]|[0-9]{1,6}(?:→|\t)){1,60}"
_PAIR = r"[\\\"']{1,8}\w{1,20}[\\\"']{1,8}[ \t]?:[ \t]?[\\\"']{1,8}[\w ./-]{0,40}[\\\"']{1,8}"
_ATTRIBUTE = r"(?:type|description|sensitive)[ \t]*=[^\r\n]{0,80}"
_TRIPLE = r"(?:\\?[\"']\\?[\"'](?=\\?[\"']))?"
# `Some("…")`, `SecretStr("…")`, `!!str …`, `%q(…)` of Ruby, `q{…}` of Perl: what the value is
# wrapped in.
_TYPED = (
    r"(?:(?:some|secretstr|secret|sensitive)\((?=\\{0,7}[\"'])|!{1,2}[\w:]{1,12}[ \t]"
    r"|(?:%[qw]|qq?)[(\[{<|!/])?"
)
# `"Database password?"="…"`: the client writes the answer to a question so.
_EQUALS = (
    rf"(?:\?(?=[\\\"']))?{_QUOTE}(?:[\])]|\[[0-9]*\])?[*_]{{0,2}}{_ABOUT}[*_]{{0,2}}[ \t]{{0,8}}"
    rf"{_SIGN}[*_]{{0,2}}"
)
_QUOTING = "\\\"'`"
_ENTITY = "&%"
_BLANK = " \t"
_SIGNS = "?[])*_:=<-\uff1d\uff1a→"
# What may stand between a name and its value. It is tried if one of the first texts stands there
# (a pattern costs a millisecond to compile), and one of these characters stands first.
_SEPARATORS = (
    # `name: DB_PASSWORD` and below it `value: …`; `<key>Password</key><string>…`
    (
        ("val", "default", "string", "body", "plaintext"),
        _QUOTING + ",;+>|/<- \t\n\r\f\v0123456789",
        (
            rf"{_QUOTES}(?:</\w{{1,20}}>)?{_NEXT}(?:{_PAIR}{_NEXT}){{0,2}}{_QUOTES}"
            rf"(?:\w{{0,12}}value|val|default|string|body|plaintext){_QUOTES}[ \t]{{0,3}}[:=> \t]"
            rf"[ \t]{{0,8}}{_TRIPLE}"
        ),
    ),
    # `variable "api_token" { type = string, default = …`; `"token": {"host": …`
    (
        ("{",),
        _QUOTING + _BLANK + ":=",
        (
            rf"{_QUOTES}(?:[ \t]\{{{_NEXT}(?:{_ATTRIBUTE}{_NEXT}){{0,3}}default[ \t]*="
            rf"|[ \t]*[:=]>?[ \t]*\{{(?:{_NEXT})?{_QUOTES}[\w.:/-]{{1,80}}{_QUOTES}[ \t]*[:=]>?)"
            r"[ \t]{0,8}"
        ),
    ),
    # The value on the next line: a block of YAML, behind a backslash, in brackets, in quotes.
    (
        ("\n", "\\n"),
        _QUOTING + _ENTITY + _BLANK + _SIGNS + ",",
        (
            rf"(?:{_EQUALS}[ \t]{{0,8}}(?:(?:[|>][+-]?|\\)[ \t]{{0,8}}{_LINE_END}{_MARGIN}"
            rf"|\(?[ \t]{{0,8}}{_LINE_END}{_MARGIN}(?=\\{{0,7}}[\"'])"
            rf"|(?:\\{{0,7}}[\"']){{3}}{_LINE_END}{_MARGIN})"
            rf"|{_QUOTES},?[ \t]{{1,4}}\\[ \t]{{0,4}}{_LINE_END}{_MARGIN})"
        ),
    ),
    (
        ("",),
        _QUOTING + _ENTITY + _BLANK + _SIGNS,
        rf"{_EQUALS}[ \t]{{0,8}}\(?[ \t]{{0,8}}{_TYPED}{_TRIPLE}",
    ),
    # `setPassword("…")`, `getenv("DB_PASSWORD", "…")`, `<password>…</password>`
    (
        ("(", ",", ">"),
        _QUOTING + "(>",
        (
            r"\(\s{0,40}(?=\\{0,7}[\"'])|\\{0,7}[\"'],[ \t]{0,4}(?=\\{0,7}[\"'])"
            r"|(?:\\{0,7}[\"'])?>(?=[^<>\s]+</)"
        ),
    ),
    # "the password for staging is …"
    (
        (" ", "\t"),
        _QUOTING + _ENTITY + _BLANK + ",",
        rf"{_QUOTE}{_ABOUT},?[ \t]{{1,4}}(?:{names.IS})(?: now| set to)?:?[ \t]{{1,4}}",
    ),
    # "パスワードは …", "密码是…": the particle is part of the word
    (
        names.PARTICLES,
        _QUOTING + _ENTITY + names.PARTICLE,
        rf"{_QUOTE}(?:{names.PARTICLE})[ \t]{{0,4}}",
    ),
    (
        (" ", "\t"),
        _QUOTING + _ENTITY + _BLANK + ",",
        rf"{_QUOTE},?[ \t]{{1,40}}(?:\|[ \t]{{1,4}}|[0-9][ \t]{{1,4}})?",
    ),
)
# No `+` behind a count where a look ahead stands in what is counted: on CPython 3.11.2 such a
# pattern was seen to match nothing for the rest of a long process. What it may give back fits
# nowhere else.
# Runs of plain characters, and few backslashes: one choice per character took ten times as long.
_PLAIN, _SLASH = r"[^\s\x00-\x1f\"'`\\]", r"\\(?![nrtu\"'`\\])"
_VALUE = (
    r"(?:[brfu@$]?(?P<q>[\"'`])(?P<quoted>(?:\\.|(?!(?P=q))[^\\\r\n]){1,4096})(?:(?P=q)|(?=[\r\n])|\Z)"
    r"|[\"'](?P<long>[A-Za-z0-9+/=_.~%-]{4096})"
    r"|[„“«「『](?P<curly>[^\r\n“”»」』]{1,200})[“”»」』]"
    r"|[brfu@$]?(?P<e>\\{1,7}[\"'`]|&quot;|&#3[49];|%22)(?P<escaped>(?:(?!(?P=e))[^\r\n]){1,4096}?)(?P=e)"
    rf"|(?P<bare>(?:{_PLAIN}{{1,512}}+|{_SLASH})(?:{_SLASH}{_PLAIN}{{0,64}}+){{0,8}}+))"
)
# `token expired`: a short word behind a blank is no secret, and the pattern takes 20 times as long.
_DULL = (
    rf",?[ \t]{{1,4}}(?!(?:is|are|was|will|ist|lautet|est|es|set|changed|reset|value|{_OF})\b)"
    r"[a-z][a-z_-]{0,18}(?=[ \t\r\n.,]|\Z)"
)
_KEY = (
    r"key(?![\"']?[:=][ \t]?[\"'][^\"']{0,7}[\"'])"
    rf"(?:[_-]?(?:{'|'.join(names.TAILS)}|[0-9]{{1,3}}))?(?=[ \t,]|[\"'][ \t]\{{|"
    r"[^\w\s]{0,3}[\s:=>(\\\"'&|,\]{\[-]{1,60}(?:[\w.-]{1,40}[\\\"']{1,4}[:=> ]{1,4}[\\\"']{0,4})?"
    r"[^\s\"'`,;)]{8})"
)
# `password=[redacted: password]` and the end of the line: what was named here is removed already.
_REMOVED = (
    rf"{_QUOTE}[ \t]{{0,8}}[:=][ \t]{{0,8}}[\\\"']{{0,8}}"
    rf"\[redacted: [a-z ]{{1,40}}\][\\\"',]{{0,8}}(?:{_LINE_END}|\Z)"
)
_REST = r"[A-Za-z0-9+/=_~%-][A-Za-z0-9+/=_.~%-]*+"
_FLAG_CHARS, _SEPARATOR_CHARS = 32, 200
_KEY_CHARS = 64  # a longer key is not remembered


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    for name in names.among(page.words_low, page.foreign_low):
        yield from _scan_name(page, name)


def _values_after(low: str, end: int) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield the separator after the name that ends here, with the value behind it; the likeliest
    first."""
    end = names.end_with_tail(low, end)
    ahead = low[end : end + _SEPARATOR_CHARS] if end >= 0 else ""
    for needs, begins, pattern in _SEPARATORS if ahead else ():
        if ahead[0] in begins and _has_one(ahead, needs):
            separator = compiled(pattern, ASCII).match(low, end)
            value = compiled(_VALUE, ASCII).match(low, separator.end()) if separator else None
            if separator and value:
                yield separator, value


def _has_one(ahead: str, needs: tuple[str, ...]) -> bool:
    for need in needs:  # noqa: SIM110 - `any` takes three times as long, and each name asks 8 times
        if need in ahead:
            return True
    return False


def _scan_name(page: SearchPage, name: SecretName) -> Iterator[SecretFinding]:
    text, low, word = page.text, page.low, name.word
    done = 0
    for at in _keys(low) if word == "key" else positions(low, word):
        end = at + len(word)
        if at < done or not names.ends(low, end) or _is_removed(low, end):
            continue
        sure = names.judge_name(text, low, name, at)
        if not sure:
            continue
        dull = compiled(_DULL, ASCII)  # at the first name that tells: 0.3 ms
        is_dull = dull.match(low, end) and "-" not in low[max(0, at - _FLAG_CHARS) : at]
        if low.startswith(word, end + 1):
            done = _last_of_chain(low, word, at)
            if at < done:
                continue
        span = None
        for separator, value in () if is_dull else _values_after(low, end):
            span = span_of(Written(text, at, name, separator, value), sure)
            if span:
                break
        if span is None and name.far and sure != names.WEAK:
            span = certainty.find_nearby(page, at, end, name, sure == names.SURE)
        if span:
            done = _end_of_value(text, span[1])
            yield SecretFinding(name.kind, span[0], done)


def _end_of_value(text: str, end: int) -> int:
    """Return where the value ends that was judged up to here. Base64 of a keystore is longer than
    any pattern reads; what it reads is bounded, because names may follow each other."""
    rest = compiled(_REST).match(text, end)
    return rest.end() if rest else end


def _is_removed(low: str, end: int) -> bool:
    ahead = low.find(REDACTED, end, end + _FLAG_CHARS)
    return ahead >= 0 and compiled(_REMOVED, ASCII).match(low, end) is not None


def _keys(low: str) -> Iterator[int]:
    """Yield where "key" is followed by a blank or by a long value: any code has `key="tide"`."""
    return (match.start() for match in compiled(_KEY).finditer(low))


def _last_of_chain(low: str, word: str, at: int) -> int:
    """Return the last name in `password=password=…`: only that one can have a value."""
    chain = re.compile(f"(?:{re.escape(word)}[=:])+").match(low, at)
    return chain.end() - len(word) - 1 if chain else at


def is_telling(key: str) -> bool:
    """Whether a key says that its value is a secret, whatever the value looks like: `password`,
    `api_key`."""
    return _tells(key) if len(key) <= _KEY_CHARS else _judge_key(key)


@lru_cache(2_048)  # every row of a list has the same few keys, and judging one takes 25 µs
def _tells(key: str) -> bool:
    return _judge_key(key)


def _judge_key(key: str) -> bool:
    text = key.strip()
    low = text.lower()
    return low != "pass" and any(
        low.endswith(name.word)
        and names.judge_name(text, low, name, len(low) - len(name.word)) == names.SURE
        for name in names.ALL
    )
