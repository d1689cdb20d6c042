"""Every kind of secret goes, wherever it stands; what only looks like one stays."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redact.find import (
    find,
    redact,
    redact_answer,
    redact_named_values,
    use_patterns,
    visible,
)
from tests.redact.samples import ALNUM, INNOCENT, SECRETS, STAND_INS, UPPER, drawn

pytestmark = pytest.mark.requirement("X4")
SETTINGS: dict[str, Callable[[str], str]] = {
    "alone": str,
    "line": lambda text: f"first line\n{text}\nlast line",
    "crlf": lambda text: f"first\n{text}\nlast".replace("\n", "\r\n"),
    "json": lambda text: json.dumps({"type": "text", "text": f"see\n{text}\nthere"}),
    "json in json": lambda text: json.dumps({"line": json.dumps({"text": f"see\n{text}\n"})}),
    "markdown": lambda text: f"Run:\n\n```sh\n{text}\n```\n\nthen go on.",
    "coloured": lambda text: f"\x1b[32m{text}\x1b[0m",
    "numbered": lambda text: "\n".join(f"{n:6}→{x}" for n, x in enumerate(text.split("\n"), 1)),
    "diff": lambda text: "\n".join(f"+{line}" for line in text.split("\n")),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_goes_wherever_it_stands(kind: str) -> None:
    for place in SETTINGS.values():
        for seed in range(4):
            text, secret = SECRETS[kind](Random(seed))
            placed = place(text)
            assert secret not in redact(placed).replace("→", ""), placed


@pytest.mark.parametrize("kind", INNOCENT)
def test_what_only_looks_random_stays(kind: str) -> None:
    for seed in range(50):
        text = INNOCENT[kind](Random(seed))
        assert find(text) == [], text


@pytest.mark.parametrize("text", STAND_INS)
def test_a_stand_in_stays(text: str) -> None:
    assert redact(text) is text
    assert redact(json.dumps({"text": text})) == json.dumps({"text": text})


def test_what_is_around_a_secret_stays_readable() -> None:
    word = "hunt" + "er2"
    assert redact(f"postgres://bob:{word}@db/app") == "postgres://bob:[redacted: password]@db/app"
    assert redact(f"mysql -u root -p{word} app") == "mysql -u root -p[redacted: password] app"
    assert redact(f'{{"password": "{word}"}}') == '{"password": "[redacted: password]"}'
    assert redact(f"?token={word}x9y8&page=2") == "?token=[redacted: token]&page=2"
    assert redact(f"DB_PASSWORD={word}\0HOME=/root\0").endswith("\0HOME=/root\0")


@pytest.mark.parametrize("kind", ["gh|p_", "AK|IA", "sk|-ant-", "xo|xb-", "eyJ"])
@pytest.mark.parametrize("before", ["%3D", "%253D", "=3D", r"\x3d", "--", "...", "_", "~", "user-"])
def test_a_known_beginning_tells_wherever_it_stands_in_a_run(kind: str, before: str) -> None:
    body = drawn(Random(5), 36, UPPER if kind == "AK|IA" else ALNUM)
    end = f".{body}.{body}" if kind == "eyJ" else ""
    token = f"{kind.replace('|', '')}{body}{end}"
    assert body not in redact(f"see https://x.io/{before}{token} now")


def test_what_an_address_encodes_is_read_as_a_server_reads_it() -> None:
    word = "hunt" + "er2Q9z"
    assert word not in redact(f"http://x.io/cb?next=%2Fapi%3Faccess_token%3D{word}x81%26page%3D1")
    assert word not in redact(f"password%3D{word}&user=bob")
    assert word not in redact(f"postgres%3A%2F%2Fbob%3A{word}%40db")
    basic = base64.b64encode(f"bob:{word}".encode()).decode()
    assert basic not in redact(f"Authorization%3A%20Basic%20{basic}")
    assert word not in redact(f"postgres://bob:%20{word}%22@db")


def test_json_is_still_json_afterwards() -> None:
    for make in SECRETS.values():
        for text in (f"see\n{(made := make(Random(7))[0])}\nthere", made):
            json.loads(redact(json.dumps({"text": text})))


def test_a_value_named_once_goes_wherever_the_text_repeats_it() -> None:
    value = drawn(Random(3), 20)
    assert value not in redact(f"token={value}\nand later just {value} again")
    assert redact('DB_PASSWORD="harbor" and the harbor of Esk').endswith("the harbor of Esk")


TABLES = {
    "csv": ("id,email,password,plan", "{n},u{n}@x.io,{v},pro"),
    "csv, quoted": ('"Title","API key","Notes"', '"Site, {n}","{v}",""'),
    "csv, numbered": ("     1\tid,note,token", "     2\t{n},x y,{v}"),
    "tabs": ("id\temail\tpassword", "{n}\tu{n}@x.io\t{v}"),
    "markdown": ("| user | password |\n|---|---|", "| u{n} | `{v}` |"),
    "psql": (" id | email | secret_key \n----+-------+-----", " {n:2} | u{n}@x.io | {v}"),
    "mysql": ("+----+-----+\n| id | password |\n+----+-----+", "| {n:2} | {v} |"),
    "rich": ("┏━━━━┳━━━━━┓\n┃ id ┃ Password ┃\n┡━━━━╇━━━━━┩", "│ {n:2} │ {v} │"),
}


@pytest.mark.parametrize("form", TABLES)
def test_a_column_of_secrets_goes_in_every_row_of(form: str) -> None:
    """Some of them have no digit: the others of the column tell."""
    values = [drawn(Random(seed), 14) for seed in range(20)] + ["kwTyzHQbLmRpXs", "QzkRtVbnMwPlHk"]
    head, row = TABLES[form]
    text = "\n".join([head, *(row.format(n=n, v=value) for n, value in enumerate(values)), ""])
    for shown in (redact(text), redact(json.dumps({"text": text}))):
        assert [value for value in values if value in shown] == []
    assert "19" in redact(text)


@pytest.mark.parametrize(
    "intro", ["Recovery codes:\n", "// Backup codes (once):\n", "2FA backup codes\n"]
)
def test_recovery_codes_go_and_what_follows_stays(intro: str) -> None:
    codes = ["6828a-a1a67", "5728b-b1a68", "8842 1177"]
    shown = redact(
        f"{intro}" + "\n".join(f"  {n}. {code}" for n, code in enumerate(codes, 1)) + "\n\ndone"
    )
    assert not any(code in shown for code in codes) and shown.endswith("\n\ndone")


def test_a_passphrase_goes_whole() -> None:
    for form in (
        'password: "{}"',
        "BORG_PASSPHRASE='{}'",
        'curl -H "X-Api-Key: {}" http://x',
        "passphrase: {}",
        r"{\"password\": \"{}\"}",
        "mysql -p'{}' x",
    ):
        shown = redact(form.replace("{}", "blue whale 42 sings"))
        assert not any(word in shown for word in ("blue", "whale", "sings")), shown


CODES = ["\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b[38;5;208m", "\x01", "\u200b", "\ufe0f"]


@given(st.sampled_from(sorted(SECRETS)), st.integers(0, 3), st.data())
def test_no_code_within_a_text_keeps_a_secret_that_goes_without_it(
    kind: str, seed: int, data: st.DataObject
) -> None:
    plain, secret = SECRETS[kind](Random(seed))
    places = data.draw(st.lists(st.integers(0, len(plain)), max_size=6).map(sorted))
    parts = [plain[a:b] for a, b in zip([0, *places], [*places, len(plain)], strict=True)]
    text = "".join(data.draw(st.sampled_from(CODES)) + part for part in parts)
    assert secret not in visible(redact(text))


def test_a_key_of_json_makes_its_value_secret() -> None:
    named = {"api_key": ["x1y2z3w4"], "password": 1234567, "jwt_secret": "blue whale 42 sings"}
    given_ = {"a": named, "token_count": 7654321}
    kept = redact_named_values(given_)
    hidden = "[redacted: password]"
    assert kept["a"] == {"api_key": [hidden], "password": hidden, "jwt_secret": hidden}
    assert kept["token_count"] == 7654321


def test_the_answer_to_a_question_for_a_secret_goes() -> None:
    assert redact_answer("What is the admin password?", "hunt" + "er2") == "[redacted: password]"
    assert redact_answer("How should we hash the password?", "bcrypt") == "bcrypt"


@pytest.fixture
def own_patterns() -> Iterator[None]:
    use_patterns([re.compile(r"ACME-[0-9]{6}"), re.compile(r"pin=(\d+)"), re.compile("x*")])
    yield
    use_patterns([])


@pytest.mark.usefixtures("own_patterns")
def test_the_user_s_own_patterns_are_searched_for() -> None:
    assert redact("ACME-123456 pin=99 xx") == (
        "[redacted: own pattern] pin=[redacted: own pattern] [redacted: own pattern]"
    )
