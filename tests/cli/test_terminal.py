"""Nothing in a path, a branch, a task or a prompt acts on the terminal of whoever looks."""

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from holdfast.cli import terminal
from holdfast.cli.main import holdfast_command
from tests.builders import a_prompt, a_result, a_transcript, an_answer
from tests.hot.hooks import fire, run

EVIL = "\x9b2J\u202egnp.exe\u2066\x1b[2J\x1b]0;owned\x07\x85\ufeff"
IN_A_NAME = EVIL.replace("\x1b]0;owned\x07", "")  # no slash, and git takes no C0
BRANCH = "fix\u202e\x9b"
ACTS = frozenset("\x9b\x85\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\x07\ufeff")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session in a project of a hostile name, on a hostile branch, with a checkpoint."""
    project = tmp_path / f"project{IN_A_NAME}"
    project.mkdir()
    subprocess.run(["git", "init", "--quiet", "-b", BRANCH, os.fspath(project)], check=True)
    path = a_transcript(
        tmp_path / "s1.jsonl",
        a_prompt(f"Mend the anchor {EVIL}. Never touch data{EVIL}."),
        an_answer(143_000, calls=("t1",), text=f"I mend the anchor {EVIL}"),
        a_result("t1", f"done{EVIL}"),
    )
    cwd, environ = str(project), {"CLAUDE_PROJECT_DIR": str(project)}
    fire("SessionStart", path, source="startup", cwd=cwd, environ=environ)
    fire("PostToolUse", path, tool_use_id="t1", agent_type=EVIL, cwd=cwd, environ=environ)
    fire("PreCompact", path, trigger="manual", cwd=cwd, environ=environ)
    return path


def _printed(*arguments: str, folder: Path) -> str:
    """Both streams of a real process."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast.cli", *arguments],
        cwd=folder,
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, "FORCE_COLOR": "1", "PYTHONUTF8": "1"},
    )
    assert done.stdout or done.stderr
    return (done.stdout + done.stderr).decode()


def _acting(text: str) -> set[str]:
    """What would act: the characters, and escape sequences that are no colour."""
    beyond = {
        part[:3] for part in text.split("\x1b")[1:] if part.partition("m")[0].strip("[0;123456789")
    }
    return {c for c in text if c in ACTS} | beyond


def _words(command: tuple[str, ...], session: Path) -> list[str]:
    return [str(session) if word == "TRANSCRIPT" else word for word in command]


@pytest.mark.slow
@pytest.mark.requirement("X7")
def test_no_command_prints_what_would_act(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(next(session.parent.glob("project*")))
    for command in (
        ("status",),
        ("status", "--all"),
        ("status", "--transcript", "TRANSCRIPT"),
        ("watch",),
        ("log",),
        ("resume",),
        ("resume", "--list"),
        ("search", "anchor"),
        ("brief",),
        ("brief", "--json"),
        ("verify",),
        ("segments",),
        ("budget",),
        ("memory", "list"),
        ("settings", "--project", EVIL),
        ("replay", "TRANSCRIPT"),
        (f"no-command{IN_A_NAME}",),
    ):
        shown = CliRunner().invoke(holdfast_command, _words(command, session)).output
        assert shown, command
        assert _acting(shown) == set(), command


@pytest.mark.slow  # a process each
@pytest.mark.requirement("X7")
def test_no_process_prints_what_would_act_not_even_in_an_error(session: Path) -> None:
    for command in (
        ("status",),
        ("resume",),
        ("search", "anchor"),
        ("watch",),
        ("status", "--transcript", f"/nowhere/{IN_A_NAME}"),
        ("plan", f"/nowhere/{IN_A_NAME}"),
    ):
        project = next(session.parent.glob("project*"))
        assert _acting(_printed(*_words(command, session), folder=project)) == set(), command


@pytest.mark.requirement("X7")
def test_the_status_line_holds_nothing_of_a_hostile_payload(session: Path) -> None:
    sent = {
        "session_id": f"s{EVIL}",
        "transcript_path": str(session),
        "model": {"id": EVIL, "display_name": EVIL},
        "workspace": {"project_dir": f"/p{EVIL}"},
        "context_window": {"total_input_tokens": 120_000, "context_window_size": 200_000},
    }
    line = run(json.dumps(sent).encode(), "statusline").stdout.decode()
    assert "%" in line
    assert _acting(line) == set()


@pytest.mark.requirement("X7")
@given(st.text())
def test_a_safe_text_holds_no_control_and_keeps_all_else(text: str) -> None:
    shown = terminal.safe(text)
    assert len(shown) == len(text)
    assert not [c for c in shown if unicodedata.category(c) == "Cc" and c not in "\n\t\x1b"]
    kept = [(a, b) for a, b in zip(text, shown, strict=True) if b != "?"]
    assert all(a == b for a, b in kept)


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
        ("\x1b[2Jgone", "?[2Jgone"),
        ("\x1b]0;title\x07", "?]0;title?"),
        ("👩\u200d🚀 é 日本", "👩\u200d🚀 é 日本"),
        ("a\rb", "a?b"),
    ],
)
def test_colours_line_ends_and_letters_of_all_kinds_pass(text: str, shown: str) -> None:
    assert terminal.safe(text) == shown


def test_lines_wrap_between_words_and_go_on_indented() -> None:
    text = "  saved    " + "the lighthouse keeper counts boats " * 4
    lines = terminal.wrap(text, 40, hang=9).split("\n")
    assert all(len(line) <= 40 for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    assert lines[0].startswith("  saved    the")
    assert all(line.startswith(" " * 11) and line[11] != " " for line in lines[1:])


@given(st.text(alphabet="ab é日 \x1b[1m\n", max_size=200), st.integers(10, 60))
def test_wrapping_loses_no_word_and_cuts_none(text: str, width: int) -> None:
    assert terminal.wrap(text, width).split() == text.split()


def test_what_is_piped_keeps_its_lines_and_has_no_colour(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    terminal.say(terminal.paint("word " * 60, "red"))
    assert capsys.readouterr().out == "word " * 60 + "\n"


def test_a_terminal_that_is_not_utf_8_shows_charts_in_ascii() -> None:
    drawn = (f"{terminal.SIGNS}…é".encode("ascii", terminal.TO_ASCII)).decode()
    assert drawn == "_.:-=+*##.-^^`-<>>|\"\"''-...?"
