"""Each event once as Claude Code starts it: a process of its own, with nothing imported before."""

import json
import re
from pathlib import Path

import pytest

from holdfast.client.sample_payloads import EVENTS, make_payload
from tests.builders import EDGE, a_prompt, a_transcript, an_answer
from tests.hot.hooks import run

pytestmark = pytest.mark.slow  # each is a process
RULE = "Always run `make check` before you commit."


@pytest.mark.requirement("X1", "C4")
@pytest.mark.parametrize("event", EVENTS)
def test_a_started_hook_says_and_writes_what_a_forked_one_does(
    event: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = {"started": True, "forked": False}
    for way in ways:
        (tmp_path / way).mkdir()
    found = [
        _fired(event, tmp_path / way, started=is_started, patch=monkeypatch)
        for way, is_started in ways.items()
    ]
    assert found[0] == found[1]


def _fired(
    event: str, folder: Path, *, started: bool, patch: pytest.MonkeyPatch
) -> tuple[str, list[str]]:
    """What the hook said and which files it wrote, without the time of day and the folder."""
    patch.setenv("HOLDFAST_HOME", str(folder / ".holdfast"))
    lines = a_prompt(RULE), an_answer(int(EDGE * 0.97))
    transcript = a_transcript(folder / "s1.jsonl", *lines)
    payload = make_payload(event, session_id="s1", transcript=str(transcript), cwd=str(folder))
    own = {"source": "compact"} if event == "SessionStart" else {}
    ran = run(json.dumps(payload | own).encode(), started=started)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return _plain(ran.stdout.decode(), folder), sorted(
        _plain(str(path), folder) for path in folder.rglob("*")
    )


def _plain(text: str, folder: Path) -> str:
    return re.sub(r"\d+", "0", re.sub(rf"{folder}|{folder.name}-\w+", "", text))
