"""Full, faulty and simple disks: a checkpoint is proven or not saved, and nothing is left over."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.checkpoint.checkpoint_file import CheckpointNotSaved
from holdfast.checkpoint.verify import verify_projects
from holdfast.checkpoint.write import keep
from holdfast.files.atomic import PhantomCheckpoint
from holdfast.wire import places
from tests.checkpoint.documents import a_document, final_names, in_project, left_drafts

ROOT = Path(__file__).parents[2]
FULL = """
import resource, sys
from pathlib import Path
from holdfast.checkpoint.write import keep
from holdfast.checkpoint.checkpoint_file import CheckpointNotSaved
from tests.checkpoint.documents import a_document
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    print(keep(a_document(sys.argv[1], "x" * 5000)).path)
except CheckpointNotSaved as error:
    print("not kept:", error)
"""


@pytest.mark.slow
@pytest.mark.requirement("C5", "C13", "X6")
@pytest.mark.parametrize(  # slow: a process for each
    "room", [4096, *(pytest.param(room, marks=pytest.mark.slow) for room in (0, 1))]
)
def test_a_full_disk_leaves_no_trace_of_a_checkpoint(project: Path, room: int) -> None:
    before = keep(a_document(project, "before"))
    argv = [sys.executable, "-c", FULL, str(project), str(room)]
    run = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.startswith("not kept:"), run.stdout
    assert "File too large" in run.stdout
    assert final_names(in_project(project)) == [Path(before.path).name]
    assert not left_drafts(project, Path(places.home()))
    assert all(report.ok for report in verify_projects())
    assert keep(a_document(project, "after")).document.iteration == 2


@pytest.mark.requirement("C5")
def test_a_disk_that_gives_back_something_else_is_a_phantom(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rotten(fd: int, data: bytes) -> None:
        os.write(fd, bytes(data)[:-1] + b"?")

    monkeypatch.setattr(places, "write_all", rotten)
    with pytest.raises(CheckpointNotSaved, match="does not hold what was written"):
        keep(a_document(project))
    assert final_names(in_project(project)) == []
    assert issubclass(PhantomCheckpoint, Exception)


@pytest.mark.requirement("C5")
def test_a_filesystem_without_links_still_never_overwrites(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    first, second = keep(a_document(project, "a")), keep(a_document(project, "b"))
    assert (first.id, second.id) == ("2026-01-15-120000", "2026-01-15-120000-2")
    assert all(report.ok for report in verify_projects())
    assert not left_drafts(project)


@pytest.mark.requirement("X6")
def test_drafts_of_the_dead_go_and_those_of_the_living_stay(project: Path) -> None:
    folder = in_project(project)
    folder.mkdir(parents=True)
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    dead = folder / f".{int(gone.stdout)}-1.draft"
    old, young = folder / f".{os.getpid()}-1.draft", folder / f".{os.getpid()}-2.draft"
    foreign = folder / "notes.draft"
    for path in (dead, old, young, foreign):
        path.write_text("half")
    os.utime(old, (0, 0))
    keep(a_document(project))
    assert [path.exists() for path in (dead, old, young, foreign)] == [False, False, True, True]
