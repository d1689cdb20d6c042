"""kill -9 at every write point of a saving: no torn copy, and the next one finishes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LEAST_POINTS = 30  # there are that many touches of the disk in one saving, or the harness is blind


@pytest.mark.slow
@pytest.mark.requirement("R9", "X6")
def test_killed_at_any_point_the_next_saving_finishes_it(quick_disk: Path) -> None:
    argv = [sys.executable, "-m", "tests.archive.killing", str(quick_disk)]
    root = Path(__file__).parents[2]
    run = subprocess.run(argv, capture_output=True, text=True, cwd=root, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= LEAST_POINTS
