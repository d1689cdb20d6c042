"""A value that is given a telling name: `.env`, YAML, JSON, code, flags, XML, prose.

The name is found first, by `str.find`; one pattern then reads on from it.
"""

from __future__ import annotations

import re

from holdfast.redact.finding import Finding
from holdfast.redact.rule import places
from holdfast.redact.value import is_key, is_password
from holdfast.redact.written import Written, span_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.redact.page import Page

_PASSWORDS = ("password", "passwd", "passphrase", "passwort", "kennwort", "sshpass", "pwd", "pass")
_KEYS = ("secret", "token", "credential", "credentials", "_auth", "apikey", "accesskey",
         "privatekey",
         "secretkey", "authkey", "accountkey", "encryptionkey", "signingkey", "masterkey",
         "_key", "-key", " key")  # fmt: skip
_TELLING = (*_PASSWORDS, *_KEYS)
# `cache_key` and `primary-key` are names of things; a key to something is called one of these.
_KINDS_OF_KEY = ("api", "access", "private", "secret", "auth", "account", "encryption", "encrypt",
                 "signing", "sign", "master", "license", "service", "storage", "webhook", "app",
                 "admin", "deploy", "subscription", "ssh", "gpg", "integration")  # fmt: skip
_ANY_KEY = ("_key", "-key", " key")
_TAILS = ("base", "value", "prod", "production", "dev", "development", "staging", "stage", "live",
          "test", "local", "old", "new", "primary", "secondary", "default", "b64", "base64", "raw",
          "hex")  # fmt: skip
_SUFFIX = rf"(?:[_-]?(?:{'|'.join(_TAILS)}|[0-9]{{1,3}}))?(?![A-Za-z0-9_-])"
_QUOTE = r"(?:\\{0,7}[\"'`])?"
_SIGN = r"(?::[ \t]*[\w.\[\]| ]{1,40}=(?!=)|:=|=>|={1,3}|:|\uff1d|\uff1a)"  # `password: str =`
_EQUALS = rf"{_QUOTE}[\])]?\*{{0,2}}[ \t]{{0,8}}{_SIGN}\*{{0,2}}"
_NEXT = r"(?:[,\s+>|]|\\+[nr]|[0-9]{1,6}(?:→|\t)){1,60}"  # also numbered, or in a diff
_PAIR = rf"{_QUOTE}{_NEXT}{_QUOTE}value{_QUOTE}[ \t]{{0,3}}[:=]"
_SEPARATOR = (
    rf"(?P<sep>(?:{_EQUALS}|{_PAIR})[ \t]{{0,8}}|\(\s{{0,2}}(?=\\{{0,7}}[\"'])|>(?=[^<>\s]+</)"
)
_FLAG = rf"|{_QUOTE},?[ \t]{{1,4}}(?:ist?:?[ \t]{{1,4}}|\|[ \t]{{1,4}})?)"
# No `+` behind a count where a look ahead stands in what is counted: on CPython 3.11.2 such a
# pattern was seen to match nothing for the rest of a long process. What it may give back fits
# nowhere else.
# Runs of plain characters, and few backslashes: one choice per character took ten times as long.
_PLAIN, _SLASH = r"[^\s\x00-\x1f\"'`\\]", r"\\(?![nrtu\"'`\\])"
_VALUE = (
    r"(?:[bBrRfFuU@$]?(?P<q>[\"'`])(?P<quoted>(?:\\.|(?!(?P=q))[^\\\r\n]){1,4096})(?:(?P=q)|(?=[\r\n])|\Z)"
    r"|(?P<e>\\{1,7}[\"'`])(?P<escaped>(?:(?!(?P=e))[^\r\n]){1,4096}?)(?P=e)"
    rf"|(?P<bare>(?:{_PLAIN}{{1,512}}+|{_SLASH})(?:{_SLASH}{_PLAIN}{{0,64}}+){{0,8}}+))"
)
# `token expired`: a short word behind a blank is no secret, and the pattern takes 20 times as long.
_DULL = r",?[ \t]{1,4}(?!(?:ist?|value)\b)[a-z][a-z0-9_-]{0,18}(?=[ \t\r\n.]|\Z)"
_FLAG_CHARS = 32


def scan(page: Page) -> Iterator[Finding]:
    for names, judge in ((_PASSWORDS, is_password), (_KEYS, is_key)):
        for name in names:
            if name.lstrip() in page.words_low and _may_tell(page, name):
                yield from _named(page.text, page.low, name, judge)


def _after() -> re.Pattern[str]:
    """What may follow a name. Compiling it takes 4 ms, which most texts need not pay."""
    return re.compile(_SUFFIX + _SEPARATOR + _FLAG + _VALUE, re.A | re.I)


def _named(text: str, low: str, name: str, judge: Callable[[str, bool], bool]) -> Iterator[Finding]:
    done = 0
    dull, after = re.compile(_DULL, re.A), None
    for at in places(low, name):
        if at < done or not _telling(low, name, at) or not _ends(low, at + len(name)):
            continue
        if dull.match(low, at + len(name)) and "--" not in low[max(0, at - _FLAG_CHARS) : at]:
            continue
        if low.startswith(name, at + len(name) + 1):
            done = _last_of_chain(low, name, at)
            if at < done:
                continue
        after = after or _after()
        match = after.match(text, at + len(name))
        span = span_of(Written(text, at, name, match), judge) if match else None
        if span:
            done = span[1]
            yield Finding(_kind(name), *span)


def _last_of_chain(low: str, name: str, at: int) -> int:
    """`password=password=…`: only the last name of a chain can have a value that is one."""
    chain = re.compile(f"(?:{re.escape(name)}[=:])+").match(low, at)
    return chain.end() - len(name) - 1 if chain else at


def is_telling(name: str) -> bool:
    """A key under which a secret stands, whatever that looks like: `password`, `api_key`."""
    low = name.strip().lower()
    return (
        low.endswith(_TELLING)
        and low != "pass"
        and any(
            low.endswith(word) and _telling(low, word, len(low) - len(word)) for word in _TELLING
        )
    )


def _may_tell(page: Page, name: str) -> bool:
    """Somewhere at least: "key" alone is a common word, and asking at each takes ten times."""
    if name not in _ANY_KEY:
        return True
    kinds = [kind for kind in _KINDS_OF_KEY if kind in page.words_low]
    return any(kind + name in page.low for kind in kinds)


def _telling(low: str, name: str, at: int) -> bool:
    if name in _ANY_KEY:
        return low[max(0, at - 14) : at].endswith(_KINDS_OF_KEY)
    return name != "pass" or at == 0 or not low[at - 1].isalnum()


def _ends(low: str, end: int) -> bool:
    """ "Passed" and "tokens" are other words: the name ends here, or in a tail of its own."""
    follows = low[end : end + 1]
    return not (follows.isascii() and follows.isalpha()) or low.startswith(_TAILS, end)


def _kind(name: str) -> str:
    if name in _PASSWORDS:
        return "password"
    return name if name in ("secret", "token", "credential") else "key"
