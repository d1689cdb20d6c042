"""Our own folder takes nothing, or another hook holds the window: what matters is done anyway.

A checkpoint goes to the project, the summary is steered, the brief is given; only notes are lost.
"""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.client import sample_payloads
from holdfast.wire import log
from tests.events.work import REQUEST, RULE, Work
from tests.hot.hooks import run, window


@pytest.fixture
def work(tmp_path: Path) -> Work:
    made = Work(tmp_path)
    made.round(20_000)
    return made


def _printed(work: Work, event: str, **own: str) -> str:
    """What a hook prints where its complaints may go to stderr."""
    sent = sample_payloads.make_payload(
        event, session_id="s1", transcript=str(work.path), cwd=str(work.project)
    )
    data = json.dumps(sent | own).encode()
    found = run(data, environ={"CLAUDE_PROJECT_DIR": str(work.project)})
    assert found.returncode == 0, found.stderr.decode()
    return found.stdout.decode()


def _is_kept_steered_and_given_back(work: Work) -> None:
    steered = _printed(work, "PreCompact", trigger="auto")
    given = _printed(work, "SessionStart", source="compact")
    [path] = work.checkpoints
    assert verify(str(path)).ok
    assert RULE in steered
    assert REQUEST in given


@pytest.mark.requirement("C5", "B1", "B2", "X6")
@pytest.mark.parametrize("spoiled", [".", "windows", "windows/s1", "windows/s1/main/lock"])
def test_a_home_that_takes_nothing_costs_only_our_notes(
    work: Work, own_home: Path, spoiled: str
) -> None:
    place = own_home / ".holdfast" / spoiled
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.name == "lock":
        os.mkfifo(place)
    else:
        place.write_text("in the way")
    _is_kept_steered_and_given_back(work)


@pytest.mark.requirement("C5", "X6")
def test_without_a_log_the_trouble_stands_on_stderr(work: Work, own_home: Path) -> None:
    (own_home / ".holdfast").write_text("in the way")
    sent = sample_payloads.make_payload(
        "PreCompact", session_id="s1", transcript=str(work.path), cwd="/p"
    )
    found = run(json.dumps(sent).encode())
    assert b"continues without its lock" in found.stderr


FULL = """
import resource, sys
from holdfast.wire import places
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    places.replace_whole(sys.argv[1], b"x" * 5000)
except OSError:
    print("refused")
"""


@pytest.mark.requirement("X6")
def test_a_write_that_fails_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    place = tmp_path / "record.json"
    place.write_text("old")
    argv = [sys.executable, "-c", FULL, str(place)]
    found = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert found.stdout == "refused\n"
    assert place.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["record.json"]


@contextmanager
def _somebody_holds(lock: Path) -> Iterator[None]:
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.mark.slow  # waits for the lock, twice
@pytest.mark.requirement("C13", "B1", "B2", "X6")
def test_a_window_that_is_busy_is_saved_and_given_back_without_its_lock(work: Work) -> None:
    with _somebody_holds(window() / "lock"):
        _is_kept_steered_and_given_back(work)
    assert "continues without its lock: another hook holds it" in Path(log.path()).read_text()
    assert not (window() / "state.json").exists(), "changed by its holder alone"
