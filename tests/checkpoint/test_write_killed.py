"""kill -9 at every write point: a whole checkpoint or none, and the next run heals the rest."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # whole processes: not for the inner loop

LEAST_POINTS = 40  # there are that many touches of the disk in one keep, or the harness is blind


def _points(folder: Path, *arguments: str) -> int:
    argv = [sys.executable, "-m", "tests.checkpoint.killing", str(folder), *arguments]
    root = Path(__file__).parents[2]
    run = subprocess.run(argv, capture_output=True, text=True, cwd=root, check=False)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


@pytest.mark.requirement("C5", "X6")
@pytest.mark.parametrize("before", ["0", pytest.param("2", marks=pytest.mark.slow)])
def test_killed_at_any_point_there_is_a_whole_checkpoint_or_none(
    quick_disk: Path, before: str
) -> None:
    assert _points(quick_disk, before) >= LEAST_POINTS


@pytest.mark.slow
@pytest.mark.requirement("C10", "X6")
def test_killed_while_pruning_the_newest_is_there_and_the_rest_follows(quick_disk: Path) -> None:
    assert _points(quick_disk, "3", "prune") >= LEAST_POINTS // 2
