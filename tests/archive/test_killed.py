"""kill -9 at every write point of a saving or a roll: nothing is torn, and the next finishes it."""

import subprocess
import sys
from pathlib import Path

import pytest

# there are that many touches of the disk in one run, or the harness is blind
SAVING = pytest.param("archive", 30, marks=pytest.mark.slow)
ROLL = pytest.param("segment", 80, marks=pytest.mark.nightly)


@pytest.mark.requirement("R4", "R9", "X6")
@pytest.mark.parametrize(("folder", "least_points"), [SAVING, ROLL])
def test_killed_at_any_point_the_next_run_finishes_it(
    quick_disk: Path, folder: str, least_points: int
) -> None:
    argv = [sys.executable, "-m", f"tests.{folder}.killing", str(quick_disk)]
    root = Path(__file__).parents[2]
    run = subprocess.run(argv, capture_output=True, text=True, cwd=root, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= least_points
