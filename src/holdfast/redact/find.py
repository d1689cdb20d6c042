"""Find secrets, and remove them from a text or a JSON value.

In JSON a key such as `password` makes its value secret: a string, a number, and everything in a
list or an object.

A text is searched as its reader sees it: without colours and invisible characters, with escapes
decoded. `grep --color` and `jq -C` put escape sequences into the middle of names and tokens, and
JSON inside JSON writes line ends and quotes as escapes. Each finding is mapped back.

Columns of tables with a telling title (CSV, tabs, Markdown, psql and mysql) are read once each.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from holdfast.redact import named_values, shapes
from holdfast.redact.named_values import SURE, SecretName, is_telling, judge_name
from holdfast.redact.value import (
    SecretFinding,
    compiled,
    is_key,
    is_made,
    is_password,
    is_phrase,
    is_placeholder,
    like_a_password,
    looks_random,
    merge_findings,
)

Cell = tuple[int, int]
Value = tuple[str, int]  # and where it begins

LONGEST_HEAD, LONGEST_ROW = 2_000, 16_384
MOST_ODD = 3  # lines one after another that are no rows
_NUMBERED = r" {0,12}[0-9]{1,6} ?[→\t]"  # a line of a file, as tools show it
_QUOTED = r"[> ]*"
_JSON = r"\" {0,7}: ?\""  # the text begins behind it
_RULER = r"[\s|+:=─━┏┓┗┛┡┩╇┳┻├┤┼┌┐└┘┬┴│┃-]*\Z"
_TITLE = r"[\w#][\w.:/%()*@?$'-]{0,32}(?: [\w.:/%()*@?$'-]{1,24}){0,2}\Z"
_USERS = "user|login|mail|account|name|url|site|host"
_CSV = r"\"(?:[^\"]|\"\")*+\"|[^{}]*+"
_QUOTES = " \t\r\"'`*"


class Tables:
    """Reads the table below each telling title once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._done = 0

    def below(self, at: int) -> Iterator[SecretFinding]:
        """Yield the secrets in the columns of a table whose head has a telling title here."""
        if at < self._done:
            return
        text = self._text
        start = text.rfind("\n", max(0, at - LONGEST_HEAD), at) + 1
        end = text.find("\n", at)
        if end < 0 or end - start > LONGEST_HEAD:
            self._done = end if end >= 0 else len(text)
            return
        self._done = end
        line = compiled(_JSON).split(text[start:end].translate(_BARS))[-1]
        margin = _NUMBERED if compiled(_NUMBERED).match(line) else _QUOTED
        head = line[_end_of(margin, line) :]
        mark = next((mark for mark in "|\t;," if mark in head.strip()), "")
        if mark and not compiled(r"[{}=<>]|\w\(").search(head):
            yield from self._read(head, end + 1, mark, margin)

    def _read(self, head: str, at: int, mark: str, margin: str) -> Iterator[SecretFinding]:
        titles = [head[start:end].strip(_QUOTES) for start, end in _cells(head, mark)]
        columns = {number: name for number, title in enumerate(titles) if (name := _name(title))}
        if not columns or not all(compiled(_TITLE).match(title) for title in titles if title):
            return
        has_users = any(compiled(_USERS).search(title.lower()) for title in titles)
        values: dict[int, list[Value]] = {number: [] for number in columns}
        for start, row in self._rows(at, mark, margin, len(titles)):
            if row == MARKDOWN:  # a manual may have any words there
                has_users = False
                continue
            cells = _cells(row, mark)
            for number in columns:
                value, place = _value(row, *cells[number])
                values[number].append((value, start + place))
        for number, name in columns.items():
            for value, place in _secrets(values[number], name, has_users):
                yield SecretFinding(name.kind, place, place + len(value))

    def _rows(self, at: int, mark: str, margin: str, count: int) -> Iterator[tuple[int, str]]:
        """Yield the rows of a table. Few lines that are no rows do not end it."""
        odd, text = 0, self._text
        while at < len(text) and odd <= MOST_ODD:
            end = text.find("\n", at, at + LONGEST_ROW)
            end = end if end >= 0 else min(len(text), at + LONGEST_ROW)
            line = text[at:end].translate(_BARS)
            start = _end_of(margin, line)
            row = line[start:]
            if compiled(_RULER).match(row):
                if row[:1] == "|" and "+" not in row and "-" in row:
                    yield at, MARKDOWN
            elif mark in row and len(_cells(row, mark)) == count:
                odd = 0
                self._done = end
                yield at + start, row
            else:
                odd += 1
            at = end + 1


MARKDOWN = "|-"
_BARS = {ord(bar): "|" for bar in "│┃║"}


def _end_of(margin: str, line: str) -> int:
    match = compiled(margin).match(line)
    return match.end() if match else 0


def _name(title: str) -> SecretName | None:
    name = judge_name(title)
    return name if name and name.level == SURE and not name.is_plain else None


def _cells(line: str, mark: str) -> list[Cell]:
    """Return where the cells are. A sign in quotes does not part them in CSV."""
    at = 0
    spans: list[Cell] = []
    if mark in ",;" and '"' in line:
        pattern = compiled(_CSV.replace("{}", mark))
        while at <= len(line):
            match = pattern.match(line, at)
            end = match.end() if match else len(line)
            if line[end : end + 1] not in ("", mark):  # more behind the quotes
                end = line.find(mark, end) % (len(line) + 1)
            spans.append((at, end))
            at = end + 1
        return spans
    for cell in line.split(mark):
        spans.append((at, at + len(cell)))
        at += len(cell) + 1
    return spans


def _value(line: str, start: int, end: int) -> tuple[str, int]:
    cell = line[start:end]
    value = cell.strip(_QUOTES)
    return value, start + cell.find(value)


def _secrets(values: list[Value], name: SecretName, has_users: bool) -> list[Value]:
    """The secrets of a column. Where half of its values look like secrets, all are."""
    values = [value for value in values if " " not in value[0] and not is_placeholder(value[0])]
    sure = [value for value in values if _is_sure(value[0], name)]
    if (has_users and name.is_password) or len(sure) * 2 > len(values):
        sure += [value for value in values if is_password(value[0], literal=True)]
    return sure


def _is_sure(value: str, name: SecretName) -> bool:
    return like_a_password(value) if name.is_password else is_made(value) and is_key(value, True)


# Controls but tab and line ends; formats and fillers of no width; half surrogates.
_INVISIBLE = (
    r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e01ef"
)
_ESC = r"(?:\x1b|\\{1,8}(?:[uU]001[bB]|x1[bB]|033|e(?=\[)))"
_SEQUENCE = (
    rf"(?:{_ESC}\[|\x9b)[0-?]{{0,64}}[ -/]{{0,8}}[@-~]"
    rf"|{_ESC}\][0-9]{{0,4}};?|{_ESC}[ -/]{{0,4}}[0-~]?"
)
# What is hidden begins with one of few characters: to look for them first saves three fourths.
_HIDDEN = (
    rf"(?=[\\{_INVISIBLE}])(?:{_SEQUENCE}|\\{{1,8}}u(?P<letter>[0-9a-fA-F]{{4}})|[{_INVISIBLE}])"
)
# An address within an address is written so, also twice.
_ENCODED = r"%(?:25){0,3}(?P<code>[2-7][0-9a-fA-F])"
_NOT_ENCODED = r"(?m:^[^%]+$)"  # lines that need not be read twice
_SPELLED = ("\\u", "\\x1b", "\\033")
_PLAIN = bytes((9, 10, 13, *range(32, 127)))


class TextView:
    """What a reader sees of a text: `_starts` are the places of the pieces in `_spans`."""

    __slots__ = ("_spans", "_starts", "text")

    def __init__(self, text: str, pattern: str) -> None:
        parts: list[str] = []
        self._starts: list[int] = []
        self._spans: list[tuple[int, int]] = []
        at = length = 0
        for match in compiled(pattern).finditer(text):
            start, end = match.span()
            for shown, span in ((text[at:start], (at, start)), (_shown(match), (start, end))):
                if shown:
                    parts.append(shown)
                    self._starts.append(length)
                    self._spans.append(span)
                    length += len(shown)
            at = end
        self._starts.append(length)
        self._spans.append((at, len(text)))
        self.text = "".join([*parts, text[at:]])

    def in_text(self, finding: SecretFinding) -> SecretFinding:
        start, end = self._place(finding.start)[0], self._place(finding.end - 1)[1]
        return SecretFinding(finding.kind, start, end)

    def _place(self, at: int) -> tuple[int, int]:
        """Return where the character at this place of the view begins and ends in the text."""
        from bisect import bisect_right

        number = bisect_right(self._starts, at) - 1
        start, end = self._spans[number]
        if self._starts[number + 1 : number + 2] == [self._starts[number] + 1]:
            return start, end  # one character, perhaps an escape
        start += at - self._starts[number]
        return start, start + 1


def _shown(match: re.Match[str]) -> str:
    """Return what a reader sees of a match: the character that an escape stands for, or nothing."""
    if match.lastgroup is None:
        return "\n" if match[0] == "\0" else ""  # it separates variables
    char = chr(int(match[match.lastgroup], 16))
    return "" if compiled(f"[{_INVISIBLE}]").match(char) else char


def views(text: str) -> Iterator[TextView | None]:
    """Yield what a reader sees of the text, nothing if that is the text itself, and what a server
    reads of it. A password may have a blank there, so both count."""
    yield TextView(text, _HIDDEN) if _has_hidden(text) else None
    if "%" in text and compiled(_ENCODED).search(text):
        yield TextView(text, f"{_NOT_ENCODED}|{_HIDDEN}|{_ENCODED}")


def _has_hidden(text: str) -> bool:
    # Plain characters are left out first: a pattern takes three times as long.
    others = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    if others and compiled(f"[{_INVISIBLE}]").search(others.decode("utf-8", "surrogatepass")):
        return True
    return "\\" in text and any(one in text for one in _SPELLED)


def without_escapes(text: str) -> str:
    """Return a text of the same length in which escaped line ends, tabs and quotes are plain.
    Blanks stand beside them, so that nothing moves."""
    if "\\" not in text:
        return text
    for slashes in (7, 3, 1) if "\\\\" in text else (1,):  # JSON in JSON has more of them
        slash, blanks = "\\" * slashes, " " * slashes
        text = text.replace(f'{slash}"', f'"{blanks}')
    for slashes in (4, 2, 1) if "\\\\" in text else (1,):
        slash, blanks = "\\" * slashes, " " * slashes
        text = text.replace(f"{slash}n", f"{blanks}\n").replace(f"{slash}r", f"{blanks} ")
        text = text.replace(f"{slash}t", f"{blanks}\t")
    return text


def visible(text: str) -> str:
    """Return the text without escape sequences and invisible characters."""
    return compiled(rf"{_SEQUENCE}|[{_INVISIBLE}]").sub("", text)


BETWEEN = "\n~.~\n~.~\n~.~\n~.~\n"  # texts that are searched together; no table goes on behind it
LONG_CHARS = 2_000  # a longer text is searched alone
SHORTEST_REPEATED = 8  # a shorter value may be a part of any word
MOST_REPEATED = 200  # values of one text
PASSES = 3  # a rule may find a secret only after the one next to it was removed
SHORT_CHARS = 40
_LEAST_SECRET_NUMBER = 100_000  # a smaller one is probably a count
_PLACEHOLDER = SecretFinding("password", 0, 0).placeholder
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_ASCII_LOWER[0x212A] = ord("k")  # of the others `lower` makes only the Kelvin sign a plain letter
_own: list[re.Pattern[str]] = []


def use_patterns(patterns: Iterable[re.Pattern[str]]) -> None:
    """Search for the user's own patterns too: a match is a secret, or its first group."""
    _own[:] = patterns
    _redact_short.cache_clear()


def find(text: str) -> list[SecretFinding]:
    """Return the secrets of a text in order. They do not overlap."""
    findings: list[SecretFinding] = []
    for view in views(text):
        found = _search(without_escapes(view.text if view else text))
        findings += map(view.in_text, found) if view else found
    return merge_findings(findings)


def _search(text: str) -> Iterator[SecretFinding]:
    yield from shapes.scan(text)
    low = _lower_in_place(text)
    tables, done = Tables(text), 0
    for match in named_values.matches(low):
        if match.lastgroup in ("cell", "pair"):
            yield from tables.below(match.start())
        if match.start() >= done:
            for finding in named_values.findings(text, low, match):
                done = finding.end
                yield finding
    yield from shapes.scan_lists(low)
    for pattern in _own:
        for match in pattern.finditer(text):
            start, end = match.span(1 if match.lastindex else 0)
            if end > start:
                yield SecretFinding("own pattern", start, end)


def _lower_in_place(text: str) -> str:
    """Lower the text without moving any character: "İ".lower() is two characters long."""
    low = text.lower()
    return low if len(low) == len(text) else text.translate(_ASCII_LOWER)


def are_clean(texts: Iterable[str]) -> bool:
    """Whether no text contains a secret. Short texts are joined: that saves a third."""
    return all(which_are_clean(list(texts)))


def which_are_clean(texts: Sequence[str]) -> list[bool]:
    """Return for each text whether it is clean. All short ones are searched at once, and
    then alone where that finds something: one that ends in `password:` takes the next for it."""
    findings = find(BETWEEN.join(text for text in texts if len(text) < LONG_CHARS))
    clean, at, next_ = [], 0, 0
    for text in texts:
        if len(text) >= LONG_CHARS:
            clean.append(not find(text))
            continue
        end = at + len(text)
        while next_ < len(findings) and findings[next_].end <= at:
            next_ += 1
        is_suspect = next_ < len(findings) and findings[next_].start < end
        clean.append(not is_suspect or not find(text))
        at = end + len(BETWEEN)
    return clean


def redact(text: str) -> str:
    """Replace each secret by a placeholder, wherever it stands; the same object if none."""
    for _ in range(PASSES):
        findings = find(text)
        if not findings:
            break
        values = {
            text[finding.start : finding.end]: finding.placeholder
            for finding in findings[:MOST_REPEATED]
        }
        text = replace_findings(text, findings)
        for value in sorted(values, key=len, reverse=True):  # one may contain another
            if value in text and _is_known_again(value):
                text = text.replace(value, values[value])
    return text


def _is_known_again(value: str) -> bool:
    """Whether a value is a secret also where no name stands beside it."""
    return len(value) >= SHORTEST_REPEATED and (looks_random(value) or like_a_password(value))


def replace_findings(text: str, findings: list[SecretFinding]) -> str:
    """Replace each finding with a placeholder."""
    parts: list[str] = []
    at = 0
    for finding in findings:
        parts += text[at : finding.start], finding.placeholder
        at = finding.end
    return "".join([*parts, text[at:]])


def redact_named_values(value: Any, *, is_named: bool = False) -> Any:
    """Replace every value under a key such as `password` with a placeholder."""
    if isinstance(value, dict):
        return {
            key: redact_named_values(inner, is_named=is_named or is_telling(key))
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [redact_named_values(inner, is_named=is_named) for inner in value]
    return _PLACEHOLDER if is_named and _is_secret(value) else value


def redact_each(value: Any) -> Any:
    """Redact every text in the value, including its keys. Short texts repeat in long answers."""
    if isinstance(value, str):
        return _redact_short(value) if len(value) <= SHORT_CHARS else redact(value)
    if isinstance(value, dict):
        return {redact_each(key): redact_each(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_each(inner) for inner in value]
    return value


@lru_cache(1 << 12)
def _redact_short(text: str) -> str:
    return redact(text)


def redact_answer(question: str, answer: str) -> str:
    """Redact the answer if its question asks for a secret, as in "What is the admin password?"."""
    for before, after in ((f'"{question}"="', '"'), (f"{question}\n", "")):
        start, end = len(before), len(before) + len(answer)
        within = [
            SecretFinding(one.kind, one.start - start, min(one.end, end) - start)
            for one in find(before + answer + after)
            if start <= one.start < end
        ]
        if within:
            return replace_findings(answer, within)
    return answer


def _is_secret(value: Any) -> bool:
    if isinstance(value, str):
        return is_phrase(value, False) if " " in value else is_password(value, True)
    return isinstance(value, int | float) and abs(value) >= _LEAST_SECRET_NUMBER
