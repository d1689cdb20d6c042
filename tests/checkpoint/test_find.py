"""Finding the checkpoint that is meant, and where it comes from."""

from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.checkpoint import find, index
from holdfast.checkpoint.find import SectionChange, compare
from holdfast.checkpoint.write import SavedCheckpoint, keep
from tests.checkpoint.documents import NOON, a_document

HOUR = timedelta(hours=1)


def _kept(project: Path, hours: float, item: str, **given: object) -> SavedCheckpoint:
    return keep(a_document(project, item, created=NOON + hours * HOUR, **given))


@pytest.mark.requirement("B7")
def test_the_newest_verified_one_under_a_day_old_is_found(tmp_path: Path) -> None:
    old, new = _kept(tmp_path, 0, "a"), _kept(tmp_path, 2, "b")
    _kept(tmp_path, 3, "c", agent_id="a1")
    found = find.newest(str(tmp_path), NOON + 4 * HOUR)
    assert found is not None
    assert found.path == new.path
    Path(new.path).write_text("damaged")
    found = find.newest(str(tmp_path), NOON + 4 * HOUR)
    assert found is not None
    assert found.path == old.path
    assert find.newest(str(tmp_path), NOON + 25 * HOUR) is None
    assert find.newest(str(tmp_path / "other"), NOON) is None


@pytest.mark.requirement("B7", "X6")
def test_one_from_the_far_future_is_not_the_newest_forever(tmp_path: Path) -> None:
    _kept(tmp_path, 24 * 365, "clock was wrong", session_id="s0")
    ahead = _kept(tmp_path, 5, "a little ahead")
    found = find.newest(str(tmp_path), NOON)
    assert found is not None
    assert found.path == ahead.path


@pytest.mark.requirement("X6", "B7")
def test_it_is_found_without_any_index(tmp_path: Path) -> None:
    kept = _kept(tmp_path, 0, "a")
    Path(index.path()).write_text("garbage")
    found = find.newest(str(tmp_path), NOON)
    assert found is not None
    assert found.path == kept.path


@pytest.mark.requirement("C8", "B7")
def test_a_checkpoint_is_named_by_id_start_file_or_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _kept(tmp_path, 0, "a"), _kept(tmp_path, 1, "b")
    where = str(tmp_path)
    assert find.find_by_name("latest", where).id == second.id
    assert find.find_by_name("previous", where).id == first.id
    assert find.find_by_name(first.id, where).path == first.path
    assert find.find_by_name("2026-01-15-13", where).id == second.id
    assert find.find_by_name(first.id, "/elsewhere").path == first.path
    monkeypatch.chdir(Path(first.path).parent)
    assert find.find_by_name(Path(first.path).name, where).path == first.path
    assert find.find_by_name(f"./{first.id}.md", where).path == first.path


@pytest.mark.requirement("C8")
def test_what_changed_is_told_item_by_item() -> None:
    older = a_document(sections={"Next Steps": ["a", "b", "b"], "Rules": ["r"], "Gone": ["g"]})
    newer = a_document(sections={"New": ["n"], "Next Steps": ["b", "c"], "Rules": ["r"]})
    assert compare(older, newer) == [
        SectionChange("New", ["n"], []),
        SectionChange("Next Steps", ["c"], ["a", "b"]),
        SectionChange("Gone", [], ["g"]),
    ]
    assert compare(older, older) == []
