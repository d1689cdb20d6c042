"""What a process that lives does for recall."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from holdfast.files import lock
from holdfast.memory import sync
from holdfast.memory.locations import index_file, root
from holdfast.memory.recall import recall
from holdfast.memory.sync import index_status
from holdfast.wire import places
from tests.memory.transcripts import a_session


@pytest.mark.requirement("M2")
def test_one_project_that_cannot_be_indexed_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    a_session(tmp_path, "s1", "the ferry leaves at nine", "Noted, nine.")
    bad = tmp_path / "bad"
    bad.mkdir()
    Path(index_file(str(bad))).mkdir(parents=True)  # a folder where a file should be
    sync.Filler(lambda: [str(bad), str(tmp_path)]).look()
    assert index_status(str(tmp_path)).items == 1
    assert "recall" in Path(places.home(), "guard.log").read_text()


@pytest.mark.requirement("X3")
def test_one_process_of_a_machine_makes_vectors_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "LOOK_SECONDS", 0.01)
    looked = threading.Event()

    def projects() -> list[str]:
        looked.set()
        return []

    filler = sync.Filler(projects)
    with lock.hold_file(f"{root()}/{sync.LOCK}"):
        filler.start()
        assert not looked.wait(0.1)
    assert looked.wait(20)
    filler.stop(20)


@pytest.mark.slow  # it loads the model
@pytest.mark.usefixtures("one_model")
@pytest.mark.requirement("M2")
def test_a_look_takes_in_what_is_new_and_makes_its_vectors(tmp_path: Path) -> None:
    a_session(tmp_path, "s1", "the ferry leaves at nine", "Noted, nine.")
    sync.Filler(lambda: [str(tmp_path)]).look()
    told = index_status(str(tmp_path))
    assert (told.items, told.vectors, told.missing_vectors) == (1, 1, 0)
    assert recall("boat departure", project=str(tmp_path)).mode == "hybrid"
