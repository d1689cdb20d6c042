"""Commands through their public door."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError
from tests.builders import (
    a_boundary,
    a_prompt,
    a_result,
    a_summary,
    a_transcript,
    an_answer,
)
from tests.hot.hooks import fire, run

CLI = [sys.executable, "-m", "holdfast.cli"]


def _invoke(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(holdfast_command, arguments, env=environ)


def _ok(*arguments: str, **environ: str) -> str:
    found = _invoke(*arguments, **environ)
    assert found.exit_code == 0, found.output
    return found.stdout


def _minutely(*used: int) -> list[dict[str, Any]]:
    return [an_answer(u, at=f"2026-01-01T00:0{n}:00Z") for n, u in enumerate(used)]


@pytest.fixture
def past(tmp_path: Path) -> Path:
    """A session that filled slowly, compacted at 167,050, and went on."""
    lines: list[dict[str, Any] | str] = [a_prompt()]
    for n, used in enumerate(range(20_000, 167_000, 2_000)):
        at = f"2026-01-01T{n // 60:02}:{n % 60:02}:00.000Z"
        lines += [an_answer(used, id=f"m{n}", calls=(f"t{n}",), at=at), a_result(f"t{n}")]
    lines += [a_boundary(pre=167_050), a_summary(), an_answer(30_000, id="after")]
    return a_transcript(tmp_path / "11111111-2222.jsonl", *lines)


@pytest.mark.requirement("U3", "W1", "W7")
def test_status_of_a_transcript_needs_nothing_installed(tmp_path: Path) -> None:
    path = a_transcript(
        tmp_path / "abc.jsonl",
        *_minutely(20_000, 25_000, 30_000),
    )
    found = json.loads(_ok("status", "--transcript", str(path), "--json"))
    assert found["used_tokens"] == 30_000
    assert (found["window_tokens"], found["edge_tokens"]) == (200_000, 167_000)
    assert found["used_ratio"] == round(30_000 / 167_000, 4)
    assert (found["zone"], found["alert"], found["basis"]) == ("green", None, "usage")
    assert (found["velocity_tokens_per_op"], found["ops_left"]) == (5_000, 115)
    assert (found["session_id"], found["agent_id"], found["estimated"]) == ("s1", None, False)


@pytest.mark.requirement("U3")
def test_status_for_a_person_fits_one_screen(past: Path) -> None:
    out = _ok("status", "--transcript", str(past))
    assert len(out.splitlines()) < 24
    assert "green" in out
    assert "30,000 of 167,000 tokens" in out
    assert "167,000 in a window of 200,000" in out


@pytest.mark.requirement("B7", "U3")
@pytest.mark.parametrize("columns", ["60", "80", "200"])
def test_status_names_the_checkpoint_whole_however_narrow(tmp_path: Path, columns: str) -> None:
    project = tmp_path / "a-folder-with-a-long-name" / "and-another-one-beneath-it-too"
    project.mkdir(parents=True)
    path = a_transcript(tmp_path / "t.jsonl", a_prompt(), an_answer(150_000))
    environ = {"CLAUDE_PROJECT_DIR": str(project)}
    fire("PostToolUse", path, session="s1", cwd=str(project), environ=environ)
    kept = json.loads(_ok("status", "s1", "--json"))["checkpoint_path"]
    out = _ok("status", "s1", COLUMNS=columns)
    assert f"checkpoint  {Path(kept).stem}, just now (guard)" in out
    assert kept in "".join(out.split()), "folded, not cut"


@pytest.mark.slow
@pytest.mark.requirement("U3")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("status",), 1),
        (("status", "x"), 1),
        (("checkpoint",), 1),
        (("resume", "latest"), 1),
        (("resume", "2026-01-01-000000"), 1),
        (("status", "--transcript", "/nowhere"), 2),
        (("replay", "/nowhere"), 2),
    ],
)
def test_nothing_to_show_is_an_error_in_words(arguments: tuple[str, ...], code: int) -> None:
    """1: nothing was found; 2: the words on the command line were wrong."""
    found = subprocess.run([*CLI, *arguments], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (code, "")
    assert found.stderr.startswith("holdfast: ")
    assert "try: " in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.slow
@pytest.mark.requirement("U3", "X7")
@pytest.mark.parametrize("content", [b"", b"\0\xff" * 999, b"{}\n[]\nnull\n", b"{" * 50_000])
@pytest.mark.parametrize(
    "command", [("status", "--transcript"), ("checkpoint", "--transcript"), ("replay",)]
)
def test_a_file_that_is_no_transcript_is_refused_in_words(
    tmp_path: Path, content: bytes, command: tuple[str, ...]
) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(content)
    found = subprocess.run([*CLI, *command, path], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (1, "")
    assert "holds no " in found.stderr
    assert "try: name a session's .jsonl file" in found.stderr


@pytest.mark.requirement("U8")
def test_a_replay_tells_alerts_ahead_of_the_compaction_and_how_true_it_was(past: Path) -> None:
    found = json.loads(_ok("replay", str(past), "--json"))
    assert found["operations"] == 75
    [hit] = found["compactions"]
    assert hit["pre_tokens"] == 167_050
    assert hit["error_ratio"] < 0.01
    assert hit["ops_ahead"]["advisory"] >= 3
    assert hit["ops_ahead"]["urgent"] >= 1
    heard = [one["alert"] or one["zone"] for one in found["alerts"] if one["heard"]]
    assert heard == ["orange", "advisory", "red", "urgent", "critical"]
    assert "is_delivered" not in found["alerts"][0], "one name for programs"
    assert found["readings"][-1]["zone"] == "green"
    assert found["checkpoints"]


@pytest.mark.slow
@pytest.mark.requirement("U8", "W8")
def test_a_replay_is_a_picture_in_the_terminal(past: Path) -> None:
    out = _ok("replay", str(past))
    assert "█" in out
    assert "▲" in out
    assert "compaction 1 (auto)" in out


@pytest.mark.slow
@pytest.mark.requirement("U3")
def test_a_terminal_without_our_characters_gets_others(past: Path) -> None:
    for command in ("status", "--transcript", past), ("replay", past):
        found = subprocess.run(
            [*CLI, *command],
            capture_output=True,
            check=False,
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
        )
        assert (found.returncode, found.stderr) == (0, b"")


@pytest.mark.slow
@pytest.mark.requirement("U3")
def test_what_cannot_be_read_alone_is_refused_with_a_way_out(past: Path, tmp_path: Path) -> None:
    packed = tmp_path / "x.jsonl.gz"
    packed.write_bytes(b"")
    for code, *arguments in (1, "--transcript", str(packed)), (1, "zz"):
        line = [*CLI, "status", *map(str, arguments)]
        found = subprocess.run(line, capture_output=True, text=True, check=False)
        assert found.returncode == code
        assert line[-1].split("/")[-1] in found.stderr


@pytest.mark.slow
@pytest.mark.requirement("G8")
def test_the_log_is_filtered_by_level_and_session_and_rotated() -> None:
    log.add("INFO", "aaaaaaaa", "one")
    log.add("ALERT", "bbbbbbbb", "two\nlines \x1b[31m")
    assert len(_ok("log").splitlines()) == 2
    [line] = _ok("log", "--level", "WARN").splitlines()
    assert line.endswith("two?lines ?[31m")
    told = [json.loads(line) for line in _ok("log", "--json").splitlines()]
    assert [(one["level"], one["place"]) for one in told] == [
        ("INFO", "aaaaaaaa"),
        ("ALERT", "bbbbbbbb"),
    ]
    assert told[0]["message"] == "one"
    for _ in range(1_200):
        log.add("INFO", "cccccccc", "x" * 1_000)
    assert Path(log.path() + ".1").stat().st_size <= log.ROTATE_BYTES + 2_000
    assert "two" in _ok("log", "-n", "99999")


@pytest.mark.requirement("G8", "U3")
def test_a_log_without_a_line_says_so() -> None:
    assert _invoke("log").stdout == ""
    assert "holdfast install" in _invoke("log").stderr, "what to do next"
    log.add("INFO", "aaaaaaaa", "one")
    assert "Nothing of that kind" in _invoke("log", "--level", "ALERT").stderr
    assert _invoke("log").stderr == ""


@pytest.mark.slow
@pytest.mark.requirement("G8")
def test_the_log_can_be_followed_across_a_rotation() -> None:
    log.add("INFO", "a", "before")
    with subprocess.Popen([*CLI, "log", "-f", "-n", "0"], stdout=subprocess.PIPE) as process:
        try:
            first = _until_shown(process, "first")
            Path(log.path()).replace(log.path() + ".1")
            second = _until_shown(process, "second")
        finally:
            process.terminate()
    assert "before" not in first + second


def _until_shown(process: subprocess.Popen[bytes], word: str) -> str:
    """Keep logging a word until the follower shows it, within bounds."""
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    shown = b""
    for _ in range(200):
        log.add("INFO", "a", word)
        select.select([process.stdout], [], [], 0.1)
        shown += process.stdout.read() or b""
        if word.encode() in shown:
            return shown.decode()
    raise AssertionError(f"{word} was never shown")


@pytest.mark.requirement("G9")
def test_the_audit_is_exported_as_json_lines(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(143_000))
    fire("PostToolUse", path)
    [event] = [json.loads(line) for line in _ok("log", "--audit").splitlines()]
    assert (event["event"], event["level"], event["session_id"]) == (
        "CONTEXT_PRESSURE",
        "advisory",
        "s1",
    )
    assert "told the model" in event["done"]


@pytest.mark.requirement("U3")
def test_status_of_all_says_when_there_is_none() -> None:
    found = _invoke("status", "--all")
    assert (found.exit_code, found.stdout) == (0, "")
    assert "No session is running" in found.stderr
    assert json.loads(_ok("status", "--all", "--json")) == []


@pytest.mark.slow
@pytest.mark.requirement("U3")
def test_watch_says_how_to_end_it_and_ctrl_c_finds_room_on_the_last_line(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "s.jsonl", a_prompt(), an_answer(140_000))
    fire("PostToolUse", path, session="abcdefgh-1", cwd=f"{tmp_path}/{'deep/' * 20}")
    ours, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    words = [*CLI, "watch"]
    with subprocess.Popen(words, stdout=theirs, stderr=theirs, env=environ) as process:
        os.close(theirs)
        shown = ""
        try:
            while "abcdefgh" not in shown:
                assert select.select([ours], [], [], 60)[0], shown
                shown += os.read(ours, 10_000).decode()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        finally:
            process.kill()
            os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    assert "Ctrl-C stops it" in plain
    assert all(len(line) <= 80 - len("^C") for line in plain.splitlines())


@pytest.mark.requirement("U3", "U5")
def test_watch_lists_what_compacts_next_first_with_titles_and_agents_below(tmp_path: Path) -> None:
    for name, used in (("calm-1", 30_000), ("full-1", 160_000), ("warm-1", 130_000)):
        asked = a_prompt(f"Implement the following plan:\n\n# {name} of the harbour")
        path = a_transcript(tmp_path / f"{name}.jsonl", asked, an_answer(used))
        os.utime(path)
        fire("PostToolUse", path, session=name)
    _, *lines = _ok("watch", COLUMNS="160").splitlines()
    assert [line[:4] for line in lines] == ["full", "warm", "calm"]
    assert all(f"{line[:4]}-1 of the harbour" in line for line in lines)


@pytest.mark.requirement("U3")
def test_settings_say_where_each_value_came_from() -> None:
    out = _ok("settings", HOLDFAST_ZONE_RED="0.95")
    assert "zone_red = 0.95   (from $HOLDFAST_ZONE_RED)" in out
    found = json.loads(_ok("settings", "zone_red", "--json"))
    row = {"value": 0.9, "from": "default", "set_by": "project"}
    assert found["settings"] == {"zone_red": row}
    assert _invoke("settings", "zone_purple").exit_code != 0
    both = _invoke("settings", "check_interval").stderr
    assert "$HOLDFAST_CHECK_INTERVAL, $CHECK_INTERVAL" in both


@pytest.mark.requirement("U3", "X7")
def test_settings_report_what_a_project_may_not_set(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "holdfast.toml").write_text('notes_folder = "~/.claude"\n')
    found = _invoke("settings", "notes_folder", "--project", str(tmp_path))
    assert "notes_folder =    (from default)" in found.stdout
    assert "; set by you only\n" in found.stdout
    assert "notes_folder is ignored: a project may not set it" in found.stderr
    assert "set by you or the project" in _ok("settings", "zone_red")


@pytest.mark.requirement("U3")
@pytest.mark.parametrize(
    ("folder", "name", "words"),
    [
        ("gone", "%Y.md", "gone is no folder"),
        ("", "%Y/%m.md", "is no note of that folder"),
        ("", "%Y.txt", "is no note of that folder"),
    ],
)
def test_notes_that_cannot_be_are_said(tmp_path: Path, folder: str, name: str, words: str) -> None:
    environ = {"HOLDFAST_NOTES_FOLDER": str(tmp_path / folder), "HOLDFAST_NOTES_NAME": name}
    assert words in _invoke("settings", **environ).stderr
    found = json.loads(_invoke("doctor", "--json", **environ).stdout)
    assert any(words in trouble for trouble in found["troubles"])
    fine = {"HOLDFAST_NOTES_FOLDER": str(tmp_path)}
    assert "notes_folder" not in _invoke("settings", **fine).stderr


PAYLOAD = {
    "session_id": "s1",
    "cwd": "/p",
    "model": {"id": "claude-sonnet-4-6"},
    "version": "2.1.325",
    "workspace": {"project_dir": "/p"},
    "context_window": {
        "total_input_tokens": 125_700,
        "total_output_tokens": 50,
        "context_window_size": 200_000,
    },
}


def _line(payload: dict[str, Any], **environ: str) -> str:
    found = run(json.dumps(payload).encode(), "statusline", environ={"NO_COLOR": "1"} | environ)
    assert found.returncode == 0
    return found.stdout.decode()


@pytest.mark.requirement("U4")
def test_the_status_line_shows_fill_and_zone_before_any_hook_ran() -> None:
    assert _line(PAYLOAD) == "▓▓▓▓▓▓▓▓░░ 75% orange · 126k/167k\n"


@pytest.mark.requirement("U4")
def test_the_status_line_shows_the_forecast_and_the_checkpoint(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", *_minutely(135_000, 139_000, 143_000))
    fire("PostToolUse", path)
    line = _line(PAYLOAD | {"transcript_path": str(path)})
    steps, minutes = "about 22 steps", "22 min"
    head = "▓▓▓▓▓▓▓▓▓░ 86% orange"
    assert line == f"{head} · 143k/167k · {steps} left · saved just now\n"
    model = {"id": "claude-sonnet-4-6", "display_name": "Sonnet 4.6"}
    payload = PAYLOAD | {"transcript_path": str(path), "model": model}
    full = _line(payload, HOLDFAST_STATUS_LINE="full")
    assert full == (f"{head} · 143k/167k · {steps}, {minutes} left · saved just now · Sonnet 4.6\n")
    assert _line(payload, HOLDFAST_STATUS_LINE="minimal") == "▓▓▓▓▓▓▓▓▓░ 86%\n"


@pytest.mark.requirement("U4")
def test_the_user_s_own_status_line_stays_first() -> None:
    theirs = ("statusline", "--wraps", "cat >/dev/null; echo mine")
    for switch, shown in (("0", ["mine", "▓▓▓▓▓▓▓▓░░ 75% orange · 126k/167k"]), ("1", ["mine"])):
        environ = {"NO_COLOR": "1", "HOLDFAST_DISABLE": switch}
        found = run(json.dumps(PAYLOAD).encode(), *theirs, environ=environ)
        assert found.stdout.decode().splitlines() == shown


@pytest.mark.requirement("U4", "X1")
def test_theirs_is_shown_even_where_ours_fails() -> None:
    environ = {"HOLDFAST_HOME": "/proc/nowhere", "NO_COLOR": "1"}
    found = run(json.dumps(PAYLOAD).encode(), "statusline", "--wraps", "echo mine", environ=environ)
    assert found.stdout.decode().splitlines()[0] == "mine"


@pytest.mark.requirement("U4", "X1")
@pytest.mark.parametrize("payload", [{}, {"context_window": 3}, {"model": [], "session_id": {}}])
def test_an_odd_payload_still_gives_a_line(payload: dict[str, Any]) -> None:
    assert _line(payload) == "holdfast: the fill is known after the first answer\n"


@pytest.mark.requirement("B2", "U3")
def test_a_pin_of_nothing_is_refused() -> None:
    for rule in ("", "  "):
        refused = CliRunner().invoke(holdfast_command, ["pin", rule])
        assert isinstance(refused.exception, HoldfastError) and "1 to" in str(refused.exception)
    assert "Nothing is pinned" in CliRunner().invoke(holdfast_command, ["pin"]).stderr
