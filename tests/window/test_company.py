"""Who else is at work, told without reading what is long over."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from holdfast.settings.load import load
from holdfast.window import company
from holdfast.window import state as states
from holdfast.window.state import State
from holdfast.wire import places

NOW_MS = int(time.time() * 1000)


def _window(session: str, at_ms: int = NOW_MS) -> Path:
    folder = places.window(session)
    Path(folder).mkdir(parents=True)
    given = {"session_id": session, "project": "/p", "used_tokens": 10, "edge_tokens": 100}
    states.save(folder, State(**given, at_ms=at_ms))
    return Path(folder, "state.json")


@pytest.mark.requirement("G10")
def test_states_that_were_not_written_for_long_are_not_even_read() -> None:
    _window("near")
    old = _window("old")
    old.write_bytes(b"were it read, the log would say so")
    aged = (NOW_MS - company.LIVE_MS - 60_000) * 1_000_000
    os.utime(old, ns=(aged, aged))
    found = company.of(State(session_id="me", project="/p"), load(), NOW_MS)
    assert [one["session_id"] for one in found] == ["near"]
    assert not Path(places.home(), "guard.log").exists()


@pytest.mark.requirement("G10")
def test_one_that_says_itself_that_it_is_silent_is_no_company() -> None:
    _window("silent", at_ms=NOW_MS - company.LIVE_MS)
    assert company.of(State(session_id="me", project="/p"), load(), NOW_MS) == []
