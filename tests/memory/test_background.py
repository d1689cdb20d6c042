"""What a process that lives does for recall."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.memory import background
from holdfast.memory.locations import index_file
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
    background.Filler(lambda: [str(bad), str(tmp_path)]).look()
    assert index_status(str(tmp_path)).items == 1
    assert "recall" in Path(places.home(), "guard.log").read_text()


@pytest.mark.requirement("X3")
def test_one_process_of_a_machine_makes_vectors_at_a_time() -> None:
    first = background._take_lock()
    assert first >= 0
    assert background._take_lock() == -1
    os.close(first)
    second = background._take_lock()
    assert second >= 0
    os.close(second)
