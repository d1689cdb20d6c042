"""kill -9 at every touch of the disk: the model sees each message once, and only once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.board.killing import KILLS

pytestmark = pytest.mark.slow  # whole processes: not for the inner loop
first, *others = KILLS
LEAST_POINTS = 20  # there are that many touches, or the harness is blind


@pytest.mark.timeout(600)
@pytest.mark.requirement("A3", "X6")
@pytest.mark.parametrize(
    "whom", [first, *(pytest.param(one, marks=pytest.mark.nightly) for one in others)]
)
def test_whoever_is_killed_wherever_each_message_is_seen_once(tmp_path: Path, whom: str) -> None:
    argv = [sys.executable, "-m", "tests.board.killing", str(tmp_path / "points"), whom]
    root = Path(__file__).parents[2]
    environ = {**os.environ, "HOLDFAST_RAISE": "1"}
    run = subprocess.run(argv, capture_output=True, text=True, cwd=root, check=False, env=environ)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= LEAST_POINTS
