"""Commands through their public door."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.wire import log
from tests.builders import a_boundary, a_prompt, a_result, a_summary, a_transcript, an_answer
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


@pytest.mark.requirement("U3")
def test_status_for_a_person_fits_one_screen(past: Path) -> None:
    out = _ok("status", "--transcript", str(past))
    assert len(out.splitlines()) < 24
    assert "green" in out
    assert "30,000 of 167,000 tokens" in out
    assert "167,000 in a window of 200,000" in out


@pytest.mark.slow
@pytest.mark.requirement("U3")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("status",), 1),
        (("checkpoint",), 1),
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
    assert (found.returncode, found.stdout) == (2, "")
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


@pytest.mark.requirement("U3", "U5")
def test_watch_lists_what_compacts_next_first_with_titles_and_agents_below(tmp_path: Path) -> None:
    for name, used in (("calm-1", 30_000), ("full-1", 160_000), ("warm-1", 130_000)):
        asked = a_prompt(f"Implement the following plan:\n\n# {name} of the harbour{' wall' * 30}")
        path = a_transcript(tmp_path / f"{name}.jsonl", asked, an_answer(used))
        os.utime(path)
        fire("PostToolUse", path, session=name)
    _, *lines = _ok("watch", COLUMNS="160").splitlines()
    assert [line[:4] for line in lines] == ["full", "warm", "calm"]
    assert all(f"{line[:4]}-1 of the harbour" in line for line in lines)
    _, *narrow = _ok("watch", COLUMNS="80").splitlines()
    assert [line.split()[0] for line in narrow] == ["full-1", "warm-1", "calm-1"]
    assert ["96%" in narrow[0], "18%" in narrow[-1]] == [True, True]


@pytest.mark.requirement("U3")
def test_settings_say_where_each_value_came_from() -> None:
    out = _ok("settings", HOLDFAST_ZONE_RED="0.95")
    assert "zone_red = 0.95   (from $HOLDFAST_ZONE_RED)" in out
    found = json.loads(_ok("settings", "zone_red", "--json"))
    row = {"value": 0.9, "from": "default", "set_by": "project"}
    assert found["settings"] == {"zone_red": row}
    assert _invoke("settings", "zone_purple").exit_code != 0


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


@pytest.mark.requirement("U4", "X1")
def test_theirs_is_shown_even_where_ours_fails() -> None:
    environ = {"HOLDFAST_HOME": "/proc/nowhere", "NO_COLOR": "1"}
    found = run(json.dumps(PAYLOAD).encode(), "statusline", "--wraps", "echo mine", environ=environ)
    assert found.stdout.decode().splitlines()[0] == "mine"


@pytest.mark.requirement("U4", "X1")
@pytest.mark.parametrize("payload", [{}, {"context_window": 3}, {"model": [], "session_id": {}}])
def test_an_odd_payload_still_gives_a_line(payload: dict[str, Any]) -> None:
    assert _line(payload) == "holdfast: the fill is known after the first answer\n"
