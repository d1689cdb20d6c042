"""A column of a table: what its title says, and which of its values are secrets.

The title says what stands below it, in every row. A column is judged as a whole: where half of its
values look like passwords, so are the others.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.redact import names
from holdfast.redact.rule import SecretFinding, compiled
from holdfast.redact.value import (
    is_gibberish,
    is_key,
    is_made_up,
    is_masked,
    is_mixed,
    is_password,
    is_phrase,
    is_placeholder,
    is_random,
    like_a_password,
    turns,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.redact.names import SecretName

    Value = tuple[str, int]  # and where it begins

LONGEST_ROW = 16_384  # characters
LONGEST_LINE = 1 << 20  # of a table that is known to be one
LONGEST_TITLE, MOST_WORDS = 64, 4
REMEMBERED = 512  # titles; judging one takes 30 µs
SHORTEST = 4  # password
LONG_WORD = 16
ENOUGH = 3  # values that look like secrets, where the first line may be a sentence or code
CSV_CELL = r"(?:\"[^\"]*+\"|[^\"{mark}]++|\")*+"
CSV_ROW = r"(?:\"[^\"]*+\"|[^\"\n]++)*+"
OFTEN = 0.3  # share of characters of another kind than the one before: `user1234` has 0.14
MOST_EXTRA = 5  # cells too many or too few
_TELLING = r"[\w .'-]+\Z"
_TITLE = r"(?:[\w#][\w .,:#/%()*@?$'-]*)?\Z"
_OF_MANUALS = frozenset(("required", "optional", "string", "default", "description"))
_USER = "user|login|mail|account|name|benutzer|usuario|utilisateur|url|site|host"
# Names of things, and of ways to hash: `app-tls-2024`, `argon2id`.
_LABEL = r"(?:[A-Za-z]+[0-9]{0,2}|v?[0-9]{1,8})(?:[-_./:](?:[A-Za-z]+[0-9]{0,3}|v?[0-9]{1,8}))+\Z"
_METHOD = r"(?i:sha|md|argon|bcrypt|scrypt|pbkdf|aes|rsa|utf|base|oauth|saml|ldap)[-_]?[0-9]"


class Column:
    """What the title of a column says of its values, and the values."""

    __slots__ = ("_doubtful", "_far", "_values", "kind", "number", "password", "short")

    def __init__(self, number: int, name: SecretName) -> None:
        self.number = number
        self.kind = name.kind
        self.password = name.password
        self.short = name.word in ("pass", "pw")  # test runners count what passes
        self._values: list[Value] = []
        self._far: list[Value] = []
        self._doubtful: list[Value] = []

    def add(self, value: str, start: int, *, is_far: bool = False) -> None:
        """Add the value of a row. Rows that are far from the others may be of something else."""
        if not _stands_in(value):
            (self._far if is_far else self._values).append((value, start))

    def add_doubtful(self, value: str, start: int) -> None:
        """Add a value that may be of another column. It counts if it looks like a secret and
        another value of this column is one."""
        is_secret = (self.password and _is_strong(value)) or _is_alternating(value)
        if is_secret and not _stands_in(value):
            self._doubtful.append((value, start))

    def findings(self, is_head: bool, words_too: bool) -> Iterator[SecretFinding]:
        found = self._judge(self._values, is_head, words_too)
        far = self._judge(self._far, False, False)
        if found or len(far) >= ENOUGH:
            found = [*found, *far, *self._doubtful]
        for value, start in found:
            yield SecretFinding(self.kind, start, start + len(value))

    def _judge(self, values: list[Value], is_head: bool, words_too: bool) -> list[Value]:
        if not self.password:
            return _keys(values, is_head)
        strong = [one for one in values if _is_strong(one[0])]
        enough = 1 if is_head else ENOUGH
        if len(strong) >= enough and 2 * len(strong) >= len(values):
            return [one for one in values if " " not in one[0] or is_phrase(one[0], False)]
        if not is_head or self.short:
            return strong
        return [one for one in values if " " not in one[0] and _is_weak(one[0], words_too)]


def _keys(values: list[Value], is_head: bool) -> list[Value]:
    """A column `token` may have words, and `secret` the names of some."""
    keys = [one for one in values if _is_key(one[0])]
    if len(keys) < (1 if is_head else ENOUGH):
        return []
    if 4 * len(keys) >= 3 * len(values):  # a few random ones look like words
        return [one for one in values if _may_be_key(one[0])]
    if 2 * len(keys) >= len(values):
        return keys
    return [one for one in keys if is_random(one[0])]


def _stands_in(value: str) -> bool:
    if len(value) < SHORTEST or is_masked(value) or "://" in value:
        return True
    return is_placeholder(value) and not is_mixed(value)


def _is_strong(value: str) -> bool:
    return " " not in value and (like_a_password(value) or is_made_up(value))


def _is_alternating(value: str) -> bool:
    """Whether it looks like a secret and not like the name or the time in the next cell."""
    is_word = compiled("[A-Za-z]{2}").search(value) is not None
    return is_word and _is_key(value) and (turns(value) >= OFTEN or is_gibberish(value))


def _is_weak(value: str, words_too: bool) -> bool:
    return is_password(value, words_too) and not compiled(_METHOD).match(value)


def _is_key(value: str) -> bool:
    is_word = value.isalpha() and value.islower() and len(value) < LONG_WORD
    return _may_be_key(value) and not is_word and is_key(value, literal=False)


def _may_be_key(value: str) -> bool:
    return len(value) >= 8 and " " not in value and not compiled(_LABEL).match(value)


@lru_cache(REMEMBERED)
def telling_name(title: str) -> SecretName | None:
    """Return the name at the end of a title: `login_password`, "Secret access key"; not
    `password_changed_at`, `token_count`."""
    if len(title) > LONGEST_TITLE or len(title.split()) > MOST_WORDS:
        return None
    low = title.lower()
    if not compiled(_TELLING).match(title) or len(low) != len(title):
        return None
    for name in names.ALL:
        at = low.rfind(name.word)
        if at >= 0 and names.end_with_tail(low, at + len(name.word)) == len(low):
            is_word = not name.apart or names.begins_word(title, at, len(name.word))
            if is_word and names.judge_name(title, low, name, at) == names.SURE:
                return name
    return None


def can_be_titles(titles: Sequence[str]) -> bool:
    """Whether all can be titles of values; `| password | string | required |` describes a value."""
    return _OF_MANUALS.isdisjoint(map(str.lower, titles)) and all(
        len(title) <= LONGEST_TITLE
        and len(title.split()) <= MOST_WORDS
        and compiled(_TITLE).match(title)
        for title in titles
    )


def columns_of(titles: Sequence[str]) -> list[Column]:
    named = [(number, telling_name(title)) for number, title in enumerate(titles)]
    return [Column(number, name) for number, name in named if name]


def possible_places(number: int, cells: int, titles: int) -> range:
    """Return which cells of a row may belong to a column. A row with a cell too many or too few
    has it before the column or behind it; one with many is no row."""
    shifted = number + cells - titles
    if abs(cells - titles) > MOST_EXTRA:
        return range(0)
    return range(max(0, min(number, shifted)), min(cells, max(number, shifted) + 1))


def has_users(titles: Sequence[str]) -> bool:
    return any(compiled(_USER).search(title.lower()) for title in titles)


def split_cells(pattern: str, line: str) -> list[tuple[int, int]]:
    """Return what the pattern reads between signs of one character."""
    spans, at = [], 0
    while at <= len(line):
        match = compiled(pattern).match(line, at)
        spans.append(match.span() if match else (at, len(line)))
        at = spans[-1][1] + 1
    return spans


def split_row(line: str, mark: str) -> list[tuple[int, int]]:
    """Return the cells between signs. A sign in quotes does not part them, as in CSV."""
    if mark in ",;" and '"' in line:
        return split_cells(CSV_CELL.replace("{mark}", mark), line)
    spans, at = [], 0
    for cell in line.split(mark):
        spans.append((at, at + len(cell)))
        at += len(cell) + len(mark)
    return spans


def cell_value(line: str, start: int, end: int, line_end: str) -> Value:
    """Return the value in a cell, without blanks, quotes and marks of Markdown, and its place."""
    cell = line[start:end]
    is_escaped = line_end[:1] == "\\"
    value = cell.removesuffix("\\r").strip(' \t\r\\"') if is_escaped else cell.strip(' \t\r"')
    while len(value) > 2 and value[0] == value[-1] and value[0] in "'`*":
        value = value[1:-1]
    return value, start + (line.find(value, start) - start if value else 0)
