"""Sending continues past a foreign server that says yes, a clock that jumped, and an unreadable
window.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from holdfast.hub import row_times
from holdfast.hub.ingest import gather
from holdfast.hub.team import connection
from holdfast.hub.team import forward as forwarding
from holdfast.hub.team.connection import TeamServer
from holdfast.hub.team.forward import LocalSource, forward
from holdfast.wire import log
from tests.builders import a_transcript, an_answer
from tests.hot.hooks import fire
from tests.team.fakes import Source
from tests.team.strangers import answering

pytestmark = pytest.mark.requirement("S4")
PORTAL = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
DAY = 86_400


@pytest.mark.parametrize(
    "body", [b"<html>Log in to the WiFi</html>", b"", b"[]", b"{}", b'{"position": {"at": 7}}']
)
def test_a_yes_that_is_no_intake_s_means_not_sent(body: bytes) -> None:
    """A captive portal says 200 to everything: believed, a session that ended was never sent."""
    with answering(PORTAL + body) as server:
        done = forward(server, Source({"a": [0, 1, 2]}))
    assert (done.batches, done.whole) == (0, False)
    assert "not as an intake does" in done.words
    assert connection.health(server.url).is_down(row_times.now_ms())


def test_a_window_is_quiet_once_all_of_it_was_sent(server: TeamServer) -> None:
    """After the clock was set back, its note is of a year that has not come: it is not."""
    now = time.time()
    for name, whole_s, sent in (("a", now, 0), ("b", now + 365 * DAY, 1), ("c", 0.0, 1)):
        forwarding.save_positions(name, forwarding.SentPositions(server.url, whole_s=whole_s))
        assert forward(server, Touched({name: [0]}), seconds=9).batches == sent


class Touched(Source):
    def modified_at(self, source: str) -> float | None:
        return row_times.now_ms() / 1000 - DAY


def test_a_new_server_is_told_of_windows_that_are_quiet_by_now(server: TeamServer) -> None:
    """What the server before it was sent, this one has not."""
    told = Touched({"a": [0, 1, 2]})
    with answering(PORTAL + b'{"position": {"at": 3}}') as before:
        assert forward(before, told, seconds=9).whole
        assert forward(before, told, seconds=9).batches == 0
    assert forward(server, told, seconds=9).batches == 1


@dataclass
class OneIsBroken(Source):
    error: Exception = field(default_factory=Exception)

    def gather(self, source: str, position: dict[str, Any]) -> Any:
        if source == "broken":
            raise self.error
        return Source.gather(self, source, position)


@pytest.mark.parametrize("error", [PermissionError(13, "denied"), KeyError("x"), ValueError("x")])
def test_one_that_cannot_be_read_holds_up_no_other(server: TeamServer, error: Exception) -> None:
    done = forward(server, OneIsBroken({"broken": [0], "z": [0]}, error))
    assert (done.batches, done.whole) == (1, False)
    assert done.words == f"broken was not read: {error}"
    assert "broken was not read" in Path(log.path()).read_text()


def test_two_machines_with_one_session_are_two_sources(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home that was copied: sharing one position, each would skip what the other had sent."""
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000))
    fire("PostToolUse", path)
    named: list[set[str]] = []
    for machine in ("one", "two"):
        monkeypatch.setattr(gather, "machine", lambda name=machine: name)
        named.append(_names(LocalSource()))
    assert not named[0] & named[1]
    assert any("s1" in name for name in named[0])


def _names(here: LocalSource) -> set[str]:
    found: Sequence[str] = here.sources()
    batches = [here.gather(source, {}) for source in found]
    return {batch.source for batch in batches if batch is not None}
