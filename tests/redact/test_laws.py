"""What holds for any text at all: redacting twice is once, plain text stays, time is linear."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.redact import are_clean, assignment, find, redact, which_are_clean
from holdfast.redact.find import BETWEEN
from holdfast.redact.rule import SearchPage, SecretFinding
from holdfast.wire import log
from tests.redact.samples import SECRETS

pytestmark = pytest.mark.requirement("X4")
PIECES = r"""
" ' ` \ : = @ / - _ . , ; & | < > ( ) { } [ ] $ % \n
password secret token api_key pwd pass: --password= -p -u Bearer Authorization: Basic Cookie:
machine login mysql curl :// eyJ AKIA gh p_ sk- value is xox b- AI za [redacted é İ 秘
-----BEGIN~RSA~PRIVATE~KEY----- -----END~RSA~PRIVATE~KEY----- [redacted:~token]
a1B2c3D4e5F6g7H8 hunter2 QWxhZGRpbjpvcGVu 0123456789abcdef
values into copy from~stdin std insert~into~t~(a,password) copy~t~(a,password)~from~stdin;
<table> <tr> <td> </td> <th>password</th> ~|~ a,password --- # /* */ row
"""
HIDING = [*"\0\x08\x07\u200b", "\x1b[31m", "\x1b]", "\\u001b[0m"]
WORDS = [*" \n\t", *HIDING, "to\u212aen=", *(word.replace("~", " ") for word in PIECES.split())]
jumbles = st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
planted = st.tuples(jumbles, st.sampled_from(sorted(SECRETS)), st.integers(), jumbles)


def joined(parts: tuple[str, str, int, str]) -> str:
    before, kind, seed, after = parts
    return before + SECRETS[kind](Random(seed))[0] + after


@given(st.text() | jumbles)
def test_twice_is_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(planted)
def test_twice_is_once_around_secrets(parts: tuple[str, str, int, str]) -> None:
    once = redact(joined(parts))
    assert redact(once) == once


@given(st.lists(jumbles | planted.map(joined), max_size=5))
def test_what_is_clean_together_is_clean_apart(texts: list[str]) -> None:
    apart = [redact(text) for text in texts]
    assert apart == texts or not are_clean(texts)


@given(st.lists(jumbles | planted.map(joined), max_size=9))
def test_those_with_a_secret_are_told_from_those_without(texts: list[str]) -> None:
    assert which_are_clean(texts) == [redact(text) == text for text in texts]


def test_texts_that_all_have_a_secret_are_searched_twice_at_most() -> None:
    """Halves of halves were searched, so that each character was searched seven times."""
    texts = [f"line {number}: password=Tul1p{number}Kett" for number in range(64)]
    chars = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal chars
        if event == "call" and frame.f_code is SearchPage.__init__.__code__:
            chars += len(frame.f_locals["text"])

    sys.setprofile(count)
    try:
        clean = which_are_clean(texts)
    finally:
        sys.setprofile(None)
    assert not any(clean)
    assert chars <= 2 * sum(len(text) + len(BETWEEN) for text in texts)


@given(st.text(alphabet="abcdefghij lmnoqruvxyz\n.,ABCDEFGHIJ0123456789äöü"))
def test_text_without_a_trigger_is_untouched(text: str) -> None:
    assert redact(text) == text


@given(st.text() | jumbles)
def test_findings_are_apart_and_in_order(text: str) -> None:
    at = 0
    for one in find(text):
        assert at <= one.start < one.end <= len(text)
        at = one.end


BAIT = r"""
a - . \ = " < :// :AA eyJ -eyJ eyJ. \neyJ AKIA sk- SG. SG.a sig= xoxb- LS0tLS1CRUdJTi _key
password password= password=" password='" password:~ password=\" pass:~' password~~~~~~~~~~~~~~~~
token:token: secret=a1, --password~ api_key=x1( ://a: ://a:b@ ://a@ bearer~ basic~QTpi~
authorization: cookie:~a=b; mysql~-p mysql~ curl~-u~a: machine~a~login~b~ machine~
-----BEGIN~RSA~PRIVATE~KEY----- -----END~RSA~PRIVATE~KEY----- PRIVATE~KEY-----~
token~~a1~a1~a1 key:~a1b2c3d4 secret~x9,~ echo~'a1b2~|~ <<<~' mysql~-p\"a auth("a", auth=("
recovery~codes\n1234-abcd passphrase~abc~abc~ seed:~abcd~ $6$ {ssha} login~a/ -p~a1 as~password~
password~for~for~for~ is~to~password~ variable~"token"~{~ token":~{~" password~values~('
name:~PASSWORD~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ Private-Lines:~1~ password='password="
"""
LINE = "A" * 64 + "\n"
HOSTILE = [word.replace("~", " ") for word in BAIT.split()]
HOSTILE += ["\x1b", "\x1b[", "\x1b]", "\x1b]a\x1b", "\\u001b[", "\\u006f", "a\x08", "\0a", "\x01"]
HOSTILE += ["user, password\n", "token\x1b[m=", "eyJ\x1b[0m", "\\\\\\u001b"]
COUNTED = ["".join(f"{'a,' * count}password\n" for count in range(1, most)) for most in (6, 60)]
HOSTILE += [*COUNTED, "a,password\nx\n", "a,password\nb,c\n" + "x\n" * 9, "a,password\r"]
HOSTILE += ["user,password\npassword,user\n", 'a,password\n"x,y\n', "USER  PASSWORD\nx\n"]
HOSTILE += ["copy a (password) from stdin\n", 'copy a (b,password) from stdin csv\n1,"\n']
HOSTILE += ["<td>password", "<tr><th>a<th>password<tr><td>b<td>", "<td", "<td> &nbsp;\\n "]
HOSTILE += [f"-----BEGIN PRIVATE KEY-----\n{LINE}", f"{LINE}-----END PRIVATE KEY-----"]


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_much_bait_takes_linear_time(piece: str) -> None:
    """Eight times the text; quadratic would be 64 times. A whole megabyte proved little more and
    took many times as long. The slack stands for what a busy machine adds."""
    short, long = ((piece * (size // len(piece) + 1))[:size] for size in (1 << 14, 1 << 17))
    assert _seconds(long) < 8 * 3 * _seconds(short) + 1 / 32


@pytest.mark.parametrize("piece", ["eyJ", "A", "AKIA", "pat"])
def test_a_word_made_of_bait_costs_little_more_than_any_other(piece: str) -> None:
    """Each place of the bait was tried by itself, which took twenty times as long."""
    word = (piece * (1 << 18))[: 1 << 18]
    assert _seconds(f"{word}\nend") < 8 * _seconds(f"{'Qx7' * (len(word) // 3)}\nend") + 1 / 32


def test_a_part_that_repeats_itself_is_looked_for_at_line_ends_only() -> None:
    """It was found at each of its characters, which took 2 s for a prompt of 100 KB."""
    calls = 0

    def count(_: FrameType, event: str, called: object) -> None:
        nonlocal calls
        calls += event == "c_call" and getattr(called, "__name__", "") == "find"

    text = "eyJ" * 1_000 + "\n" + "eyJ" * 20_000 + "\nend"
    sys.setprofile(count)
    try:
        find(text)
    finally:
        sys.setprofile(None)
    assert calls < 1_000


def test_the_rows_below_many_heads_of_a_column_are_read_once() -> None:
    """Each `password` was read as the head of 200 rows: 8 KB took 0.7 s, and 30 messages of it
    kept a hook from saving a checkpoint."""
    lines = 1_000
    assert _splits("user, password\n" * lines) < 3 * lines


def test_a_column_below_another_of_its_shape_is_still_found() -> None:
    rows = "".join(f"u{number}, plain\n" for number in range(300))
    value = "q8Zt4Lm2Xw9R"
    assert value not in redact(f"user, password\nuser, password\nbob, {value}\n")
    assert value not in redact(f"user, password\n{rows}user, password\nbob, {value}\n")


@given(st.text(st.characters(codec=None), max_size=200))
def test_each_character_has_one_kind(text: str) -> None:
    """Names look for their values by kinds: a letter or digit that has another kind is missed, and
    so is a value where a sign counts as the end of a word."""
    kinds = SearchPage(text).kinds.decode("ascii")
    assert len(kinds) == len(text)
    for char, kind in zip(text, kinds, strict=True):
        is_ascii_word = char.isascii() and char.isalnum()
        if is_ascii_word:
            assert kind == ("0" if char.isdigit() else "a" if char.islower() else "A")
        else:
            assert kind in " ." and (kind == "." or char.isspace() or char in "\"'`,;|()<>")


def test_a_text_that_only_seems_to_hide_something_is_searched_once() -> None:
    """An id may end in `1b]`, like an escape sequence: such logs took twice as long."""
    log = "INFO [req-4f6a1b] token refresh for user 12\n"
    assert _calls("scan_keys", log * 3) == _calls("scan_keys", log.replace("1b]", "2c]") * 3) == 1


def test_a_name_in_code_is_not_followed_through_the_lines_below_it() -> None:
    """Each name tried to find a value at each of the 240 characters behind it, which was most of
    the time that code took."""
    code = "def check(token, password):\n    return token and get_user(password)\n" * 40
    assert _calls("_behind", code) == 0


def _calls(name: str, text: str) -> int:
    """How often a function of this name is called to search the text."""
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        is_start = (
            event == "call" and frame.f_lasti <= 4
        )  # a generator is called once, then resumed
        calls += is_start and frame.f_code.co_name == name

    sys.setprofile(count)
    try:
        find(text)
    finally:
        sys.setprofile(None)
    return calls


def _splits(text: str) -> int:
    calls = 0

    def count(_: FrameType, event: str, called: object) -> None:
        nonlocal calls
        calls += event == "c_call" and getattr(called, "__name__", "") == "split"

    sys.setprofile(count)
    try:
        find(text)
    finally:
        sys.setprofile(None)
    return calls


def _seconds(text: str) -> float:
    began = time.process_time()
    find(text)
    return time.process_time() - began


def test_importing_it_loads_re_and_nothing_else() -> None:
    source = str(Path(holdfast.__file__).parents[1])
    code = (
        f"import sys, re, __future__; had = set(sys.modules); sys.path.insert(0, {source!r})\n"
        "import holdfast.redact; print(*set(sys.modules) - had)"
    )
    run = subprocess.run([sys.executable, "-ISc", code], capture_output=True, text=True, check=True)
    assert not {name for name in run.stdout.split() if not name.startswith("holdfast")}


@pytest.mark.parametrize("before", ["", "token " * 20, "token expired, token is ", "token value "])
def test_a_name_among_others_still_tells(before: str) -> None:
    value = "q8Zt4Lm2Xw9Rv5Kb7Nc3"
    assert value not in redact(f"{before}token={value} token expired")
    assert value not in redact(f"{before}token {value}")
    assert value not in redact(f"curl --token {value} token")


def test_a_rule_that_raises_an_error_leaves_the_others_at_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Everything that is saved and shown is searched: without the others nothing would be."""

    def fails(_: object) -> list[SecretFinding]:
        raise ValueError("zip() argument 2 is longer than argument 1")

    monkeypatch.delenv("HOLDFAST_RAISE", raising=False)
    module = sys.modules["holdfast.redact.find"]
    monkeypatch.setattr(module, "_RULES_SUREST_FIRST", (fails, assignment.scan))
    word = "Xk9fQ2m" + "Lp7RtZ"
    assert redact(f"Log in with password={word}, please.") == (
        "Log in with password=[redacted: password], please."
    )
    assert "ValueError" in Path(log.path()).read_text()
