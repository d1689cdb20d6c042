"""Where a checkpoint goes when the project is odd, hostile, or cannot be written."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.checkpoint import index
from holdfast.checkpoint.checkpoint_file import CheckpointNotSaved
from holdfast.checkpoint.verify import verify
from holdfast.checkpoint.write import keep
from holdfast.files import folders
from holdfast.wire import places
from tests.checkpoint.documents import a_document, in_project


@pytest.mark.requirement("C5")
@pytest.mark.parametrize("kind", ["missing", "a file", "relative", "empty", "NUL", "surrogate"])
def test_what_is_no_project_folder_gets_our_own(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("")
    spelled = {
        "missing": str(tmp_path / "gone"),
        "a file": str(tmp_path / "file"),
        "relative": "some/where",
        "empty": "",
        "NUL": "/a\0b",
        "surrogate": "/a\ud800b",
    }[kind]
    kept = keep(a_document(spelled))
    assert kept.path.startswith(folders.root())
    assert kept.why_elsewhere
    assert verify(kept.path, index.load()).ok
    assert keep(a_document(spelled)).reused
    assert not (tmp_path / "gone").exists()


@pytest.mark.requirement("C5", "X7")
@pytest.mark.parametrize("link", [".claude", ".claude/checkpoints"])
def test_a_link_that_leads_out_is_not_followed(tmp_path: Path, project: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(outside)
    kept = keep(a_document(project))
    assert list(outside.iterdir()) == []
    assert kept.path.startswith(folders.root())
    assert "leads out of the project" in kept.why_elsewhere


@pytest.mark.requirement("X7")
def test_a_planted_link_with_a_final_name_is_neither_followed_nor_overwritten(
    tmp_path: Path, project: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    in_project(project).mkdir(parents=True)
    (in_project(project) / "2026-01-15-120000.md").symlink_to(victim)
    (in_project(project) / ".gitignore").symlink_to(tmp_path / "new")
    kept = keep(a_document(project))
    assert kept.id == "2026-01-15-120000-2"
    assert victim.read_text() == "precious"
    assert not (tmp_path / "new").exists()


@pytest.fixture
def bare_hands() -> Iterator[Path]:
    """A folder in which modes count: root writes anywhere, so root acts as nobody here."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        root.chmod(0o755)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        yield root
        if is_root:
            os.seteuid(0)
        root.chmod(0o755)


@pytest.mark.requirement("C5", "X6")
def test_a_read_only_project_gets_our_own_folder(
    bare_hands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as home:
        monkeypatch.setenv("HOLDFAST_HOME", home + "/ours")
        _chmod(bare_hands, 0o555)
        kept = keep(a_document(bare_hands))
        assert kept.path.startswith(home)
        assert "Permission denied" in kept.why_elsewhere
        assert verify(kept.path, index.load()).ok


@pytest.mark.requirement("C5", "C13")
def test_where_nothing_can_be_written_nothing_is_said_to_be_kept(
    bare_hands: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _chmod(bare_hands, 0o555)
    monkeypatch.setenv("HOLDFAST_HOME", str(bare_hands / "ours"))
    with pytest.raises(CheckpointNotSaved) as error:
        keep(a_document(bare_hands))
    assert error.value.hint
    assert list(bare_hands.rglob("*")) == []


def _chmod(path: Path, mode: int) -> None:
    """As the folder's owner."""
    now = os.geteuid()
    os.seteuid(os.getuid())
    path.chmod(mode)
    os.seteuid(now)


@pytest.mark.requirement("X6")
def test_a_home_that_cannot_be_written_costs_the_index_not_the_checkpoint(
    project: Path, own_home: Path
) -> None:
    Path(places.home()).write_text("a file, not a folder")
    first = keep(a_document(project, "a"))
    second = keep(a_document(project, "b"))
    assert second.document.parent == first.id
    assert len(second.notes) == 3
    assert verify(second.path).ok
    assert keep(a_document(project, "b")).reused
