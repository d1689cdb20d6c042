"""The real Claude Code is the judge of these tests; without it they are skipped, loudly.

What a session left is made once per worker, not per module: a worker that takes over the tests of
another one comes back to a module, and had to play its session again.
"""

from pathlib import Path

import pytest

from tests.trial.cycle import run_cycle
from tests.trial.namespace import NamespaceImpossible, unshare_command
from tests.trial.run import Trial

from .stage import LOUD, Stage, a_stage, hook_settings, newest_client


@pytest.fixture(scope="session")
def binary() -> Path:
    found = newest_client()
    if found is None:
        pytest.skip("*** THE REAL CLIENT IS NOT HERE: `make client` fetches it ***")
    try:
        unshare_command()
    except NamespaceImpossible as reason:
        pytest.skip(f"*** THE REAL CLIENT IS NOT RUN, NO NETWORK NAMESPACE HERE: {reason} ***")
    return found


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return a_stage(tmp_path)


@pytest.fixture(scope="session")
def with_hooks(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """The whole cycle with our hooks, run once: fill, alerts, compaction, refill."""
    stage = a_stage(tmp_path_factory.mktemp("with"))
    return run_cycle(
        *(binary, stage.project, stage.home), settings=hook_settings(), env=LOUD, refill=True
    )


@pytest.fixture(scope="session")
def without_hooks(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """The same cycle with nothing of ours."""
    stage = a_stage(tmp_path_factory.mktemp("without"))
    return run_cycle(binary, stage.project, stage.home, settings={}, refill=True)
