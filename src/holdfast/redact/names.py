"""Names that say a secret follows: `DB_PASSWORD`, `apiKey`, `fernet-key`, `psk`.

A name is SURE where it can hardly mean anything else, and a HINT where it often does: behind a
hint the value must be long and random as well. WEAK is a hint that hashes follow too.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.redact import table
from holdfast.redact.value import compiled

SURE, HINT, WEAK = 3, 2, 1
SESSION = "session"
REMEMBERED = 4096  # names; code says the same few again and again
LONGEST_NAME = 64
_WORDS = r"[A-Z]{2,}(?![a-z])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+"
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
    words = [word.lower() for word in compiled(_WORDS).findall(name)]
    while len(words) > 1 and words[-1] in table.TAILS:
        words.pop()
    if not words or not table.PUBLIC_WORDS.isdisjoint(words):
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    kind = _kind(last)
    if kind == "key":
        return _key(before)
    if kind == "password":
        return SecretName(kind, SURE, is_plain=len(words) == 1 and last in ("pass", "pw"))
    if kind:
        told = SecretName(kind, SURE, is_qualified=before in table.OPENING)
        return None if before in table.COUNTED else told
    if last in table.SESSION_WORDS:
        return SecretName(SESSION, HINT)
    if last in table.HINT_WORDS:
        return SecretName("key", HINT)
    if last in table.OTHER_TAILS:
        return None
    return SecretName("key", HINT) if _is_telling_before(words[:-1]) else None


def _kind(word: str) -> str:
    if word in table.PASSWORD_WORDS or (
        word.endswith(_PASSWORD_ENDS) and word not in table.NO_PASSWORDS
    ):
        return "password"
    if word in table.SECRET_WORDS or word.endswith(("secret", "token")):
        return "token" if word.endswith("token") else "secret" if "secret" in word else "credential"
    if word == "key" or (word.endswith("key") and word[:-3] in table.OPENING):
        return "key"
    return ""


def _key(before: str) -> SecretName | None:
    """Judge "key" by what is before it: `api_key` opens something, `cache key` names a thing."""
    if before in table.THINGS:
        return None
    level = SURE if before in table.OPENING else HINT if before else WEAK
    is_qualified = level == SURE and not before.startswith(("sign", "ssh", "gpg", "pgp", "deploy"))
    return SecretName("key", level, is_qualified=is_qualified)


def _is_telling_before(words: list[str]) -> bool:
    """Whether a word before the last one names a secret: `API_KEY_OPENAI`."""
    kinds = list(map(_kind, words))
    return any(
        kind and (kind != "key" or (at > 0 and words[at - 1] in table.OPENING))
        for at, kind in enumerate(kinds)
    )


def is_telling(key: str) -> bool:
    """Whether a key says that its value is a secret, whatever it looks like: `password`."""
    name = judge_name(key.strip())
    return name is not None and name.level == SURE and not name.is_plain
