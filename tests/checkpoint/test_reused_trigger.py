"""What a window notes of its last checkpoint is what the file says of itself."""

from pathlib import Path

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.session import take_checkpoint
from holdfast.window.state import State
from holdfast.wire import places
from tests.transcript import builders as b

NOW_MS = 1_780_000_000_000


@pytest.mark.requirement("C4", "U3")
def test_a_checkpoint_that_stands_keeps_the_trigger_it_was_taken_by(tmp_path: Path) -> None:
    transcript = b.written(tmp_path, b.prompt("Write the parser."))
    state = State(session_id="s1", transcript=str(transcript), project=str(tmp_path))
    folder = places.window("s1")
    first = take_checkpoint.take(state, folder, "manual", NOW_MS)
    again = take_checkpoint.take(state, folder, "auto", NOW_MS + 60_000)
    assert first is not None and again is not None
    assert (again.path, again.reused) == (first.path, True)
    kept = verify(state.checkpoint_path).document
    assert kept is not None
    assert state.checkpoint_trigger == kept.trigger == "manual"
    assert state.checkpoint_ms == NOW_MS + 60_000
