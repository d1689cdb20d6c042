"""Every test gets its own HOME and HOLDFAST_HOME, and hooks whose errors are loud."""

import gc
import itertools
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.marks import is_wholly_marked

pytest_plugins = ("tests.built_plugin", "tests.cost", "tests.stores")
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "small")
gc.disable()  # until all is collected: nothing of what is imported can be freed
OURS = ("HOLDFAST_", "CLAUDE", "DISABLE_", "FORCE_", "CHECK_INTERVAL", "COOLDOWN_", "CAPACITY_")
MEMORY, ROOM = "/dev/shm", 1 << 30


def _in_memory() -> str | None:
    """Where flushing costs nothing, if there is room and programs may be started there."""
    try:
        told = os.statvfs(MEMORY)
    except OSError:
        return None
    fits = told.f_bavail * told.f_frsize > ROOM and not told.f_flag & os.ST_NOEXEC
    return MEMORY if fits and os.access(MEMORY, os.W_OK) else None


if _in_memory():  # what is tested is the same: a test cannot pull the plug, and a disk may stall
    tempfile.tempdir = os.environ["TMPDIR"] = MEMORY


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Places for homes: a folder of pytest's own for each would cost three times as much."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOME nobody else has; no switch of the machine's own leaks in."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("COLUMNS", raising=False)  # workers are given the width of a terminal
    home = next(homes)
    home.mkdir(0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOLDFAST_HOME", str(home / ".holdfast"))
    return home


@pytest.fixture
def quick_disk(tmp_path: Path) -> Iterator[Path]:
    """In memory where there is such a place: a kill is a kill, and flushing costs nothing there."""
    if not (shared := _in_memory()):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shared) as made:
        yield Path(made)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which every test is left out are not imported: schemathesis alone takes a second."""
    left_out = _left_out(config)
    return (bool(left_out) and is_wholly_marked(collection_path, left_out)) or None


def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Where tests are left out, their parameters are not even counted: they were a fifth of what
    the inner loop collects."""
    marks = getattr(obj, "pytestmark", ())
    left_out = _left_out(collector.config) if marks else ()
    return [] if any(mark.name in left_out for mark in marks) else None


def _left_out(config: pytest.Config) -> list[str]:
    """The marks of tests that do not run, as in `-m "not slow and not store"`."""
    return re.findall(r"\bnot (\w+)", config.option.markexpr)


def pytest_collection_finish() -> None:
    """What was imported stays: no search for garbage walks it again. What a test leaves is small:
    looking for it after every 700 objects, as by default, was a twentieth of a run."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requirement(*ids): the promised behaviours a test proves")
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        _hypothesis()


def _hypothesis() -> None:
    """No deadlines: no test asserts seconds. `make test` and `make nightly` try the same examples
    in each run, `make nightly` eight times as many. `make shuffle` is what searches: it draws new
    ones. Who only hands tests out to workers does without: it takes a third of a second to import.
    """
    import hypothesis

    hypothesis.settings.register_profile("small", deadline=None, max_examples=6, derandomize=True)
    hypothesis.settings.register_profile("large", deadline=None, max_examples=48, derandomize=True)
    hypothesis.settings.register_profile("random", deadline=None, max_examples=150)
    hypothesis.settings.load_profile(PROFILE)
