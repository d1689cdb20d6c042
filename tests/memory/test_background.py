"""What a process that lives does for recall."""

import threading
from pathlib import Path

import pytest

from holdfast.files import lock
from holdfast.memory import engines, sync
from holdfast.memory.locations import index_file, root
from holdfast.memory.recall import recall
from holdfast.wire import places
from tests.memory.transcripts import a_session
from tests.waiting import until


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
    assert engines.open_index(str(tmp_path)).counts().items == 1
    assert "recall" in Path(places.home(), "guard.log").read_text()


@pytest.mark.requirement("X3")
def test_one_process_of_a_machine_makes_vectors_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "LOOK_SECONDS", 0.01)
    looked = threading.Event()

    def projects() -> list[str]:
        looked.set()
        return []

    filler = sync.Filler(projects, wait_seconds=0.0)
    with lock.hold_file(f"{root()}/{sync.LOCK}"):
        filler.start()
        assert not looked.wait(0.1)
    assert looked.wait(20)
    filler.stop(20)


@pytest.mark.slow
@pytest.mark.usefixtures("one_model")
@pytest.mark.requirement("M2", "U5")
def test_the_words_of_every_project_are_read_before_the_first_vector(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("first", "second")]
    for name in names:
        Path(name).mkdir()
        a_session(Path(name), "s1", "the ferry leaves at nine", "Noted, nine.")
    counts: list[tuple[int, int]] = []

    def projects() -> list[str]:
        found = [engines.open_index(name).counts() for name in names]
        counts.append((sum(one.items for one in found), sum(one.vectors for one in found)))
        return names

    sync.Filler(projects).look()
    projects()
    assert counts == [(0, 0), (2, 0), (2, 2)]


@pytest.mark.requirement("U3", "U5")
def test_a_server_takes_in_sessions_at_once_and_makes_vectors_later(tmp_path: Path) -> None:
    a_session(tmp_path, "s1", "the ferry leaves at nine", "Noted, nine.")
    filler = sync.Filler(lambda: [str(tmp_path)], wait_seconds=0.2)
    filler.start()
    until(lambda: engines.open_index(str(tmp_path)).counts().items == 1, sync.LOOK_SECONDS - 5)
    filler.stop(20)
    assert engines.open_index(str(tmp_path)).counts().vectors == 0


@pytest.mark.slow  # it loads the model
@pytest.mark.usefixtures("one_model")
@pytest.mark.requirement("M2")
def test_a_look_takes_in_what_is_new_and_makes_its_vectors(tmp_path: Path) -> None:
    a_session(tmp_path, "s1", "the ferry leaves at nine", "Noted, nine.")
    sync.Filler(lambda: [str(tmp_path)]).look()
    counts = engines.open_index(str(tmp_path)).counts()
    assert (counts.items, counts.vectors) == (1, 1)
    assert recall("boat departure", project=str(tmp_path)).mode == "hybrid"
