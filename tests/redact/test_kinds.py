"""Every kind of secret goes, wherever it stands; what only looks like one stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redact import find, redact
from tests.redact.samples import INNOCENT, SECRETS, STAND_INS

pytestmark = [pytest.mark.requirement("X4"), pytest.mark.slow]  # 1,176 forms
SETTINGS: dict[str, Callable[[str], str]] = {
    "alone": str,
    "prose": lambda text: f"I tried this: {text} and it worked.",
    "line": lambda text: f"first line\n{text}\nlast line",
    "crlf": lambda text: f"first\n{text}\nlast".replace("\n", "\r\n"),
    "json": lambda text: json.dumps({"type": "text", "text": f"see\n{text}\nthere"}),
    "packed json": lambda text: json.dumps([1, text, "a"], separators=(",", ":")),
    "json in json": lambda text: json.dumps({"line": json.dumps({"text": f"see\n{text}\n"})}),
    "markdown": lambda text: f"Run:\n\n```sh\n{text}\n```\n\nthen go on.",
    "code span": lambda text: f"use `{text}` there",
    "shell": lambda text: f"cd /srv && echo '{text}' && ls",
    "coloured": lambda text: f"\x1b[32m{text}\x1b[0m",
    "numbered": lambda text: "\n".join(f"{n:6}→{x}" for n, x in enumerate(text.split("\n"), 1)),
    "diff": lambda text: "\n".join(f"+{line}" for line in text.split("\n")),
    "chinese": lambda text: f"请看 İ {text} 好",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_goes_wherever_it_stands(kind: str) -> None:
    drawn = [SECRETS[kind](Random(seed)) for seed in range(8)]
    for place in SETTINGS.values():
        for text, secret in drawn:
            placed = place(text)
            assert secret not in redact(placed), placed


@given(st.sampled_from(sorted(SECRETS)), st.sampled_from(sorted(SETTINGS)), st.integers())
def test_no_drawn_secret_survives(kind: str, setting: str, seed: int) -> None:
    text, secret = SECRETS[kind](Random(seed))
    assert secret not in redact(SETTINGS[setting](text))


@pytest.mark.parametrize("kind", INNOCENT)
def test_what_only_looks_random_stays(kind: str) -> None:
    for seed in range(50):
        text = INNOCENT[kind](Random(seed))
        assert find(text) == [], text


@pytest.mark.parametrize("text", STAND_INS)
def test_a_stand_in_stays(text: str) -> None:
    assert redact(text) == text


def test_what_is_around_a_secret_stays_readable() -> None:
    word = "hunt" + "er2"
    assert redact(f"postgres://bob:{word}@db/app") == "postgres://bob:[redacted: password]@db/app"
    assert redact(f'"://bob:{word}@db"') == '"://bob:[redacted: password]@db"'
    assert redact(f"mysql -u root -p{word} app") == "mysql -u root -p[redacted: password] app"
    assert redact(f'{{"password": "{word}"}}') == '{"password": "[redacted: password]"}'
    assert redact(f"?token={word}x9y8&page=2") == "?token=[redacted: token]&page=2"


def test_json_is_still_json_afterwards() -> None:
    for make in SECRETS.values():
        text, _ = make(Random(7))
        json.loads(redact(json.dumps({"text": f"see\n{text}\nthere"})))


def test_a_finding_says_what_and_where() -> None:
    text, secret = SECRETS["github p"](Random(1))
    [one] = find(f"a {text} b")
    assert (one.kind, one.start, one.end) == ("github token", 2, 2 + len(secret))


@pytest.mark.parametrize("word", ["令牌是", "токен", "トークン", "키"])
def test_a_token_right_behind_a_letter_of_another_script_is_found(word: str) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    assert token not in redact(f"{word}{token}请使用它")


@pytest.mark.parametrize(
    "sentence",
    [
        *("le mot de passe est {}", "mot de passe : {}", "mật khẩu: {}", "كلمة المرور: {}"),
        *("비밀번호: {}", "şifre: {}", "पासवर्ड: {}", "סיסמה: {}"),
    ],
)
def test_a_password_is_found_by_its_name_in_many_languages(sentence: str) -> None:
    assert "Zx9kQ27vbT" not in redact(sentence.format("Zx9kQ27vbT"))


def test_a_sentence_about_passwords_stays() -> None:
    for words in ("mot de passe: voir le coffre", "비밀번호는 어디에 저장되나요"):
        assert redact(words) == words
