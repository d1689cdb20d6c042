"""If a brief cannot be made after a compaction, model and user are told so, and where the words
are."""

import json
from pathlib import Path

import pytest

from holdfast.events import session_start
from holdfast.hook.observation import Moment
from holdfast.session import window_brief
from holdfast.window.state import lock_state
from holdfast.wire import log

pytestmark = pytest.mark.requirement("B2", "X3")


def _tell(source: str, folder: Path) -> str:
    payload = {
        "hook_event_name": "SessionStart",
        "session_id": "s1",
        "source": source,
        "transcript_path": str(folder / "s1.jsonl"),
    }
    return session_start.tell(Moment(payload, 1_780_000_000_000))


def test_model_and_user_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("no reason")

    (tmp_path / "s1.jsonl").touch()
    saved = tmp_path / "one.md"
    saved.touch()
    monkeypatch.setattr(window_brief, "compose_brief", fails)
    moment = Moment({"hook_event_name": "SessionStart", "session_id": "s1"}, 1_780_000_000_000)
    with lock_state(moment.folder) as state:
        state.checkpoint_path = str(saved)
        state.restored = {"said": 2}
    before = Path(moment.folder, "brief.txt")
    before.write_text("the brief of the compaction before")
    said = json.loads(_tell("compact", tmp_path))
    to_model = said["hookSpecificOutput"]["additionalContext"]
    assert "could not be restored" in to_model and str(saved) in to_model
    assert not before.exists(), "the second brief would leave out what stands in it"
    with lock_state(moment.folder) as state:
        assert state.restored == {}
    assert "holdfast doctor" in said["systemMessage"]
    assert "nothing was restored: no reason" in Path(log.path()).read_text()
