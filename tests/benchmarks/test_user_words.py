"""Sessions with what was typed in them are measured: a text that is lost or foreign is counted."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.user_words import judge, session_rows

from tests.checkpoint.sessions import Session


def _session(folder: Path, **expected: list[str]) -> Path:
    path = Session().user("chart the reef at low tide").says("The reef is charted.").written(folder)
    wanted = {"typed": [], "not_typed": [], **expected}
    path.with_suffix(".expected.json").write_text(json.dumps(wanted))
    return path


def test_words_that_are_kept_and_words_of_others_count_as_nothing(tmp_path: Path) -> None:
    path = _session(tmp_path, typed=[" chart the reef "], not_typed=["The reef is charted"])
    found = judge(path)
    assert (found.typed, found.lost, found.lost_in_brief, found.wrong) == (1, [], [], [])


def test_a_lost_text_and_a_foreign_phrase_are_counted(tmp_path: Path) -> None:
    _session(tmp_path, typed=["sound the lagoon"], not_typed=["at low tide"])
    figures = [figure for _, figure, _ in session_rows(tmp_path)]
    assert figures == ["1 of 1", "0 of 1", "1 of 1", "1"]
