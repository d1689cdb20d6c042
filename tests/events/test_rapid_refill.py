"""A window that fills again at once: one alert says so, before the client gives up."""

from pathlib import Path
from typing import Any

import pytest

from tests.checkpoint.sessions import Session
from tests.hot.hooks import fire, to_model

LARGE = "one row of the export\n" * 15_000
ALARM = "compacted twice within 3 steps; a third time may end the turn"


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
