"""Find tokens that a terminal, a mail or an editor has broken over several lines.

The first part alone may be too short for its kind, and the rest has no known beginning. So the part
before a line end is read together with the start of the next lines; and a token that was found
continues in the next line if that looks machine-made.
"""

from __future__ import annotations

import re
from itertools import accumulate, islice

from holdfast.redact import shapes, token_prefixes
from holdfast.redact.rule import (
    LONG_CHARS,
    SearchPage,
    SecretFinding,
    can_begin,
    compiled,
    positions,
)
from holdfast.redact.value import looks_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_LINES = 40  # of a signed token in lines of 64 characters
MOST_JOINED = 8  # lines, until it is known to be a token
MOST_TRIED = 200  # first parts in one text: each costs 0.1 ms, and bait may hold thousands
MOST_SAME = 8  # places of the same first part
SHORTEST_PART, SHORTEST_PIECE = 5, 4
LONGEST_PART = 8_000  # no longer one is the start of a token; 1 MB of `eyJ` was searched twice
WRAPPED_CHARS = 40  # nothing wraps a shorter line
LONG_PIECE = 16  # no name is as random, whatever stands before it
TERMINAL_COLUMNS = 80
_CUT = r"[^\s,;:(){}\[\]]\n[^\s,;:(){}\[\]]"
_CUT_LINES = rf"(?:[^\n]{{{TERMINAL_COLUMNS}}}\n){{1,30}}[^\n]{{1,{TERMINAL_COLUMNS}}}"
_ENDS = ("\n", "\r", "\\")
# The line end, also a continued or an escaped one, and what quotes, frames and comments put before
# the next line.
_BREAK = r"(?:\\?\r?\n|(?:\\r)?\\n)[ \t>|\u2502#*+]{0,16}+"
_PIECE = rf"{_BREAK}([A-Za-z0-9_.-]{{{SHORTEST_PIECE},}}+={{0,2}})(?=[\s\"'`,;)\]}}\\\u2502|]|\Z)"
_OTHERS = ("AKIA", "ASIA", "ABIA", "ACCA", "eyJ", "SG.", "ya29.")
_FIRST: dict[str, tuple[str, ...]] = {}  # beginnings of tokens by their first two letters


def scan(page: SearchPage) -> Iterator[SecretFinding]:
    """Find tokens whose first part ends a line."""
    if "\n" not in page.text and "\\n" not in page.text:
        return
    known, tried = _FIRST or _read(), 0
    for word in _split_escaped(page.apart):
        part = word.rpartition("=")[2] if "=" in word else word
        if not SHORTEST_PART <= len(part) <= LONGEST_PART:
            continue
        if not part.startswith(known.get(part[:2], ())):
            continue
        tried += 1
        if tried > MOST_TRIED:
            return
        yield from _search_broken(page.text, part)


def _split_escaped(words: Iterable[str]) -> Iterator[str]:
    """Yield words, also those between escaped line ends, which are glued to their neighbours."""
    for word in words:
        if "\\" in word:
            first, *others = word.split("\\")
            yield from (first, *(one[1:] for one in others))
        else:
            yield word


def _read() -> dict[str, tuple[str, ...]]:
    for one in (*token_prefixes.beginnings(), *_OTHERS):
        _FIRST[one[:2]] = (*_FIRST.get(one[:2], ()), one)
    return _FIRST


def _search_broken(text: str, part: str) -> Iterator[SecretFinding]:
    # The end of the line is searched for too: a part of 8,000 characters that repeats itself is
    # found at each of them.
    ends = [at for end in _ENDS for at in islice(positions(text, part + end), MOST_SAME)]
    for at in sorted(ends)[:MOST_SAME] if ends and not _kind(part) else ():
        kind, end = _read_on(text, part, at + len(part)) if can_begin(text, at) else ("", 0)
        if kind:
            yield SecretFinding(kind, at, end)


def _read_on(text: str, whole: str, end: int) -> tuple[str, int]:
    """Add lines until it is a token; return its kind and its end."""
    for _ in range(MOST_JOINED):
        piece, end = _next_piece(text, end)
        whole += piece
        if not piece or (kind := _kind(whole)):
            return kind if piece else "", end
    return "", end


def _kind(whole: str) -> str:
    """Return the kind of token that this is, from start to end; empty if it is none."""
    page = SearchPage(f"{whole} ")
    found = (one for scan in (token_prefixes.scan_tokens, shapes.scan) for one in scan(page))
    return next((one.kind for one in found if one.start == 0), "")


def cut_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines that fill a terminal's width and continue in the next line at its first column,
    joined, each with its place. Indented code does not continue so."""
    lengths = list(map(len, text.split("\n")))
    full = [line for line, length in enumerate(lengths) if length == TERMINAL_COLUMNS]
    before = list(accumulate(lengths, initial=0)) if full else []
    done = 0
    for at in (before[line] + line for line in full):
        if at >= done and _may_be_cut(text, at + TERMINAL_COLUMNS):
            rest = compiled(_CUT_LINES).match(text, at)
            done = rest.end() if rest else at
            yield at, text[at:done].replace("\n", "")


def _may_be_cut(text: str, at: int) -> bool:
    """Whether the word that the line end at this place would part can be a secret: long, with a
    digit, and its second part is no word of its own."""
    if not compiled(_CUT).match(text, at - 1):
        return False
    left = text[at - TERMINAL_COLUMNS : at].rpartition(" ")[2]
    right = text[at + 1 : at + TERMINAL_COLUMNS].partition("\n")[0].partition(" ")[0]
    has_digit = any(map(str.isdigit, left + right))
    return has_digit and len(left + right) >= LONG_CHARS and not _is_word(right)


def extend_over_lines(text: str, finding: SecretFinding) -> SecretFinding:
    """Extend the finding over the lines in which its token continues."""
    end = finding.end
    if not text.startswith(_ENDS, end):
        return finding
    is_wrapped = end - (text.rfind("\n", 0, end) + 1) >= WRAPPED_CHARS
    for _ in range(MOST_LINES):
        piece, behind = _next_piece(text, end)
        if not looks_random(piece) or not (is_wrapped or len(piece) >= LONG_PIECE):
            break
        end = behind
    return SecretFinding(finding.kind, finding.start, end)


def _next_piece(text: str, end: int) -> tuple[str, int]:
    """Return the start of the next line and its end; empty if it may be a word."""
    match = compiled(_PIECE).match(text, end)
    if match is None or _is_word(match[1]):
        return "", end
    return match[1], match.end()


def _is_word(piece: str) -> bool:
    """Whether it is a word, a number or a date. The parts of a signed token are long, those of a
    version short."""
    if piece.isalpha():
        return piece.islower() or piece.istitle() or piece.isupper()
    return not re.search("[A-Za-z]", piece) or ("." in piece and len(piece) < LONG_PIECE)
