"""One secret in a text, and whether a value can be one: no word, placeholder, variable or code.

Values that machines make are told by the length of their pieces. A piece is a word, a run of
capitals or a run of digits: names have four letters and more in each, random text about two.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from holdfast.redact.kinds import PROSE_WORDS, STOCK_WORDS

REDACTED = "[redacted"  # every placeholder begins so, and no rule takes it for a secret
JUDGED_CHARS = 120  # enough to tell; a judgement must not cost more for a longer bait
REMEMBERED = 1024
_MASKS = "*.xX•…#-_?0"
_PIECE = "[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_SEGMENT = "[A-Za-z0-9]+"
_WORD = "[a-z]+|[0-9]+"
_LONG_WITH_DIGIT = r"(?=[A-Za-z0-9]{8})[A-Za-z]*[0-9]"
_NO_VOWEL = "[bcdfghjklmnpqrstvwxz]{5}"
_SYMBOL = "[!@#$%^&*+~?]"
_NO_PHRASE = r"[^\w\s]*\s|.*?(?:[<>{}]|%[a-z]|://)"  # behind a closing quote; code
_VARIABLE = (
    r"[$%@#!&]{0,2}[({]|\$\w|%\w+%\Z|%[sdrv]\Z|<[^<>]*>?\Z|\{.*\}\Z|__\w+__\Z|[&*]\w+\Z"
    r"|\+[\w$.]*(?:[(),;]|\+\Z)"  # between two literals: `"token="+token2+"`
    r"|.*?(?:\$\([ <]?[A-Za-z_./]|\$\{[\w:#!]|\{\{|<[a-z_-]+>)"
    r"|(?i:process\.env|os\.|env[.:]|secrets?\.|vault:|op://|arn:|file:|ref\+|!\w|data:)"
    r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASS\w*|AUTH|CRED\w*|URL|ID)\w*\Z"
)
_FILL_IN = (
    r"(?:(?:change|replace|fill|insert|put|add|set|enter)[_-]?(?:me|this|it|in|with|your|here)"
    r"|todo|your|.{0,16}\b(?:your|my)[_-]).*"
)
_PATH = r"[\w+.-]+://|[./~]*/|[A-Za-z]:[\\/]|[@.][\w/]|[\w.-]+(?:/[\w.-]+)+(?:\.\w{1,5}|/)?\Z"
_CODE = r"[A-Za-z_$][\w$]*(?:(?:\??\.|::|->)[A-Za-z_$][\w$]*)+(?:\(.*)?\Z|[\w.]*\("
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}:[0-9]{2}\b|v?[0-9]+(?:\.[0-9]+)+\Z"


@lru_cache(None)
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when first needed; `re.compile` takes ten times as long to find it."""
    return re.compile(pattern)


class SecretFinding:
    """One secret: its kind, and the half-open span it fills."""

    __slots__ = ("end", "kind", "start")  # no dataclass: that import alone costs 20 ms

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end

    @property
    def placeholder(self) -> str:
        return f"{REDACTED}: {self.kind}]"


def merge_findings(findings: Iterable[SecretFinding]) -> list[SecretFinding]:
    """Sort findings and merge those that overlap; the first one names the result."""
    kept: list[SecretFinding] = []
    for finding in sorted(findings, key=lambda finding: finding.start):
        if kept and finding.start < kept[-1].end:
            kept[-1].end = max(kept[-1].end, finding.end)
        else:
            kept.append(finding)
    return kept


def is_masked(value: str) -> bool:
    """Whether the secret was removed or never there: `xxxx`, `****`, `sk-...`, `AKIA…EXAMPLE`."""
    return (
        value.endswith("EXAMPLE")
        or len(set(value.strip(_MASKS))) <= 1
        or "..." in value
        or "…" in value
        or "***" in value
        or "xxxx" in value.lower()
        or REDACTED in value
    )


@lru_cache(REMEMBERED)
def _is_placeholder(value: str) -> bool:
    if is_masked(value) or compiled(_VARIABLE).match(value):
        return True
    low = value.lower()
    if compiled(_FILL_IN).match(low) and not is_made(value):
        return True
    return all(word[0] in STOCK_WORDS for word in compiled(_WORD).finditer(low))


def is_placeholder(value: str) -> bool:
    """Whether it only shows where a secret would go: `${VAR}`, `<token>`, `your-key-here`."""
    return _is_placeholder(value[:JUDGED_CHARS])


def piece_length(value: str) -> float:
    """The mean length of the words and numbers that it is made of."""
    pieces = compiled(_PIECE).findall(value)
    return sum(map(len, pieces)) / len(pieces) if pieces else 99.0


def is_mixed(value: str) -> bool:
    """Whether letters and digits alternate, as in keys and not in names."""
    digits = sum(map(str.isdigit, value))
    return 0 < digits < len(value) and (digits >= 4 or piece_length(value) <= 3)


def looks_random(value: str) -> bool:
    """Whether it is mixed, or changes between upper and lower case too often."""
    return is_mixed(value) or (len(value) >= 16 and piece_length(value) < 2.6)


def is_gibberish(value: str) -> bool:
    """Whether it is eight letters or more that no words make up: `zKrVbTqLmWp`."""
    longest = max(compiled(_SEGMENT).findall(value[:JUDGED_CHARS]), key=len, default="")
    letters = "".join(filter(str.isalpha, longest))
    if len(letters) < 8 or len(letters) < 0.6 * len(longest):
        return False
    if is_one_case(letters):
        vowels = sum(letter in "aeiouy" for letter in letters.lower())
        return bool(compiled(_NO_VOWEL).search(letters.lower())) or vowels < 0.15 * len(letters)
    return piece_length(longest) < 2.8


def is_one_case(value: str) -> bool:
    return value.islower() or value.isupper()


def is_hex(value: str) -> bool:
    return not value.lower().strip("0123456789abcdef")


def is_uuid(value: str) -> bool:
    return len(value) == 36 and value.count("-") == 4


def is_made(body: str) -> bool:
    """Whether a machine made what follows a token's beginning. Names have short or plain parts."""
    if is_masked(body):
        return False
    longest = max(compiled(_SEGMENT).findall(body), key=len, default="")
    digits = sum(map(str.isdigit, longest))
    if len(body) >= 16 and piece_length(body) < 2.6 and not is_one_case(body):
        return True
    if len(longest) < 10:
        return digits > 0 and len(body) >= 16 and piece_length(body) < 2.2
    if digits == 0:
        most = 3.6 if len(longest) >= 30 else 2.6  # chance evens out, and names get no denser
        return len(longest) >= 16 and (piece_length(longest) < most or is_gibberish(longest))
    return piece_length(longest) <= 4 or digits >= 4


def _is_code(value: str) -> bool:
    """`self.secret_v2`, `get(x)`: names and dots, and no name long enough for a key."""
    if not compiled(_CODE).match(value):
        return False
    parts = compiled(_SEGMENT).findall(value)
    return not any(is_made(part) or (len(part) >= 5 and piece_length(part) < 2) for part in parts)


@lru_cache(REMEMBERED)
def _is_password(value: str, literal: bool) -> bool:
    if len(value) < 4 or _is_placeholder(value) or compiled(_TIME).match(value):
        return False
    if compiled(_PATH).match(value) or _is_code(value):
        return False
    if literal:
        return not (value.isalpha() and value.istitle())
    if is_gibberish(value):
        return True
    if value.isdigit():
        return len(value) >= 6
    has_letter = any(map(str.isalpha, value))
    has_other = any(map(str.isdigit, value)) or compiled(_SYMBOL).search(value) is not None
    return has_letter and has_other and "password" not in value.lower()


def is_password(value: str, literal: bool) -> bool:
    """A value named password. What is not a literal (quoted, .env, a flag) may be code."""
    return _is_password(value[:JUDGED_CHARS], literal)


@lru_cache(REMEMBERED)
def _is_key(value: str, literal: bool) -> bool:
    if len(value) < 8 or _is_placeholder(value) or compiled(_TIME).match(value):
        return False
    if _is_code(value) or (compiled(_PATH).match(value) and piece_length(value) > 3):
        return False
    if not any(map(str.isalpha, value)):
        return False
    if is_gibberish(value) or is_wordy(value):
        return True
    if literal:
        if value.isalpha() and is_one_case(value):  # `mysupersecretkey`
            return len(value) >= 16
        return looks_random(value) or compiled(_LONG_WITH_DIGIT).search(value) is not None
    return looks_random(value)


def is_key(value: str, literal: bool) -> bool:
    """A value named token, secret or key: those are made by machines, so they are mixed."""
    return _is_key(value[:JUDGED_CHARS], literal)


def is_strong(value: str, hash_too: bool = False) -> bool:
    """Whether it is long and random beyond doubt: needed if the name alone says little."""
    if len(value) < 16 or is_uuid(value) or not _is_key(value[:JUDGED_CHARS], False):
        return False
    if is_hex(value.rpartition(":")[2]):
        return hash_too and len(value) >= 32
    longest = max(compiled(_SEGMENT).findall(value[:JUDGED_CHARS]), key=len, default="")
    return len(longest) >= 12 and (is_made(longest) or is_gibberish(longest))


def is_wordy(value: str) -> bool:
    """Whether it is three words or more and a number: `lantern-otter-velvet-42`."""
    words = compiled(r"[A-Za-z]{3,12}(?:[-._][A-Za-z]{3,12}){2,7}[-._]?[0-9]{1,4}").fullmatch(value)
    return words is not None and not STOCK_WORDS.issuperset(
        compiled("[a-z]+").findall(value.lower())
    )


def like_a_password(value: str) -> bool:
    """Eight or more letters and digits with capitals or symbols, neither path nor version."""
    if not 8 <= len(value) <= 64 or is_uuid(value) or not is_password(value, False):
        return False
    if compiled(r"\.[a-z]{1,5}\Z|\A[-]").search(value) or "://" in value:
        return False
    if is_gibberish(value) or is_wordy(value):
        return True
    has_capital = any(map(str.isupper, value)) and not value.isupper()
    return sum(map(str.isdigit, value)) >= 2 and (
        has_capital
        or compiled(_SYMBOL).search(value) is not None
        or (len(value) >= 12 and is_made(value))
    )


def is_phrase(value: str, in_env: bool) -> bool:
    """Several words as a secret: `my dog Rex 1987`, and not `Enter your password`. In a `.env`
    line hardly a sentence stands, so most words count."""
    value = value[:JUDGED_CHARS]
    if is_placeholder(value) or len(value) < 8 or compiled(_NO_PHRASE).match(value):
        return False
    words = compiled("[a-z][a-z0-9]*").findall(value.lower())
    odd = [word for word in words if word not in PROSE_WORDS and word not in STOCK_WORDS]
    if len(odd) * 2 < (len(words) or 1):
        return False
    if in_env or compiled(r"[.,:;?…](?:\s|\Z)|[()=\[\]|]|\s-\w").search(value):
        return in_env
    is_plain = value.islower() and len(odd) >= 3 and PROSE_WORDS.isdisjoint(words)
    return is_plain or compiled(f"[0-9]{{2}}|[0-9][A-Za-z]|{_SYMBOL}").search(value) is not None


def user_and_password(value: str) -> bool:
    """base64 of `user:password`, as Basic and docker's config have it."""
    from binascii import Error, a2b_base64

    try:
        plain = a2b_base64(value + "=" * (-len(value) % 4)).decode("ascii")
    except (Error, ValueError):
        return False
    user, colon, password = plain.partition(":")
    return bool(user and colon and password) and plain.isprintable()
