"""Judge whether a value is a secret, a placeholder for one, or code.

Only values with a telling name or a known beginning are judged.
"""

from __future__ import annotations

import re
from functools import lru_cache
from operator import ne

from holdfast.redact.rule import REDACTED, compiled

# A value made of these words alone is a stand-in, a label, a type or a state; `changeme` too: it
# says that nothing has been set yet.
_STOCK_WORDS = (
    "a access account actual add admin an and any api app apikey as auth authorization authtoken "
    "aws bar base64 basic bearer blank bool boolean bot bytes change changeme char client comment "
    "confirm confirmation const correct create credential credentials csrf current custom "
    "data db default default_password demo deploy disabled dummy empty enabled encrypted "
    "enter env error example expired expression external fake false field fill foo for force "
    "forgot "
    "from generate generated get github go hash hashed header here hidden id identifier "
    "in incorrect "
    "input insert int integer invalid is it jwt key keys keyword label literal login long lost "
    "machine manual masked me method min missing mock must my mypassword mysecret name new next "
    "nil no none not null number object of ok old on one openai operator optional or our "
    "parameter pass passphrase password passwords passwd personal pin placeholder plain prod "
    "production profile prompt provided public put pwd random read real redacted ref refresh "
    "registry removed repeat replace replaceme required reset root salt sample secret secrets "
    "secure service session set sk some something str string stub super supersecret tbd temp "
    "template test testing testpass testpassword text that the this to todo token tokens true two "
    "type undefined unknown update use user username userpassword valid value values var variable "
    "void weak webhook with wrong write yes your yours"
)
_STOCK = frozenset(_STOCK_WORDS.split())
JUDGED_CHARS = 120  # enough to tell; a judgement must not cost more for a longer bait
REMEMBERED = 512  # bait says the same again and again; judging it costs 0.1 ms
_MASKS = "*.xX•…#-_?0"
# A sentence about a password has one of these; a phrase that is one seldom does.
_PROSE = (
    "a an and are at be by can cannot character characters char chars contain contains could does "
    "enter entered error expired failed field for from has have here if in incorrect invalid is it "
    "least length match matches missing must no not of on or please required reset should than "
    "that the their this to too use used user users using valid want was we were will with without "
    "wrong you your updated changed forgot confirm new current old repeat again show hide"
)
_PROSE_WORDS = frozenset(_PROSE.split())
_FILL_IN = (
    r"(?:change|replace|fill|insert|put|add|set|enter)[_-]?(?:me|this|it|in|with|your|here)"
    r"|todo|your[_-]"
)
_HEX = "0123456789abcdef"
_HUMPS = "[A-Z]?[a-z]+|[A-Z]+"
_NO_WORD = r"[0-9!@#$%^&*+~?]"
_NO_VOWEL = "[bcdfghjklmnpqrstvwxz]{5}"
_NO_VOWEL_HUMP = r"\A[bcdfghjklmnpqrstvwxz]{4,}\Z|[bcdfghjklmnpqrstvwxz]{5}"
_PROTOCOLS = frozenset(("html", "http", "https", "grpc", "mqtt", "smtp"))  # parts of names in code
_WORDY = r"[A-Za-z]{3,12}(?:[-._][A-Za-z]{3,12}){2,7}[-._]?[0-9]{1,4}"
_SYMBOL = r"[!@#$%^&*+~?]"
_WORDS = r"[A-Za-z]+|[0-9]+"
_CODE = r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+(?:\(.*\))?\Z"
_FILLED_IN = r"\$\([ <]?[A-Za-z_./]|\$\{[\w:#!]|\{\{"  # a random password may hold `$(` by chance
_VARIABLE = r"[$%@#!&]{0,2}[({]|\$\w|%\w+%\Z|%[sdr]\Z|<[^<>]*>?\Z|\{.*\}\Z|__\w+__\Z|&\w+\Z|\*\w+\Z"
_ELSEWHERE = (
    "process.env",
    "os.environ",
    "os.getenv",
    "env.",
    "secrets.",
    "vault:",
    "op://",
    "arn:",
)
_A_NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z"  # E2B_API_KEY
_NOT_A_VALUE = r"[\w+.-]+://|[./~]*/|[A-Za-z]:[\\/]|[@.][\w/]|[\w-]+(?:/[\w.-]+)+\.\w{1,5}\Z"


def is_masked(value: str) -> bool:
    """Whether the secret was removed or never there: `xxxx`, `****`, `sk-...`."""
    return (
        len(set(value.strip(_MASKS))) <= 1
        or "..." in value
        or "…" in value
        or "***" in value
        or "xxxxx" in value.lower()
        or REDACTED in value
    )


def is_placeholder(value: str) -> bool:
    """Whether it only shows where a secret would go: `${VAR}`, `<token>`, `your-key-here`,
    `os.environ["X"]`."""
    return _is_placeholder(value[:JUDGED_CHARS])


@lru_cache(REMEMBERED)
def _is_placeholder(value: str) -> bool:
    if is_masked(value) or compiled(_VARIABLE).match(value) or value.lower().startswith(_ELSEWHERE):
        return True
    if compiled(_FILLED_IN).search(value):
        return True
    low = value.lower()
    if "your" in low or "my" in low:
        is_yours = compiled(r".{0,12}\b(?:your|my)[_-]").match(low)
        if is_yours and not is_mixed(value[-12:]):
            return True
    if compiled(_FILL_IN).match(low) and not is_mixed(value[-12:]):
        return True
    if compiled(_A_NAME).match(value) and compiled(
        "KEY|TOKEN|SECRET|PASS|AUTH|CRED|_URL|_ID"
    ).search(value):
        return True
    return all(word[0] in _STOCK for word in compiled(_WORDS).finditer(low))


def is_mixed(value: str) -> bool:
    """Whether letters and digits alternate, as in keys and not in names."""
    digits = sum(char.isdigit() for char in value)
    return digits > 0 and digits < len(value) and (digits >= 4 or turns(value) >= 0.25)


def looks_random(value: str) -> bool:
    """Whether it is mixed, or, without digits by chance, changes between upper and lower case
    too often."""
    if is_mixed(value):
        return True
    humps = compiled(_HUMPS).findall(value)
    return len(value) >= 16 and len(value) < 2.6 * len(humps)  # `waitForTaskToken` has 4.0


def is_no_hash(value: str) -> bool:
    """Whether it is long, random and not the hex of a commit: enough beside a name without any
    other sign."""
    return len(value) >= 20 and looks_random(value) and bool(value.lower().strip(_HEX))


def is_made_up(value: str) -> bool:
    """Whether eight or more letters and digits alternate, or are mixed with symbols: enough
    after `password`."""
    if (
        len(value) < 8
        or not value.lower().strip(_HEX)
        or not compiled("[A-Za-z].*[A-Za-z]").search(value)
    ):
        return False
    return is_mixed(value) and (
        compiled("[A-Z]").search(value) is not None or compiled(_SYMBOL).search(value) is not None
    )


def turns(value: str) -> float:
    """How often the kind of character changes: base64 and hex about half, names under a quarter."""
    kinds = [_kind(char) for char in value if char.isalnum()]
    if len(kinds) < 2:
        return 0.0
    changes: int = sum(map(ne, kinds, kinds[1:]))
    return changes / (len(kinds) - 1)


def _kind(char: str) -> int:
    return 0 if char.isdigit() else 1 if char.isupper() else 2


def is_password(value: str, literal: bool) -> bool:
    """A value named password. What is not a literal (quoted, .env, a flag) may be code."""
    return _is_password(value[:JUDGED_CHARS], literal)


@lru_cache(REMEMBERED)
def _is_password(value: str, literal: bool) -> bool:
    if len(value) < 4 or is_placeholder(value) or compiled(_NOT_A_VALUE).match(value):
        return False
    if (
        compiled(_CODE).match(value)
        and turns(value) < 0.25
        and not compiled("[0-9]{3}").search(value)
    ):
        return False
    if literal:
        return not (value.isalpha() and value[0].isupper() and value[1:].islower())
    if is_gibberish(value) or is_scrambled(value):
        return True
    return _has_digit_or_symbol(value) and "password" not in value.lower()


def _has_digit_or_symbol(value: str) -> bool:
    if value.isdigit():
        return len(value) >= 6
    return (
        compiled("[A-Za-z]").search(value) is not None
        and compiled(_NO_WORD).search(value) is not None
    )


def is_key(value: str, literal: bool) -> bool:
    """A value named token, secret or key: those are made by machines, so they are mixed."""
    return _is_key(value[:JUDGED_CHARS], literal)


@lru_cache(REMEMBERED)
def _is_key(value: str, literal: bool) -> bool:
    if len(value) < 8 or is_placeholder(value) or _is_path(value) or _is_code(value, literal):
        return False
    if not compiled("[A-Za-z]").search(value):
        return False
    if is_gibberish(value) or is_scrambled(value) or is_wordy(value):
        return True
    if literal:
        if value.isalpha() and (value.islower() or value.isupper()):  # `mysupersecretkey`
            return len(value) >= 16
        odd = len(value) >= 12 and compiled(rf"\w{_SYMBOL}\w").search(value) is not None
        return odd or looks_random(value) or any(char.isdigit() for char in value)
    return looks_random(value) and not compiled(r"[\d.:_-]+\Z").match(value)


def is_strong(value: str, hash_too: bool) -> bool:
    """Whether it is long and random beyond doubt: needed if the name alone says little."""
    if len(value) < 16 or not _is_key(value[:JUDGED_CHARS], False) or is_uuid(value):
        return False
    return hash_too or bool(value.lower().rpartition(":")[2].strip(_HEX))


def is_random(value: str) -> bool:
    """Whether a machine made it beyond doubt: a long part alternates between letters and digits."""
    if len(value) < 16 or is_placeholder(value) or is_uuid(value) or value.count("/") > 3:
        return False
    part = max(compiled("[^A-Za-z0-9]").split(value[:JUDGED_CHARS]), key=len)
    if not part.lower().strip(_HEX):
        return len(part) >= 32 and part != value and ":" not in value[:-32]
    if not any(map(str.isdigit, part)):
        return len(part) >= 16 and is_gibberish(part)
    return len(part) >= 12 and turns(part) >= 0.3


def is_gibberish(value: str) -> bool:
    """Letters, and no word: five consonants in a row, or capitals anywhere."""
    return len(value) >= 12 and (
        _is_gibberish(value) if len(value) <= JUDGED_CHARS else _judge_letters(value)
    )


@lru_cache(REMEMBERED)
def _is_gibberish(value: str) -> bool:
    return _judge_letters(value)


def _judge_letters(value: str) -> bool:
    letters = value.replace("_", "").replace("-", "")
    if len(letters) < 12 or not (letters.isascii() and letters.isalpha()):
        return False
    if letters.islower() or letters.isupper():
        return letters == value and compiled(_NO_VOWEL).search(letters.lower()) is not None
    humps = compiled(_HUMPS).findall(letters)
    return len(letters) < 2.6 * len(humps) or any(
        compiled(_NO_VOWEL).search(hump.lower()) for hump in humps if hump[-1].islower()
    )


def is_scrambled(value: str) -> bool:
    """Whether it is eight letters or more that no words make up: `zKrVbTqLmWp`. A few digits and
    the symbols of passwords may be among them. Enough directly behind a telling name."""
    return 8 <= len(value) <= JUDGED_CHARS and _is_scrambled(value)


@lru_cache(REMEMBERED)
def _is_scrambled(value: str) -> bool:
    others = r"[0-9!@#$%^&*+~?._-]" if compiled(_SYMBOL).search(value) else "[0-9]"
    letters = compiled(others).sub("", value.rstrip("="), count=4)
    if not (8 <= len(letters) <= 64 and letters.isascii() and letters.isalpha()):
        return False
    if letters.islower() or letters.isupper():
        return letters == value and _is_unspeakable(letters.lower())
    if len(letters) >= 10 and _vowels(letters) < 0.2 * len(letters):
        return True
    humps = compiled(_HUMPS).findall(letters)
    return len(letters) < 2.8 * len(humps) or any(
        hump.lower() not in _PROTOCOLS and compiled(_NO_VOWEL_HUMP).search(hump.lower())
        for hump in humps
        if hump[-1].islower()
    )


def _is_unspeakable(word: str) -> bool:
    """Whether no language has such a word: a run of consonants, or hardly any vowel."""
    return compiled(_NO_VOWEL).search(word) is not None or _vowels(word) < 0.15 * len(word)


def _vowels(word: str) -> int:
    return sum(letter in "aeiouyAEIOUY" for letter in word)


def is_wordy(value: str) -> bool:
    """Whether it is three words or more and a number, as generators of passwords make them:
    `lantern-otter-velvet-42`."""
    words = compiled(_WORDY).fullmatch(value)
    return words is not None and not all(
        word in _STOCK for word in re.findall("[a-z]+", value.lower())
    )


def like_a_password(value: str) -> bool:
    """Eight or more letters and digits with capitals or symbols, and neither path nor version."""
    if (
        not 8 <= len(value) <= 64
        or is_placeholder(value)
        or compiled(r"://|\.[a-z]{1,5}\Z|\A[./~@-]").search(value)
    ):
        return False
    if is_scrambled(value) or is_wordy(value):
        return True
    if (
        sum(map(str.isdigit, value)) < 2
        or not compiled("[A-Za-z]{2}").search(value)
        or is_uuid(value)
    ):
        return False
    return (
        compiled("[A-Z]").search(value) is not None or compiled(_SYMBOL).search(value) is not None
    )


def is_phrase(value: str, named_in_env: bool, in_env: bool = False) -> bool:
    """Several words as a password: `my dog Rex 1987`, and not `Enter your password`. In a `.env`
    line (`in_env`) no sentence stands, so the phrase may have any signs."""
    value = value[:JUDGED_CHARS]
    no_phrase = r"[<>{}]|%[sd]" if in_env else r"[.:?…](?:\s|\Z)|[<>{}()=\[\]|]|%[sd]"
    if is_placeholder(value) or len(value) < 8 or compiled(no_phrase).search(value):
        return False
    words = re.findall(r"[a-z]+", value.lower())
    if not words:
        return False
    odd = [word for word in words if word not in _PROSE_WORDS and word not in _STOCK]
    if named_in_env or (
        re.search(r"[A-Za-z]", value)
        and re.search(r"[0-9]{2}|[0-9]\S*[A-Za-z]|[!@#$%^&*+~]", value)
    ):
        return bool(odd) and "character" not in value.lower()
    return value.islower() and len(odd) >= 3 and _PROSE_WORDS.isdisjoint(words)


def is_hex(value: str) -> bool:
    """Letters and digits of a hexadecimal number, and no plain number."""
    return not value.lower().strip(_HEX) and not value.isdigit() and not value.isalpha()


def is_uuid(value: str) -> bool:
    return len(value) == 36 and value.count("-") == 4


def _is_code(value: str, literal: bool) -> bool:
    """`self.secret_v2`, `r.k2.apiKey`: names and dots, and no name long enough for a key."""
    if literal or not compiled(_CODE).match(value):
        return compiled(_CODE).match(value) is not None and turns(value) < 0.3
    parts = re.split(r"\W+", value)
    return not any(len(part) >= 16 and looks_random(part) for part in parts)


def _is_path(value: str) -> bool:
    return compiled(_NOT_A_VALUE).match(value) is not None and turns(value) < 0.3


def user_and_password(value: str) -> bool:
    """base64 of `user:password`, as Basic and docker's config have it."""
    from binascii import Error, a2b_base64

    try:
        plain = a2b_base64(value + "=" * (-len(value) % 4)).decode("ascii")
    except (Error, ValueError):
        return False
    user, colon, password = plain.partition(":")
    return bool(user and colon and password) and plain.isprintable()
