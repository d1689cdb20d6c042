"""A window that fills again at once: one alert says with what, before the client gives up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import an_answer
from tests.checkpoint.sessions import Session
from tests.hot.hooks import fire, to_model
from tests.transcript import builders as b

LARGE = "one row of the export\n" * 15_000
ALARM = "compacted twice within 3 steps; at the third, Claude Code ends the turn"


def _compact(session: Session, folder: Path, trigger: str = "auto") -> dict[str, Any]:
    """What the hooks around one compaction say; the boundary comes behind them."""
    path = session.written(folder)
    fire("PreCompact", path, trigger=trigger)
    said = fire("SessionStart", path, source="compact")
    session.compacts()
    fire("PostCompact", session.written(folder), trigger=trigger, compact_summary="All is well.")
    return said


def _reads_all(session: Session) -> Session:
    return session.calls("Read", LARGE, file_path="/work/project/data/export.csv").works(1)


@pytest.mark.requirement("B6", "G2")
def test_the_second_compaction_within_three_steps_raises_one_alarm(tmp_path: Path) -> None:
    session = Session().user("Sum up the export.").works(30)
    assert ALARM not in to_model(_compact(session, tmp_path))
    second = _compact(_reads_all(session), tmp_path)
    assert f"Window 3: {ALARM}." in to_model(second)
    assert "the result of Read data/export.csv, about 94,000" in to_model(second)
    assert second["systemMessage"].startswith(f"Holdfast: Window 3: {ALARM}.")
    assert len(second["systemMessage"]) <= 3.5 * 60 + len("Holdfast: ")
    third = _compact(_reads_all(session), tmp_path)
    assert ALARM not in to_model(third)
    assert "systemMessage" not in third


@pytest.mark.requirement("B6", "G2")
def test_it_is_raised_again_after_a_window_that_lasted(tmp_path: Path) -> None:
    session = Session().user("Sum up the export.").works(30)
    _compact(session, tmp_path)
    assert ALARM in to_model(_compact(_reads_all(session), tmp_path))
    assert ALARM not in to_model(_compact(session.works(20), tmp_path))
    assert ALARM in to_model(_compact(_reads_all(session), tmp_path))


@pytest.mark.requirement("B6", "G2")
def test_fixed_content_is_told_where_it_is_the_largest_part(tmp_path: Path) -> None:
    session = Session().user("Sum up the export.").works(30)
    _compact(session, tmp_path)
    session.lines.append(an_answer(130_000, id="msg_full"))
    said = to_model(_compact(session, tmp_path))
    assert "Largest part: system prompt, tools, memory files, about 130,000" in said


@pytest.mark.requirement("B6", "G2")
def test_many_results_are_told_together_where_none_is_the_most_of_them(tmp_path: Path) -> None:
    session = Session().user("Sum up the exports.").works(30)
    _compact(session, tmp_path)
    uses = [b.tool_use("Read", f"toolu_x{n}", file_path=f"/work/{n}.csv") for n in range(5)]
    session.lines.append(b.answer("msg_x", *uses))
    for n in range(5):
        session.lines.append(b.result(b.tool_result(LARGE[: len(LARGE) // 5], f"toolu_x{n}")))
    said = to_model(_compact(session, tmp_path))
    assert "Largest part: the results of 5 calls, about 94,000" in said


@pytest.mark.requirement("B6")
def test_a_compaction_that_the_user_asked_for_is_no_alarm(tmp_path: Path) -> None:
    session = Session().user("Sum up the export.").works(30)
    _compact(session, tmp_path)
    said = _compact(_reads_all(session), tmp_path, "manual")
    assert ALARM not in json.dumps(said)


@pytest.mark.requirement("B6", "X4")
def test_a_secret_in_the_call_is_not_told(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    session = Session().user("Sum up the export.").works(30)
    _compact(session, tmp_path)
    session.lines.append(
        b.answer("msg_x", b.tool_use("Bash", "toolu_x", command=f"download {token}"))
    )
    session.lines.append(b.result(b.tool_result(LARGE, "toolu_x")))
    said = json.dumps(_compact(session.works(1), tmp_path))
    assert ALARM in said
    assert token[:20] not in said
