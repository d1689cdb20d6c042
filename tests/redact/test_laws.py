"""What holds for any text at all: redacting twice is once, plain text stays, time is linear."""

import string
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.redact.find import are_clean, find, redact, which_are_clean
from tests.redact.samples import SECRETS

pytestmark = pytest.mark.requirement("X4")
PIECES = r"""
" ' ` \ : = @ / - _ . , ; & | < > ( ) { } [ ] $ % \n \" \u0041
password secret token api_key pwd pass: --password= -p -u Bearer Authorization: Basic Cookie:
machine login mysql curl :// eyJ AKIA gh p_ sk- value is xox b- AI za [redacted é İ 秘
-----BEGIN~RSA~PRIVATE~KEY----- -----END~RSA~PRIVATE~KEY----- [redacted:~token]
a1B2c3D4e5F6g7H8 hunter2 QWxhZGRpbjpvcGVu 0123456789abcdef recovery~codes: mnemonic: 1.
~|~ a,password --- # row
"""
HIDING = [*"\0\x08\x07\u200b", "\x1b[31m", "\x1b]", "\\u001b[0m"]
WORDS = [*" \n\t", *HIDING, "to\u212aen=", *(word.replace("~", " ") for word in PIECES.split())]
jumbles = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
planted = st.tuples(jumbles, st.sampled_from(sorted(SECRETS)), st.integers(), jumbles)


def joined(parts: tuple[str, str, int, str]) -> str:
    before, kind, seed, after = parts
    return before + SECRETS[kind](Random(seed))[0] + after


@given(st.text() | jumbles | planted.map(joined))
def test_twice_is_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.text() | jumbles | planted.map(joined))
def test_findings_are_apart_and_in_order_and_none_is_left(text: str) -> None:
    at = 0
    for one in find(text):
        assert at <= one.start < one.end <= len(text)
        at = one.end
    assert (redact(text) is text) == (at == 0)


@given(st.lists(jumbles | planted.map(joined), max_size=9))
def test_those_with_a_secret_are_told_from_those_without(texts: list[str]) -> None:
    clean = [redact(text) is text for text in texts]
    assert which_are_clean(texts) == clean
    assert are_clean(texts) == all(clean)


def test_texts_that_are_searched_together_share_no_table() -> None:
    assert are_clean(["user,password", "bob,letmein"])
    assert are_clean(["the password:", "Xk9fQ2mLp7RtZ"])


BAIT = r"""
a . \ = " < :// :AA eyJ eyJ. AKIA sk- SG.a sig= xoxb- LS0tLS1CRUdJTi _key fm2_a1B2c3D4e5F6g7H8/
password password= password=" password:~ password=\" password~~~~~~~~~~~~~~~~ token:token:
secret=a1, --password~ api_key=x1( ://a: ://a:b@ ://a@ bearer~ basic~QTpi~ authorization:
cookie:~a=b; mysql~-p curl~-u~a: login~b~ -----BEGIN~PRIVATE~KEY----- -----END~PRIVATE~KEY-----
token~~a1~a1~a1 key:~a1b2c3d4 auth("a", auth=(" recovery~codes:~a1b2- mnemonic:~abc~ $6$ "kty"
passphrase:~ab~cd~ passphrase:~ab~cd~ef~gh~ij~ secret="a~b~ "x-secret:~a~b~ --password, earer~a=
password~for~for~for~ variable~"token"~{~ token":~{~" :5432:a:b: :a@tcp( aa-api- \u0041 \u001b[
"""
HOSTILE = [word.replace("~", " ") for word in BAIT.split()]
HOSTILE += ["\x1b", "\x1b[", "\x1b]a\x1b", "\0a", "\u200b", "token\x1b[m=", "пароль: "]
HOSTILE += ["secret: |\n  a b", 'secret: |\n "a" "b" c\n', f"secret: |\n a{' ' * 999}"]
HOSTILE += ["user, password\n", "a,password\nx\n", 'a,password\n"x,y\n', "password: |\n  a1b2\n"]
HOSTILE += ["".join(f"{'a,' * count}password\n" for count in range(1, 60)), "password:\n", "\\\\\\"]
HOSTILE += [
    "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + "\n",
    "A" * 64 + "\n-----END PRIVATE KEY-----",
]


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_much_bait_takes_linear_time(piece: str) -> None:
    """Ten times the text; quadratic would be 100 times. The slack stands for what a busy machine
    adds."""
    short, long = ((piece * (size // len(piece) + 1))[:size] for size in (6_000, 60_000))
    # three tries: what else runs on the machine can slow one of them
    assert any(_seconds(long) < 24 * _seconds(short) + 1 / 32 for _ in range(3))


def _seconds(text: str) -> float:
    began = time.process_time()
    find(text)
    return time.process_time() - began


def test_importing_it_loads_re_and_typing_and_nothing_else() -> None:
    source = str(Path(holdfast.__file__).parents[1])
    code = (
        "import sys, re, typing, __future__; had = set(sys.modules)\n"
        f"sys.path.insert(0, {source!r})\n"
        "import holdfast.redact.find; print(*set(sys.modules) - had)"
    )
    run = subprocess.run([sys.executable, "-ISc", code], capture_output=True, text=True, check=True)
    assert not {name for name in run.stdout.split() if not name.startswith("holdfast")}


def test_a_token_that_has_no_digit_by_chance_is_found() -> None:
    """One of 500 tokens of 36 letters and digits has none; found by a run of torture."""
    chosen = Random(4)
    bodies = ["".join(chosen.choices(string.ascii_letters, k=36)) for _ in range(400)]
    left = [body for body in bodies if body in redact(f"Use the token ghp_{body} for it")]
    assert len(left) <= 20, left[:3]
