"""From one session to the next, where no hook of ours ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief.compose import DEFAULT_TOKENS
from holdfast.client.settings_files import claude_folder
from holdfast.record import model as known
from holdfast.run import prompt
from holdfast.wire import log, places
from tests.builders import a_prompt, a_transcript, an_answer


@pytest.mark.requirement("P5")
def test_what_was_read_of_a_session_without_hooks_is_remembered() -> None:
    path = claude_folder(Path.home()) / "projects" / "-p" / "s1.jsonl"
    a_transcript(path, {**a_prompt("Draw the chart of the harbour."), "cwd": "/p"}, an_answer(100))
    assert "Draw the chart" in prompt.compose_brief("s1", DEFAULT_TOKENS)
    kept = Path(places.window("s1")) / "record.json"
    assert known.load(kept.read_bytes()) is not None
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    told = Path(log.path())
    assert not told.exists() or "not remembered" not in told.read_text(encoding="utf-8")
