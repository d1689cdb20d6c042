"""The index: as the plan has it, mended from the files, never believed over them."""

import json
import time
from pathlib import Path

import pytest

from holdfast.checkpoint import index, snapshot
from holdfast.checkpoint.index import NEWEST_READ, NewerCheckpointIndex
from holdfast.checkpoint.verify import rebuild, verify, verify_projects
from holdfast.checkpoint.write import keep
from holdfast.files import folders, lock
from tests.checkpoint.documents import a_document

GARBAGE = [
    "",
    "{",
    '{"version": "1.0", "checkpoints": [{"id": 1}]}',
    '{"version": 7, "checkpoints": []}'.replace("7", "0"),
    "[" * 100_000,
    "\x00\xff",
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Three checkpoints, one of them in our own folder."""
    project = tmp_path / "project"
    project.mkdir()
    keep(a_document(project, "one"))
    keep(a_document(project, "two"))
    keep(a_document(tmp_path / "missing", "three"))
    return project


@pytest.mark.requirement("C7")
def test_the_index_reads_as_the_plan_shows_it(project: Path) -> None:
    found = json.loads(Path(folders.root(), "index.json").read_text())
    assert found["version"] == "1.0"
    assert found["last_updated"].endswith("Z")
    row = next(one for one in found["checkpoints"] if one["project"] == str(project))
    assert (row["id"], row["project"], row["created"]) == (
        "2026-01-15-120000",
        str(project),
        "2026-01-15T12:00:00Z",
    )
    assert row["path"] == f"{project}/.claude/checkpoints/2026-01-15-120000.md"
    assert (row["trigger"], row["verified"], row["iteration"]) == ("auto", True, 1)
    assert row["summary"] == "one"


@pytest.mark.slow
@pytest.mark.requirement("C7", "X6")
@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_a_broken_index_is_made_again_by_the_next_keep(project: Path, garbage: str) -> None:
    before = index.load()
    Path(index.path()).write_text(garbage)
    kept = keep(a_document(project, "four"))
    assert any("made again" in note for note in kept.notes)
    assert kept.document.iteration == 3
    assert [one for one in index.load() if one.path != kept.path] == before


@pytest.mark.requirement("C7", "X6", "M3")
def test_rebuild_finds_everything_again(project: Path) -> None:
    before = index.load()
    Path(index.path()).unlink()
    found = rebuild()
    assert index.load() == before == sorted(found.entries, key=lambda one: (one.rank, one.path))
    assert len(found.added) == 3
    assert not found.damaged
    assert all(report.ok for report in verify_projects())


@pytest.mark.requirement("C5", "X6")
@pytest.mark.parametrize("data", [None, b"", b'{"extra": 1, "act'])
def test_a_snapshot_that_is_lost_or_damaged_is_made_again_by_the_same_state(
    project: Path, data: bytes | None
) -> None:
    kept = keep(a_document(project, "four", snapshot={"extra": 1}))
    path = Path(snapshot.path_of(str(project), kept.id))
    path.unlink() if data is None else path.write_bytes(data)
    assert keep(a_document(project, "four", snapshot={"extra": 1})).reused
    assert snapshot.load(str(project), kept.id)["extra"] == 1
    assert keep(a_document(project, "four", snapshot={"extra": 2})).reused
    assert snapshot.load(str(project), kept.id)["extra"] == 1, "it is of the checkpoint's moment"


@pytest.mark.slow
@pytest.mark.requirement("X7", "C9")
@pytest.mark.parametrize(  # slow: hundreds of files, looked through four times, for each
    "day",
    [
        time.strftime("%Y-%m-%d"),
        *(pytest.param(day, marks=pytest.mark.slow) for day in ("9999-12-31", "1999-12-31")),
    ],
)
def test_files_a_repository_ships_by_the_hundred_hide_none_of_ours(project: Path, day: str) -> None:
    """Whatever they are named for; ours are in the index, and those of a far future come last."""
    ours = [one.path for one in index.of_project(str(project))]
    for number in range(2, 2 + NEWEST_READ + 50):
        name = f"{day}-00{number // 60:02}{number % 60:02}"
        Path(project, ".claude", "checkpoints", f"{name}-{number}.md").write_text("junk")
    assert [one.path for one in index.of_project(str(project))] == ours
    kept = keep(a_document(project, "one more"))
    assert keep(a_document(project, "one more")).reused
    assert kept.document.iteration == len(ours) + 1
    assert {*ours, kept.path} <= {one.path for one in rebuild().entries}
    assert verify(kept.path, index.load_or_empty()).ok


@pytest.mark.requirement("X6")
def test_an_index_of_a_newer_version_is_left_alone(project: Path) -> None:
    newer = '{"version": "2.0", "checkpoints": []}'
    Path(index.path()).write_text(newer)
    kept = keep(a_document(project, "four"))
    assert kept.document.iteration == 3
    assert any("newer Holdfast" in note for note in kept.notes)
    with pytest.raises(NewerCheckpointIndex):
        rebuild()
    assert Path(index.path()).read_text() == newer


@pytest.mark.requirement("X6")
def test_a_busy_index_does_not_hold_up_a_checkpoint(project: Path) -> None:
    with lock.hold(folders.home_folder()) as ours:
        assert ours
        kept = keep(a_document(project, "four"), patience=0.01)
    assert any("busy" in note for note in kept.notes)
    assert len(index.load()) == 3
    assert keep(a_document(project, "four")).reused
    assert len(index.load()) == 4
