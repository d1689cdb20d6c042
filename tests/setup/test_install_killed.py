"""kill -9 at every write point of install and uninstall: leaving afterwards leaves no trace."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.requirement("U1", "X6")]  # hundreds of forked installs

LEAST_POINTS = 40  # there are that many touches of the disk in each, or the harness is blind


@pytest.mark.parametrize(
    ("verb", "start", "recovery"),
    [
        ("install", "none", "uninstall"),
        pytest.param("install", "hooked", "install", marks=pytest.mark.nightly),
        pytest.param("renew", "none", "install", marks=pytest.mark.nightly),
        pytest.param("renew", "hooked", "uninstall", marks=pytest.mark.nightly),
        pytest.param("uninstall", "none", "uninstall", marks=pytest.mark.nightly),
        pytest.param("uninstall", "hooked", "install", marks=pytest.mark.nightly),
    ],
)
def test_killed_at_any_point_leaving_leaves_no_draft_and_no_folder(
    quick_disk: Path, verb: str, start: str, recovery: str
) -> None:
    argv = [sys.executable, "-m", "tests.setup.killing", str(quick_disk), verb, start, recovery]
    root = Path(__file__).parents[2]
    run = subprocess.run(argv, capture_output=True, text=True, cwd=root, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= LEAST_POINTS
