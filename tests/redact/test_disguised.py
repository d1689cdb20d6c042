"""Secrets that were cut, joined, spelled or chained so that they look like none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.checkpoint.document import clean_document
from holdfast.record.storage import read_on
from holdfast.redact import assignment, redact
from holdfast.redact.certainty import span_of
from holdfast.window.state import State
from holdfast.wire import spool
from tests.checkpoint.documents import a_document
from tests.checkpoint.sessions import Session
from tests.hot.hooks import fire, window

pytestmark = pytest.mark.requirement("X4")
WORD = "Ab12" + "cd34"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LAST_LINE = "ZmVyeXNlY3JldGxhc3RsaW5lb2Z0aGVrZXlBQkNERUZHSElK" + "S0xNTk9QUVJTVFVWV1hZWg=="


@pytest.mark.parametrize(
    "text",
    [
        f"SSHPASS={WORD} sshpass -e ssh host",
        f"openssl enc -k {WORD} -in x",
        f"postgres://u:{WORD}/x@host/db",
        f"echo 'root:{WORD}' | chpasswd",
        f"echo root:{WORD} | sudo chpasswd",
        f"Das Passwort ist {WORD}!",
        f"PASSWORD\uff1d{WORD}",
        f"pass\u200bword={WORD}",
        f"pass\u00adword={WORD[:3]}\u200b{WORD[3:]}",
        f"{'password=' * 50}{WORD}",
        f"config.password = %q({WORD})",
        f"config.password = %w({WORD})",
        f"my $password = q{{{WORD}}};",
        f"my $password = qq({WORD});",
        f"\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff1d{WORD}",
        f"\uff30\uff21\uff33\uff33\uff37\uff2f\uff32\uff24={WORD}",
        f"password\u00a0=\u00a0{WORD}",
        f"DB_PASSWORD\u2003=\u2003{WORD}",
        f'ssword={WORD} and DB_PASSWORD="{WORD}"',
    ],
)
def test_however_a_password_is_given_it_goes(text: str) -> None:
    assert WORD[-4:] not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/a:b@2x.png",
        "http://localhost:3000/@fs/src/main.ts",
        "http://example.com:8080/img@2x.png",
        "git@github.com:org/repo.git",
        "openssl req -new -key server.key",
        "the password is wrong",
        "das Passwort ist falsch",
        'startswith("ghp_")',
        "npm_config_registry…",
        "sk-folding-cube…",
    ],
)
def test_what_only_resembles_it_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("after", ["…", " …", "", '"', "\n"])
def test_the_beginning_of_a_token_that_was_cut_goes(after: str) -> None:
    assert TOKEN[4:20] not in redact(f"token {TOKEN[:28]}{after}")


def test_the_last_line_of_a_key_goes_however_lines_were_joined() -> None:
    mark = "-----END OPENSSH PRIVATE KEY-----"
    for between in ("\n", " / ", '","', "\\n"):
        assert LAST_LINE[:40] not in redact(f"deploy: {LAST_LINE}{between}{mark}")


@pytest.mark.parametrize("line_end", ["\n", "\\n", "\r\n"])
def test_what_a_command_printed_of_a_telling_variable_goes(line_end: str) -> None:
    for value in (
        "3f8a9c0d1e2b4f5a6978c0d1",
        "live_c29406c817ef5778fce54e94",
        "d82ff44a-2aaf-4f0b",
    ):
        printed = f"$ echo $SERVICE_TOKEN{line_end}{value}{line_end}$ ls"
        assert value not in redact(printed)


def test_a_token_that_is_part_of_a_tool_s_name_goes() -> None:
    assert TOKEN not in redact(f"mcp__x__{TOKEN}")


def test_facts_are_cleaned_before_anybody_cuts_them(tmp_path: Path) -> None:
    session = Session().user("Please " + "deploy it " * 57 + f"with {TOKEN} to staging.")
    path = session.says("ok").written(tmp_path)
    facts = read_on(State(transcript=str(path)), str(tmp_path))
    assert TOKEN[:12] not in facts.turns[0].asked
    assert "[redacted: github token]" in facts.turns[0].asked


def test_keys_and_ids_of_a_checkpoint_are_cleaned_too(tmp_path: Path) -> None:
    given: dict[str, Any] = {"tools_used": {TOKEN: 1}, "agent_states": {TOKEN: {"status": TOKEN}}}
    document = a_document(tmp_path, "a", snapshot=given, session_id=TOKEN, agent_id=TOKEN)
    found = clean_document(document, redact)
    assert TOKEN not in json.dumps([found.snapshot, found.session_id, found.agent_id])


def test_an_id_that_is_not_the_client_s_is_summed_up_in_the_spool() -> None:
    fire("PostToolUse", tool_use_id=TOKEN, tool_name="Bash", tool_response={"stdout": "1"})
    assert TOKEN not in (window() / "spool").read_text()
    assert spool.ident("toolu_01A2b3C4d5E6f7G8h9J0k1L2") == "toolu_01A2b3C4d5E6f7G8h9J0k1L2"
    assert spool.ident("a b") != spool.ident("a c")


def test_a_chain_of_names_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of it took ten seconds: each name read five hundred characters of the next."""
    judged: list[str] = []

    def counted(written: Any, judge: Any) -> Any:
        judged.append(written.name)
        return span_of(written, judge)

    monkeypatch.setattr(assignment, "span_of", counted)
    redact("password=" * 1_000)
    redact("pass:" * 1_000)
    assert len(judged) < 10


PARTS = {
    "github": TOKEN,
    "anthropic": "sk-ant-" + "api03-" + "q7Rk2LmW9xTz4VbN8cYd1HsJ5gPf0KeUa3ioQ6wE" * 2 + "AA",
    "signed": "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9k2LmW9xTz4Vb.x9Tz4VbN8cYd1HsJ5gPf0KeU",
    "amazon": "AK" + "IA4TZ7QW2XV9LM3K8P",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("lead", ["", "The token is ", "so\\n", "export TIDE=", f"{'so ' * 20}"])
@pytest.mark.parametrize("broken", ["\n", "\r\n", "\n    ", "\\\n", "\n> ", "\n\u2502 ", "\\n"])
def test_a_token_broken_over_two_lines_goes_whole(kind: str, lead: str, broken: str) -> None:
    token = PARTS[kind]
    for at in (8, 12, len(token) // 2, len(token) - 9):
        shown = redact(f"{lead}{token[:at]}{broken}{token[at:]}\nand so on")
        assert token[:at][-6:] not in shown and token[at:][:6] not in shown, (at, shown)
        assert shown.startswith(lead) and shown.endswith("\nand so on")


@pytest.mark.parametrize(
    "after",
    [
        "Deploy it now.",
        "deploy",
        "tests/test_tide42.py passed",
        "read_tides(7, ebb2)",
        "PORT=8080",
        "EbbAndFlow",
        "v2.14.3",
        "2026-03-01 12:00",
    ],
)
def test_what_stands_in_the_line_behind_a_token_stays(after: str) -> None:
    for lead in ("", f"{'so ' * 20}"):
        assert redact(f"{lead}{TOKEN}\n{after}") == f"{lead}[redacted: github token]\n{after}"


def test_a_plain_word_that_is_a_password_stays_where_nothing_names_it() -> None:
    assert redact('DB_PASSWORD="harbor" and the harbor of Esk').endswith("the harbor of Esk")


def test_a_beginning_at_the_end_of_a_line_is_no_token() -> None:
    text = "export npm_config_\nregistry_for_all and ghp_\nis how they begin, sk-folding-\ncube too"
    assert redact(text) == text
