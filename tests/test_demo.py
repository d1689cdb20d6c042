"""The demo is the first thing a stranger runs: it must play to its end."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLAY = Path(__file__).parents[1] / "demo" / "play.py"


@pytest.mark.slow
def test_the_demo_plays_alerts_a_save_and_what_is_given_back() -> None:
    run = subprocess.run([sys.executable, str(PLAY)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for shown in ("to the model: Holdfast:", "to the summariser:", "<holdfast-brief", "kept"):
        assert shown in run.stdout
    assert re.search(r"to you: \S+ 75% orange · 126k/167k · about 22 steps left", run.stdout)
    assert not re.search(r"under a minute|under 1 s|\d min left", run.stdout), "no clock ran there"
    assert "First told 10 steps ahead of the compaction, at orange" in " ".join(run.stdout.split())
    assert "never touch data/raw" in run.stdout.partition("<holdfast-brief")[2]
    lost = run.stdout.partition("what the summary does not hold")[2]
    assert "never touch data/raw" in lost and "restored it" in lost
    assert "about 0 " not in run.stdout and "about 1 step left" in run.stdout
