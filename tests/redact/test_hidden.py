"""Secrets that colours, control characters and escapes hide from rules but not from readers."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redact import find, redact
from holdfast.redact.hidden import visible
from holdfast.text import fence
from tests.checkpoint.sessions import Session
from tests.record.test_secrets import kept
from tests.redact.samples import SECRETS

pytestmark = pytest.mark.requirement("X4")
WORD = "Tulip9" + "Kettle"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
COLOURED = {
    "grep": f"DB_\x1b[01;31m\x1b[KPASSWORD\x1b[m\x1b[K={WORD}",
    "jq": f'\x1b[34;1m"db_password"\x1b[0m: \x1b[32m"{WORD}"\x1b[0m',
    "env": f"\x1b[32mDB_PASSWORD\x1b[0m=\x1b[31m{WORD}\x1b[0m",
    "bat": f"\x1b[38;2;248;248;242mpassword\x1b[0m\x1b[38;2;249;38;114m:\x1b[0m \x1b[38;5;1m{WORD}",
    "url": f"https://bob:\x1b[1m{WORD}\x1b[0m@git.example.com/x.git",
    "tput": f"pass\x1b(B\x1b[mword={WORD}",
    "title": f"pass\x1b]0;home\x07word={WORD}",
    "title cut off": f"pass\x1b]0;home\x1b[mword={WORD}",
    "link": f"\x1b]8;;https://bob:{WORD}@x.io\x1b\\here\x1b]8;;\x1b\\",
    "behind a title without end": f"\x1b]0;pass\x01word={WORD}",
    "one byte": f"pass\x9b31mword={WORD}",
    "control": f"pass\x01word={WORD[:4]}\x02{WORD[4:]}",
    "struck over": "".join(f"{mark}\x08{mark}" for mark in f"password={WORD}"),
    "utf-16": "".join(f"{mark}\0" for mark in f"password={WORD}"),
    "variation": f"pass\ufe0fword={WORD}",
}
SPELLED = ["\\u001b", "\\\\u001B", "\\x1b", "\\033", "\\e", "&#x1b;", "&#27;", "^["]


@pytest.mark.parametrize("kind", COLOURED)
def test_a_coloured_password_goes(kind: str) -> None:
    shown = redact(COLOURED[kind])
    assert WORD[-6:] not in visible(shown) and WORD[:5] not in visible(shown), shown


@pytest.mark.parametrize("escape", SPELLED)
def test_a_password_goes_however_the_escape_is_spelled(escape: str) -> None:
    text = f"{escape}[32mDB_{escape}[1mPASS{escape}[0mWORD{escape}[0m={escape}[31m{WORD}{escape}[0m"
    assert WORD not in redact(text)


@pytest.mark.parametrize("at", [2, 4, 9, 20])
def test_a_token_goes_whole_that_grep_marked_in_the_middle(at: int) -> None:
    marked = f"{TOKEN[:at]}\x1b[01;31m\x1b[K{TOKEN[at : at + 9]}\x1b[m\x1b[K{TOKEN[at + 9 :]}"
    assert redact(f"tok: {marked} ok") == "tok: [redacted: github token] ok"


def test_what_colours_the_text_around_a_secret_stays() -> None:
    assert redact(f"\x1b[32mDB_PASS\x1b[0mWORD=\x1b[31m{WORD}\x1b[0m ok") == (
        "\x1b[32mDB_PASS\x1b[0mWORD=\x1b[31m[redacted: password]\x1b[0m ok"
    )


@pytest.mark.parametrize("name", ["passw\\u006frd", "pass\\u200bword", "\\u0070assword"])
def test_a_key_with_escaped_letters_is_found(name: str) -> None:
    text = f'{{"{name}":"{WORD}"}}'
    assert json.loads(redact(text)) == {json.loads(f'"{name}"'): "[redacted: password]"}


def test_an_escaped_letter_at_the_end_of_a_secret_goes_with_it() -> None:
    assert redact(f'{{"passw\\u006frd":"{WORD}\\u0041"}}') == (
        '{"passw\\u006frd":"[redacted: password]"}'
    )


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[32mPASS\x1b[0m tests/test_tide42.py",
        "\x1b[1mtoken\x1b[0m expired",
        "PATH=/usr/bin\0HOME=/home/bob\0LANG=C\0",
        "commit \x1b[33m9e107d9d372bb6826bd81d3542a419d6\x1b[m",
        'print("\\033[31mpassword\\033[0m is required")',
    ],
)
def test_coloured_text_without_a_secret_stays(text: str) -> None:
    assert redact(text) == text


def test_a_variable_behind_a_nul_stays() -> None:
    assert redact(f"DB_PASSWORD={WORD}\0HOME=/root\0") == (
        "DB_PASSWORD=[redacted: password]\0HOME=/root\0"
    )


CODES = ["\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b[38;5;208m", "\x01", "\u200b", "\x1b]0;t\x07"]


@given(st.sampled_from(sorted(SECRETS)), st.integers(), st.data())
def test_no_code_within_a_text_keeps_a_secret_that_goes_without_it(
    kind: str, seed: int, data: st.DataObject
) -> None:
    plain, secret = SECRETS[kind](Random(seed))
    places = data.draw(st.lists(st.integers(0, len(plain)), max_size=6).map(sorted))
    parts = [plain[a:b] for a, b in zip([0, *places], [*places, len(plain)], strict=True)]
    codes = data.draw(st.lists(st.sampled_from(CODES), min_size=len(parts), max_size=len(parts)))
    text = "".join(code + part for code, part in zip(codes, parts, strict=True))
    assert secret not in visible(redact(text))
    assert secret not in fence.clean(redact(text))


def test_plain_text_is_seen_as_it_is() -> None:
    assert visible(f"password={WORD}\n") == f"password={WORD}\n"
    [one] = find(f"password={WORD}")
    assert (one.start, one.end) == (9, 9 + len(WORD))


@pytest.mark.parametrize("kind", COLOURED)
def test_no_coloured_secret_reaches_the_record(kind: str, tmp_path: Path) -> None:
    session = Session().user(f"deploy failed:\n{COLOURED[kind]}\nnow fix it").says("I fix it.")
    assert WORD not in kept(session, tmp_path)


def test_a_secret_that_was_coloured_once_is_known_when_quoted_bare(tmp_path: Path) -> None:
    value = "Tulip9K\x1b[1mettle47x"
    session = Session().user(f"password={value}").says(f"I use {visible(value)} there.")
    assert visible(value) not in kept(session, tmp_path)
