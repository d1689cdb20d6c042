"""kill -9 at every write point of a roll: the next one finishes it, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LEAST_POINTS = 80  # there are that many touches of the disk in one roll, or the harness is blind


@pytest.mark.nightly
@pytest.mark.requirement("R4", "X6")
def test_killed_at_any_point_the_next_roll_finishes_it(quick_disk: Path) -> None:
    argv = [sys.executable, "-m", "tests.segment.killing", str(quick_disk)]
    root = Path(__file__).parents[2]
    run = subprocess.run(argv, capture_output=True, text=True, cwd=root, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= LEAST_POINTS
