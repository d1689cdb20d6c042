"""Names that say a secret follows: `DB_PASSWORD`, `apiKey`, `fernet-key`, `psk`.

A name is SURE where it can hardly mean anything else, and a HINT where it often does: behind a
hint the value must be long and random as well. WEAK is a hint that hashes follow too.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.redact.rule import can_begin, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SURE, HINT, WEAK = 3, 2, 1
# What a sentence puts between the name and the value.
IS = (
    "is|are|was|will be|ist|lautet|hei(?:ß|ss)t|c'est|est|es|é|è|är|er|je|to jest|jest|este|là"
    "|adalah|είναι|هي|هو|это|set to|changed to|reset to|to"
)
PARTICLES = ("は", "是", "为", "為", "는", "은")
PARTICLE = "[はが是为為는은]"


class SecretName:
    """A word, the kind it names, whether it names a password, and whether it stands for itself."""

    __slots__ = ("apart", "far", "kind", "level", "part", "password", "word")

    def __init__(
        self,
        word: str,
        kind: str,
        *,
        password: bool = False,
        apart: bool = False,
        level: int = SURE,
    ) -> None:
        self.word = word
        self.kind = kind
        self.password = password
        self.apart = apart  # found inside other words too, so it must begin one
        self.level = level
        self.part = max(word.split(" "), key=len)  # looked for first: it stands in one word
        self.far = word not in ("pass", "pw", "passwd")  # may stand some words before its value


# A word of another script costs nothing in a text that has none of its letters.
_PASSWORDS = (
    "password passwd passphrase passcode passwort kennwort contraseña contrasena senha пароль 密码 "
    "пароля паролю паролем пароле hasłem hasła heslem şifresi losenord haslo jelszo "
    "mot_de_passe motdepasse "
    "パスワード wachtwoord parola lösenord heslo hasło clave pwd 비밀번호 şifre पासवर्ड סיסמה "
    "salasana jelszó adgangskode passord lozinka лозинка парола slaptažodis salasõna κωδικός "
    "contrasenya lösenordet 密碼 口令 暗証番号 暗号 암호 รหัสผ่าน סיסמא ססמה گذرواژه"
)
_PASSWORDS_OF_WORDS = (
    *("mot de passe", "mật khẩu", "كلمة المرور", "كلمة السر", "رمز عبور", "kata sandi"),
    *("parola d'ordine", "palavra-passe", "wpa key", "wpa2 key", "wifi key"),
)
_PASSWORDS_OF_TOOLS = "requirepass masterauth bindpw rootpw authtok"
_SHORT_PASSWORDS = "pass pw psk passw mdp parol sifre"
_SECRETS = "secret token credential oauth _auth setcookie erlang_cookie"
_HINTS = "auth creds cred pat jwt otp totp seed login appid bearer sid hmac pepper authtoken"
_SAME = {"credentials": "credential"}
ALL = (
    *(
        SecretName(word, "password", password=True)
        for word in (*_PASSWORDS.split(), *_PASSWORDS_OF_WORDS, *_PASSWORDS_OF_TOOLS.split())
    ),
    *(SecretName(word, "password", password=True, apart=True) for word in _SHORT_PASSWORDS.split()),
    *(
        SecretName(word, word if word in ("secret", "credential") else "token")
        for word in _SECRETS.split()
    ),
    *(SecretName(word, _SAME[word]) for word in _SAME),
    SecretName("key", "key", apart=True),
    *(SecretName(word, "key", apart=True, level=HINT) for word in _HINTS.split()),
)
_ASCII_NAMES = tuple((name.part, name) for name in ALL if name.part.isascii())
# What a key is called that opens something …
_TO_SOMETHING = (
    "api access private secret auth account encryption encrypt decryption signing sign signature "
    "master license service storage webhook app application admin deploy subscription ssh gpg pgp "
    "integration client consumer hmac jwt session cookie bot server rest merchant vault unseal "
    "recovery fernet aes rsa ed25519 wireguard wg preshared shared root org team bearer refresh "
    "personal hec wpa wpa2 wpa3 wep wifi wi-fi product"
)
_KEYS_TO_SOMETHING = tuple(_TO_SOMETHING.split())
# … and what it is called where it is the name of a thing.
_OF_THINGS = (
    "public publishable pub cache primary foreign partition sort row object s3 idempotency dedup "
    "dedupe query translation i18n locale host index lookup hash unique group order config "
    "registry hot shortcut arrow enter map dict json column field prop react item sorting "
    "composite natural "
    "surrogate candidate issue project jira ticket feature flag state storybook redux no any each "
    "same first last this that the a one other every keyboard modifier escape tab delete"
)
_KEYS_OF_THINGS = tuple(_OF_THINGS.split())
# What a service returns to be asked for the next page, and what Helm calls a hash of a secret.
_OF_PAGES, _CHECKSUM = ("page", "next", "continuation"), "checksum/"
_NO_PASS = ("by", "com", "tres", "sur", "under", "over")  # bypass, compass …
TAILS = ("base", "value", "prod", "production", "dev", "development", "staging", "stage", "live",
         "test", "local", "old", "new", "primary", "secondary", "default", "b64", "base64", "raw",
         "hex", "string", "str", "txt", "text", "plain", "data", "phrase", "salt", "hash",
         "ident", "db", "bd", "admin", "root")  # fmt: skip
_BEFORE_CHARS, _CONTEXT_CHARS, _AHEAD_CHARS = 20, 60, 200
_PARTS = "_-. "
_TAIL = r"[_-]?[a-z0-9]{1,11}"
_VALUE_AHEAD = r"...[^\w\s]?[\s:=>(\\\"']{1,16}[^\s\"'`,;)]{8}"
_LONG = r"[A-Za-z0-9+/=_.~:%-]{16}"
_SECRETIVE = (  # `"Jwt": { "Key": …`
    r"(?:jwt|crypt|secret|auth|sign|cipher)[\"'\]]{0,2}\s{0,4}(?::|=>?)[^{}\[\]]{0,8}[{\[]"
    r"[^{}\[\]]{0,60}\Z"
)


_FOREIGN_LETTERS = frozenset(
    letter for letter in "".join([*(one.word for one in ALL), IS]) if not letter.isascii()
)


def has_foreign(letters: Iterable[str]) -> bool:
    """Whether one of these letters is in a name, or in what may follow one, and is not ASCII."""
    return not _FOREIGN_LETTERS.isdisjoint(letters)


@lru_cache(2)  # two rules ask about the same page
def among(words_low: str, foreign_low: str) -> tuple[SecretName, ...]:
    """Return the names that occur in the words of a page, in lower case."""
    if not foreign_low:
        return tuple([name for part, name in _ASCII_NAMES if part in words_low])
    return tuple(
        [name for name in ALL if name.part in (words_low if name.part.isascii() else foreign_low)]
    )


def judge_name(text: str, low: str, name: SecretName, at: int) -> int:
    """Return what the name at this place says: SURE, a HINT, or 0 for nothing."""
    if name.word == "key":
        return _key(text, low, at)
    if name.level == HINT and not _long_ahead(text, at):
        return 0
    if not name.password and _opens_nothing(low[max(0, at - _BEFORE_CHARS) : at]):
        return 0
    if not name.apart or begins_word(text, at, len(name.word)):
        return name.level
    return SURE if name.word == "pass" and not low[:at].endswith(_NO_PASS) else 0


def _opens_nothing(before: str) -> bool:
    """Whether it is a `nextPageToken` or `checksum/db-secret`, by what stands before the name."""
    if before.rstrip("_-").endswith(_OF_PAGES):
        return True
    return " " not in before.rpartition(_CHECKSUM)[2] if _CHECKSUM in before else False


def _key(text: str, low: str, at: int) -> int:
    """Judge "key" by what is before it: `api_key` opens something, `cache key` names a thing."""
    last = low[at - 1 : at]
    if last not in _PARTS and not last.isalnum():
        return _key_alone(text, low, at)
    before = low[max(0, at - _BEFORE_CHARS) : at].rstrip(_PARTS)
    if before.endswith(_KEYS_TO_SOMETHING):
        return SURE
    if not before[-1:].isalpha():
        return _key_alone(text, low, at)
    is_named = _long_ahead(text, at) and begins_word(text, at, 3)
    return HINT if is_named and not before.endswith(_KEYS_OF_THINGS) else 0


def _key_alone(text: str, low: str, at: int) -> int:
    if not compiled(_VALUE_AHEAD).match(text, at):
        return 0
    return SURE if compiled(_SECRETIVE).search(low[max(0, at - _CONTEXT_CHARS) : at]) else WEAK


def _long_ahead(text: str, at: int) -> bool:
    """Whether a long value follows: after a hint only such a value counts, and most places fail
    this quick test."""
    return compiled(_LONG).search(text, at, at + _AHEAD_CHARS) is not None


def is_qualified(low: str, at: int) -> bool:
    """Whether it is "access token", "client secret" or the like, which only mean a secret."""
    return low[max(0, at - _BEFORE_CHARS) : at].rstrip("_-. ").endswith(_KEYS_TO_SOMETHING)


def begins_word(text: str, at: int, length: int) -> bool:
    """Whether the name begins a word: `db_pass`, `dbPass`, `DBPASS`, but not `bypass` or
    `monkey`."""
    if at == 0 or not text[at - 1].isalnum():
        return True
    if not text[at].isupper():
        return text[at - 1].isdigit() or can_begin(text, at)
    return text[at - 1].islower() or text[at : at + length].isupper()


def ends(low: str, end: int) -> bool:
    """Whether the name ends here or in a known tail: "passed" and "tokens" are other words."""
    follows = low[end : end + 1]
    return not (follows.isascii() and follows.isalpha()) or low.startswith(TAILS, end)


def end_with_tail(low: str, end: int) -> int:
    """Return where the name ends with its tail, as in `password_prod`; -1 if it is part of
    another word."""
    follows = low[end : end + 1]
    if not (follows.isascii() and (follows.isalnum() or follows in ("_", "-"))):
        return end
    match = compiled(_TAIL).match(low, end)
    tail = match[0].lstrip("_-") if match else ""
    if not (match and (tail in TAILS or (tail.isdigit() and len(tail) < 4))):
        return -1
    after = low[match.end() : match.end() + 1]
    goes_on = after.isascii() and (after.isalnum() or after in ("_", "-"))
    return -1 if after and goes_on else match.end()
