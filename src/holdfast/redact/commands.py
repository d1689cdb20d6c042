"""Passwords on command lines whose flags do not say so: `mysql -p…`, `curl -u user:…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.redact.finding import SecretFinding, compiled
from holdfast.redact.table import COMMANDS
from holdfast.redact.value import is_password, is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND_CHARS, LONGEST_ARGUMENT = 200, 256
# Also in a list: `["curl", "-u", "bob:…"]`, and behind joined flags: `curl -sSu bob:…`.
_FLAG = (
    r"-(?<=[ \"']-)"
    r"(?P<flag>-(?:proxy-)?user|-auth|pw(?=[ \"'])|[A-Za-z]{0,6}u(?=[ \"'=])|[pPuUawN])"
    r"(?P<gap>(?:[\"'] {0,7},)?[ =]{0,8})(?P<quote>[\"']?) {0,7}(?=[^\s\"'-])"
)
_COMMAND_END = r"\n|&&|[;|]"
_WORD = r"[A-Za-z0-9_-]+"
_WAYS: dict[tuple[str, str], str] = {}
_PROGRAMS: set[str] = set()


def _read_table() -> set[str]:
    for programs, flags, way in COMMANDS:
        _PROGRAMS.update(programs.split())
        for program in programs.split():
            _WAYS.update(((program, flag), way) for flag in flags.split())
    return _PROGRAMS


def scan(text: str) -> Iterator[SecretFinding]:
    for match in compiled(_FLAG).finditer(text):
        before = text[max(0, match.start() - COMMAND_CHARS) : match.start()]
        words = compiled(_WORD).findall(compiled(_COMMAND_END).split(before)[-1])
        programs = _PROGRAMS or _read_table()
        program = next((word for word in words if word in programs), "")
        flag = match["flag"] if match["flag"][-1] != "u" else "u"
        way = _WAYS.get((program, f"-{flag}"), "")
        start = match.end()
        end = _end_of_argument(text, start, match["quote"])
        if way in (":", "%", ","):
            user, sign, value = text[start:end].partition(way)
            value = value.lstrip("\"'")
            if user and sign and value and not is_placeholder(value):
                yield SecretFinding("password", end - len(value), end)
        elif (way == "glued" and not match["gap"]) or way == "any" or (way == "login" in words):
            value = text[start:end]
            if value[:1] not in "-/$" and is_password(value, literal=True):
                yield SecretFinding("password", start, end)


def _end_of_argument(text: str, start: int, quote: str) -> int:
    """Return where an argument ends: at its quote, else at a blank. `bob:'…'` has its quotes
    inside."""
    last = min(len(text), start + LONGEST_ARGUMENT)
    if quote:
        match = compiled(rf"[{quote}\n]").search(text, start, last)
        return match.start() if match else last
    match = compiled(r"[\s\"'`;|)]").search(text, start, last)
    if match and match[0] in ("'", '"') and text[match.start() - 1] in ":,%":
        return _end_of_argument(text, match.end(), match[0])
    return match.start() if match else last
