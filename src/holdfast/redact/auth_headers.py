"""What a request carries to prove who it is: Authorization, Bearer, cookies."""

from __future__ import annotations

from holdfast.redact.finding import Finding
from holdfast.redact.rule import Rule
from holdfast.redact.value import is_key, random_looking, stand_in, user_and_password

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redact.search_text import Page

_TEXT = r"[^\s\x00-\x1f\"'`\\<>,;(){}\[\]]"
_GAP = r"(?:[\"'`\\]{0,4}[ \t]{0,4}[:=,][ \t]{0,4}[\"'`\\]{0,4}|[ \t]{1,4}\\{0,3}[\"'])"
_SCHEME = r"[a-z][\w-]{1,24}[ \t]{1,4}"


def _credential(value: str) -> bool:
    """After a scheme: short words are prose, as in "basic authentication"."""
    return not stand_in(value) and (is_key(value, literal=True) or user_and_password(value))


def _bearer(value: str) -> bool:
    return is_key(value, literal=True) and random_looking(value)


def _cookies(value: str) -> bool:
    """True if any of the pairs looks like the key to a session."""
    pairs = (pair.partition("=") for pair in value.split(";"))
    return any(is_key(part.strip(), literal=False) for _, _, part in pairs)


def _session(value: str) -> bool:
    """Claude Code calls its own sessions by a uuid, and those must stay."""
    return is_key(value, literal=False) and value.count("-") != 4


RULES = (
    Rule(
        "authorization",
        "authorization",
        rf"authorization{_GAP}(?:{_SCHEME})?({_TEXT}{{6,2048}}+)",
        _credential,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "password",
        "basic",
        r"basic[ \t]{1,4}([A-Za-z0-9+/=]{6,}+)",
        user_and_password,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "bearer token",
        "bearer",
        rf"bearer[ \t]{{1,4}}({_TEXT}{{12,4096}}+)",
        _bearer,
        any_case=True,
        within="words_low",
    ),
    Rule(
        "cookie",
        "cookie",
        rf"cookie{_GAP}([\w.%-]{{1,64}}=[^\r\n\x1b\"'`\\]{{8,4096}})",
        _cookies,
        any_case=True,
        within="words_low",
        once=True,
    ),
    Rule(
        "session cookie",
        "phpsessid= jsessionid= connect.sid= sessionid=",
        rf"[\w.]{{9,11}}=({_TEXT}{{16,4096}}+)",
        _session,
        any_case=True,
    ),
)


def scan(page: Page) -> Iterator[Finding]:
    for rule in RULES:
        yield from rule.scan(page)
