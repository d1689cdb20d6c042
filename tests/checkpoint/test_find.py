"""Finding the checkpoint that is meant, and where it comes from."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.checkpoint import find, index
from holdfast.checkpoint.errors import NoCheckpoint, UnclearCheckpoint
from holdfast.checkpoint.lineage import SectionChange, compare, trace
from holdfast.checkpoint.write import SavedCheckpoint, keep
from tests.checkpoint.documents import NOON, a_document, an_entry

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


def test_what_cannot_be_found_is_said_in_words(tmp_path: Path) -> None:
    where = str(tmp_path)
    for word in ("latest", "previous", "2020", "gone.md", ""):
        with pytest.raises(NoCheckpoint):
            find.find_by_name(word, where)
    _kept(tmp_path, 0, "a")
    with pytest.raises(NoCheckpoint, match="only checkpoint"):
        find.find_by_name("previous", where)
    _kept(tmp_path, 1, "b")
    with pytest.raises(UnclearCheckpoint, match="matches 2 checkpoints"):
        find.find_by_name("2026-01-15", where)
    for number in range(2, 7):
        _kept(tmp_path, number, f"c{number}")
    with pytest.raises(UnclearCheckpoint, match=r"matches 7 checkpoints:\n(  /.*\n){5}  … 2 more$"):
        find.find_by_name("2026-01-15", where)


@pytest.mark.requirement("C8")
def test_a_line_goes_back_to_the_first_that_is_left_of_the_window() -> None:
    first = an_entry(3, id="a", iteration=1)
    third = an_entry(1, id="c", iteration=3, parent="b")
    stranger = an_entry(2, id="b", iteration=2, project="/q")
    agents = an_entry(2, id="d", iteration=2, agent_id="a1")
    assert trace(third, [stranger, first, agents, third]) == [third, first]


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
