"""Secrets known by their shape: tokens with a known beginning, private keys, recovery
phrases, and passwords on command lines.

Tokens are long runs of a few characters. All runs of a text are found at once, and the first
three characters of each are looked up. A beginning that tells by itself counts anywhere in a run.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from holdfast.redact import kinds
from holdfast.redact.value import (
    SecretFinding,
    compiled,
    is_hex,
    is_made,
    is_masked,
    is_password,
    is_placeholder,
    is_strong,
    looks_random,
    user_and_password,
)

Row = tuple[str, str, str, int]  # beginning, kind, alphabet, least length behind it
Shape = tuple[str, str, str, str]  # a row of kinds.SHAPES

KEY = "private key"
SHORTEST_RUN = 16  # no token is shorter
SHORTEST_SHAPE = 34  # nor is any of kinds.RUN_SHAPES
LONGEST_KEY = 24_000  # an RSA key of 16,384 bits has 12,800 characters
START_CHARS = 3
TELLING_CHARS = 10
_KINDS = bytes(
    ord("a") if code < 128 and (chr(code).isalnum() or chr(code) in "_.~-") else ord(" ")
    for code in range(256)
)
_LONG = b"a" * SHORTEST_RUN
_UNKNOWN = (
    rf"[_-](?P<part>{kinds.TELLING_PARTS}|{kinds.DOUBTFUL_PARTS})[_-](?P<body>[A-Za-z0-9]{{20,}})"
)
_RANDOM = r"(?=[A-Za-z]{0,9}[0-9])[A-Za-z0-9]{10}"  # no name has it, and every token
_ANY_SHAPE = "|".join(f"({pattern})" for _, pattern in kinds.RUN_SHAPES)
_MARK = r"-----(BEGIN|END) (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
_KEY_LINE = r"(?:[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2}|[A-Z][\w-]{2,16}: .*|=\w{4}|)"
_KEY_TAIL = r"(?:[A-Za-z0-9+/]{16,76}={0,2}|(?<![\w+/])[A-Za-z0-9+/]{1,15}={1,2})\s{0,80}\Z"
_KEY_BODY = r"[A-Za-z0-9+/]{20}"
_MARGIN = " \t\r\n>|+#*\"',;:0123456789→-/"
_BETWEEN = r"(?:[\s,\"'\[\]>+#*|/-]|[0-9]{1,6}(?:→|\t)|[0-9]{1,2}[.):]){1,40}"
_PHRASE = (
    r"(?:mnemonic|(?:seed|recovery)[ _-](?:phrase|words?))"
    rf"[\w ]{{0,30}}[\"']?[ \t]?(?:[:=(\[]|is){_BETWEEN}"
    rf"((?:[a-z]{{3,8}}{_BETWEEN}){{11,23}}[a-z]{{3,8}})(?![\w-])"
)
_CODE = r"(?=[a-z-]{0,24}[0-9])[a-z0-9]{4,12}(?:-[a-z0-9]{4,12}){0,3}(?![\w:.-])"
_CODES = (
    r"(?:recovery|backup)[ _-]?codes?\b[^\n:\[]{0,60}"
    rf"[:\[\n](?:{_BETWEEN})?((?:{_CODE}{_BETWEEN}){{1,20}}{_CODE})"
)
COMMAND_CHARS, LONGEST_ARGUMENT = 200, 256
# Also in a list: `["curl", "-u", "bob:…"]`, and behind joined flags: `curl -sSu bob:…`.
_FLAG = (
    r"-(?<=[ \"']-)"
    r"(?P<flag>-(?:proxy-)?user|-auth|pw(?=[ \"'])|[A-Za-z]{0,6}u(?=[ \"'=])|[pPuUawN])"
    r"(?P<gap>(?:[\"'] {0,7},)?[ =]{0,8})(?P<quote>[\"']?) {0,7}(?=[^\s\"'-])"
)
_COMMAND_END = r"\n|&&|[;|]"
_WORD = r"[A-Za-z0-9_-]+"
_WAYS = {
    (program, flag): way
    for programs, flags, way in kinds.COMMANDS
    for program in programs.split()
    for flag in flags.split()
}
_PROGRAMS = frozenset(program for program, _ in _WAYS)


@lru_cache(None)
def _table() -> tuple[dict[str, list[Row]], str]:
    """The tokens by their first characters, and the beginnings that tell within a run."""
    starts: dict[str, list[Row]] = {}
    within = []
    for line in kinds.TOKENS.strip().split("\n"):
        kind, alphabet, least, beginnings = map(str.strip, line.split("|"))
        for one in beginnings.split():
            starts.setdefault(one[:START_CHARS], []).append((one, kind, alphabet, int(least)))
            if alphabet == "upper" or (alphabet != "hex" and not one.isalnum()):
                within += [re.escape(one)] if len(one) > START_CHARS else []
    for rows in starts.values():
        rows.sort(key=lambda row: -len(row[0]))  # `sk-ant-` before `sk-`
    return starts, "|".join(within)


def scan(text: str) -> Iterator[SecretFinding]:
    yield from _scan_runs(text)
    for row in kinds.SHAPES:
        if row[1] in text:
            yield from _scan_shape(text, row)
    if "-----" in text:
        yield from _scan_keys(text)
    yield from _scan_commands(text)


def _runs(text: str) -> Iterator[tuple[int, int]]:
    """Where the long runs are. Sixteen equal bytes are found in a third of a pattern's time."""
    bytes_ = text.encode("latin-1", "replace").translate(_KINDS) + b" "
    at = bytes_.find(_LONG)
    while at >= 0:
        end = bytes_.find(b" ", at)
        yield at, end
        at = bytes_.find(_LONG, end)


def _scan_runs(text: str) -> Iterator[SecretFinding]:
    done = 0
    for start, end in _runs(text):
        run = text[start:end].rstrip(".")
        for at in _places(run):
            token = _token(text, start + at, is_within=at > 0) if start + at >= done else None
            done = token.end if token else done  # also of what is refused: a run is read once
            if token and token.kind:
                yield token
        kind = _kind_of_run(run) if done <= start else ""
        if kind:
            yield SecretFinding(kind, start, start + len(run))


def _places(run: str) -> Iterator[int]:
    """Yield where the beginning of a token may stand in a run."""
    starts, within = _table()
    if run[:START_CHARS] in starts:
        yield 0
    if compiled(_RANDOM).search(run):
        yield from (match.start() for match in compiled(within).finditer(run, 1))


def _token(text: str, start: int, *, is_within: bool) -> SecretFinding | None:
    """Return the token that begins here, without a kind if no machine made it."""
    for beginning, kind, alphabet, least in _table()[0].get(text[start : start + START_CHARS], ()):
        if text.startswith(beginning, start):
            pattern = f"{kinds.ALPHABETS[alphabet]}{{{least},}}+"
            body = compiled(pattern).match(text, start + len(beginning))
            if body:
                kind = kind if _is_body(beginning, body[0], alphabet, is_within=is_within) else ""
                return SecretFinding(kind, start, body.start() + len(body[0].rstrip(".:")))
    return None


def _is_body(beginning: str, body: str, alphabet: str, *, is_within: bool) -> bool:
    if is_within and is_hex(body.partition(".")[0]):
        return False
    if alphabet in ("hex", "upper"):
        return not is_masked(body)
    if len(beginning) >= TELLING_CHARS:  # no name begins so
        return not is_masked(body) and sum(map(str.isdigit, body)) >= 3
    return is_made(body)


def _kind_of_run(run: str) -> str:
    if len(run) >= SHORTEST_SHAPE:
        match = compiled(_ANY_SHAPE).fullmatch(run)
        if match and match.lastindex and not is_masked(run):
            return kinds.RUN_SHAPES[match.lastindex - 1][0]
    unknown = compiled(_UNKNOWN).search(run)
    if unknown is None or run.startswith(kinds.PUBLIC_STARTS) or not is_made(unknown["body"]):
        return ""
    is_sure = unknown["part"] in kinds.TELLING_PARTS.split("|")
    return "token" if is_sure or not is_hex(unknown["body"]) else ""


JUDGES: dict[str, Callable[[str], bool]] = {
    "": lambda value: not is_masked(value),
    "set": lambda value: not is_placeholder(value) and not value.isdigit(),
    "random": lambda value: not is_placeholder(value) and looks_random(value),
    "strong": is_strong,
    "password": lambda value: is_password(value, literal=True),
    "basic": user_and_password,
}


def _scan_shape(text: str, row: Shape) -> Iterator[SecretFinding]:
    kind, _, pattern, judge = row
    for match in compiled(pattern).finditer(text):
        if match[1] and JUDGES[judge](match[1]):
            yield SecretFinding(kind, *match.span(1))


def _scan_keys(text: str) -> Iterator[SecretFinding]:
    """Find private keys in blocks, also where the head or the foot was cut off."""
    begin, done = -1, 0
    for mark in compiled(_MARK).finditer(text):
        if mark[1] == "BEGIN":
            if begin >= 0:
                yield from _key(text, begin, _end_of_key(text, begin, mark.start()))
            begin = mark.start()
            continue
        if begin < 0 or mark.start() - begin > LONGEST_KEY:
            begin = _start_of_key(text, done, mark.start())
        yield from _key(text, begin, mark.end())
        begin, done = -1, mark.end()
    if begin >= 0:
        yield from _key(text, begin, _end_of_key(text, begin, len(text)))


def _key(text: str, start: int, end: int) -> Iterator[SecretFinding]:
    if compiled(_KEY_BODY).search(text, start, end):  # prose names such marks too
        yield SecretFinding(KEY, start, end)


def _end_of_key(text: str, begin: int, stop: int) -> int:
    """Return where the lines of a key end behind its head."""
    end = at = text.index("-----", begin + 5) + 5
    for line in text[at : min(stop, at + LONGEST_KEY)].splitlines(keepends=True):
        if not compiled(_KEY_LINE).fullmatch(line.strip(_MARGIN if len(line) > 20 else " \t\r\n")):
            break
        at += len(line)
        end = at - (len(line) - len(line.rstrip("\r\n"))) if line.strip() else end
    return end


def _start_of_key(text: str, floor: int, foot: int) -> int:
    """Return where the lines of a key begin before its foot."""
    line_start = max(floor, text.rfind("\n", floor, foot) + 1)
    foot = foot if text[line_start:foot].strip(_MARGIN) else line_start
    start = foot
    for line in reversed(text[max(floor, foot - LONGEST_KEY) : foot].splitlines(keepends=True)):
        tail = compiled(_KEY_TAIL).search(line)
        if tail is None:
            break
        start -= len(line)
        if line[: tail.start()].strip(_MARGIN):
            return start + tail.start()
    return start


def scan_lists(low: str) -> Iterator[SecretFinding]:
    """Find recovery phrases of wallets and lists of recovery codes, below a word that says so."""
    if "mnemonic" in low or "seed phrase" in low or "recovery" in low:
        for match in compiled(_PHRASE).finditer(low):
            words = compiled("[a-z]{3,8}").findall(match[1])
            if sum(word in kinds.PROSE_WORDS for word in words) <= len(words) // 4:
                yield SecretFinding("recovery phrase", *match.span(1))
    if "recovery" in low or "backup" in low:
        for match in compiled(_CODES).finditer(low):
            codes = compiled("[a-z0-9]{4,}").findall(match[1])
            if sum(any(map(str.isdigit, code)) for code in codes) > len(codes) // 2:
                yield SecretFinding("recovery codes", *match.span(1))


def _scan_commands(text: str) -> Iterator[SecretFinding]:
    """Passwords behind flags that do not say so: `mysql -p…`, `curl -u user:…`."""
    for match in compiled(_FLAG).finditer(text):
        before = text[max(0, match.start() - COMMAND_CHARS) : match.start()]
        words = compiled(_WORD).findall(compiled(_COMMAND_END).split(before)[-1])
        program = next((word for word in words if word in _PROGRAMS), "")
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
    """Where an argument ends: at its quote, else at a blank. `bob:'…'` has quotes inside."""
    last = min(len(text), start + LONGEST_ARGUMENT)
    if quote:
        match = compiled(rf"[{quote}\n]").search(text, start, last)
        return match.start() if match else last
    match = compiled(r"[\s\"'`;|)]").search(text, start, last)
    if match and match[0] in ("'", '"') and text[match.start() - 1] in ":,%":
        return _end_of_argument(text, match.end(), match[0])
    return match.start() if match else last
