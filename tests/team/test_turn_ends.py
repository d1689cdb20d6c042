"""What happened in a turn is at the server when the turn is over, and no hook waited for it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import actions
from holdfast.wire import mark
from tests.api.live import TOKEN, in_thread, until
from tests.builders import a_transcript, an_answer
from tests.hot.hooks import fire, window

pytestmark = pytest.mark.requirement("S4")


@pytest.fixture
def team(store: Store) -> Iterator[dict[str, str]]:
    with in_thread(store) as live:
        yield {"HOLDFAST_SERVER": f"http://127.0.0.1:{live.port}", "HOLDFAST_SERVER_TOKEN": TOKEN}


def _calls(store: Store) -> int:
    query = sa.select(sa.func.count()).select_from(actions)
    return int(store.read(lambda c: c.scalar(query)) or 0)


def _worked(folder: Path, team: dict[str, str]) -> Path:
    """A session whose mark is armed and far away, with two calls that woke nobody."""
    path = a_transcript(folder / "t.jsonl", an_answer(50_000, calls=("t1", "t2", "t3")))
    fire("SessionStart", path, environ=team, source="startup")
    armed = mark.load(str(window()))
    assert armed is not None
    assert armed.owed == mark.OWED_TO_SERVER
    armed.above = 100_000
    mark.arm(str(window()), armed)
    for call in ("t1", "t2"):
        _touch_health()
        fire("PostToolUse", path, environ=team, tool_use_id=call, tool_name="Read")
    return path


def _touch_health(age: float = 0.0) -> None:
    path = Path(os.environ["HOLDFAST_HOME"], "server.json")
    path.touch()
    os.utime(path, (path.stat().st_mtime - age,) * 2)


@pytest.mark.parametrize("event", ["Stop", "SessionEnd"])
def test_at_the_end_of_a_turn_the_server_knows_all_of_it(
    tmp_path: Path, store: Store, team: dict[str, str], event: str
) -> None:
    path = _worked(tmp_path, team)
    assert _calls(store) == 0, "nothing woke"
    assert fire(event, path, environ=team) == {}
    until(lambda: _calls(store) == 2)


def test_during_a_long_turn_the_server_hears_of_it_each_minute(
    tmp_path: Path, store: Store, team: dict[str, str]
) -> None:
    path = _worked(tmp_path, team)
    _touch_health(age=3_600)
    fire("PostToolUse", path, environ=team, tool_use_id="t3", tool_name="Read")
    until(lambda: _calls(store) == 3)
