"""kill -9 at every touch of the disk: one verified checkpoint, and one word about it."""

import subprocess
import sys
from pathlib import Path

import pytest

LEAST_POINTS = 60  # there are that many touches, or the harness is blind


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.requirement("A5", "X6", "C5")
def test_a_killed_watcher_leaves_no_half_done_work(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "tests.watcher.killing", str(tmp_path)]
    root = Path(__file__).parents[2]
    run = subprocess.run(argv, capture_output=True, text=True, cwd=root, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= LEAST_POINTS
