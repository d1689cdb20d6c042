"""The user's own status line under ours: first, bounded, and gone when it is cut short."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from holdfast.events import status_line
from holdfast.setup import wiring
from tests.hot.hooks import run

pytestmark = [pytest.mark.requirement("U4"), pytest.mark.slow]

PAYLOAD = json.dumps(
    {
        "session_id": "s1",
        "context_window": {"total_input_tokens": 125_700, "context_window_size": 200_000},
    }
).encode()


def is_gone(pid: int) -> bool:
    """Waits, bounded; a zombie nobody has collected counts as gone."""
    for _ in range(200):
        try:
            if Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(pid, 0)
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False


def appeared(path: Path) -> int:
    for _ in range(500):
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.02)
    raise AssertionError(f"{path} never came")


def test_theirs_is_an_argument_and_is_shown_first() -> None:
    found = run(PAYLOAD, "statusline", "--wraps", "head -c 14; echo", environ={"NO_COLOR": "1"})
    first, second = found.stdout.decode().splitlines()
    assert first == PAYLOAD[:14].decode(), "it is given the payload"
    assert "%" in second
    off = run(PAYLOAD, "statusline", "--wraps", "echo mine", environ={"HOLDFAST_DISABLE": "1"})
    assert off.stdout == b"mine\n"


def test_it_runs_through_the_installed_command_whatever_our_folder_is(tmp_path: Path) -> None:
    command = wiring.status_command("echo \"it's\" 'mine $HOME'")
    env = {"PATH": os.defpath, "HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / "other")}
    ran = subprocess.run(["/bin/sh", "-c", command], input=PAYLOAD, capture_output=True, env=env)
    assert ran.stdout.decode().splitlines()[0] == "it's mine $HOME"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("", ""),
        ("printf 'a\\n\\n'", "a\n"),
        ("echo a; exit 3", "a\n"),
        ("/not/there", ""),
        ("a\0b", ""),
        ("exec 1>&-; exit 0", ""),
        ("echo a; sleep 1 >/dev/null 2>&1 &", "a\n"),
    ],
)
def test_what_it_prints_is_shown_and_what_fails_is_left_out(command: str, shown: str) -> None:
    assert status_line.run_user_line(command, b"x" * 200_000) == shown


@pytest.mark.parametrize("tail", ["wait", "exit 0", "exec 1>&-; wait"])
def test_a_slow_one_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: str
) -> None:
    monkeypatch.setattr(status_line, "SECONDS", 0.5)
    began = time.monotonic()
    assert status_line.run_user_line(f"sleep 60 & echo $! >'{tmp_path}/pid'; {tail}", b"") == ""
    assert time.monotonic() - began < 30
    assert is_gone(appeared(tmp_path / "pid"))


def test_when_the_client_cancels_us_theirs_ends_too(tmp_path: Path) -> None:
    """The client ends the shell and all that it started (seen with 2.1.325)."""
    command = wiring.status_command(f"echo $$ >'{tmp_path}/pid'; exec sleep 60")
    line = ["/bin/sh", "-c", command]
    ours = subprocess.Popen(line, stdin=subprocess.DEVNULL, start_new_session=True)
    theirs = appeared(tmp_path / "pid")
    os.killpg(ours.pid, signal.SIGTERM)
    assert ours.wait(timeout=30) == -signal.SIGTERM
    assert is_gone(theirs)
