"""What the fuzzer found stays fixed; and a short run of every target finds nothing new."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.seeds import SEEDS
from fuzz.targets import TARGETS

ROOT = Path(__file__).parents[2]
FOUND = sorted(path for path in (Path(__file__).parent / "found").glob("*/*"))
SECONDS = 2  # all valid inputs and some thousands more; `make fuzz` is what searches

pytestmark = pytest.mark.requirement("X1", "X7")


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_found_stays_fixed(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_the_laws_hold_for_valid_inputs_and_for_none(target: str) -> None:
    seeds = SEEDS[target]()
    assert len(seeds) > 3
    for seed in (*seeds, b""):
        TARGETS[target](seed)


@pytest.mark.nightly
@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None,
    reason="NOT FUZZED: atheris has no wheel for this Python and system",
)
@pytest.mark.parametrize("target", TARGETS)
def test_a_short_run_breaks_no_law(target: str, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "fuzz", "--only", target, "--seconds", str(SECONDS)]
    line += [
        "--seed",
        "1",
        "--corpus",
        str(tmp_path / "corpus"),
        "--found",
        str(tmp_path / "found"),
    ]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{target}: " in run.stdout
