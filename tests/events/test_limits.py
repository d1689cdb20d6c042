"""Where the client really compacts, learned from sessions on this machine through real hooks."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.cli.main import holdfast_command
from holdfast.memory.expand import NotFound
from tests.builders import (
    a_boundary,
    a_microcompaction,
    a_result,
    a_summary,
    a_transcript,
    an_answer,
)
from tests.checkpoint.sessions import Session
from tests.hot.hooks import fire

OPUS = "claude-opus-4-5-20251101"


def _in(minutes: float) -> str:
    """A time as the client writes it; the hooks of a test run now."""
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")


def _run(*arguments: str) -> str:
    run = CliRunner().invoke(holdfast_command, arguments)
    assert run.exit_code == 0, run.output
    return run.output


def _status(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_run("status", "--json", *arguments))
    return found


def _compacted(path: Path, session: str, pre: int, *, idle_minutes: float = 0, **own: Any) -> None:
    """A session whose hooks were there when it was compacted at `pre` tokens."""
    fire("SessionStart", path, session=session, source="startup", **own)
    lines = [
        an_answer(118_000, id=f"a{pre}", calls=("t1",), at=_in(0)),
        a_result("t1"),
        {**a_boundary(pre=pre, at=_in(idle_minutes)), "uuid": f"{session}-{pre}"},
        a_summary(),
        an_answer(25_000, id=f"b{pre}", calls=("t2",), at=_in(idle_minutes)),
    ]
    fire("PostToolUse", a_transcript(path, *lines), session=session, tool_use_id="t2", **own)


def _limit_of_another(tmp_path: Path, session: str = "other", **own: Any) -> int:
    other = a_transcript(tmp_path / f"{session}.jsonl", an_answer(50_000))
    fire("PostToolUse", other, session=session, **own)
    found: int = _status(session)["edge_tokens"]
    return found


@pytest.mark.requirement("W3", "W9")
def test_two_agreeing_compactions_move_the_limit_for_other_sessions(tmp_path: Path) -> None:
    _compacted(tmp_path / "s1.jsonl", "s1", 120_000)
    assert _limit_of_another(tmp_path) == 167_000, "one contradicts the table and is not believed"
    _compacted(tmp_path / "s2.jsonl", "s2", 121_000)
    assert _limit_of_another(tmp_path) == 120_000
    words = "learned from 2 compactions of claude-sonnet-4-6 on client 2.1.325"
    assert words in " ".join(_run("status", "other").split())


@pytest.mark.slow
@pytest.mark.requirement("W9", "W10")
def test_an_idle_compaction_teaches_no_limit(tmp_path: Path) -> None:
    for session, pre in (("s1", 120_000), ("s2", 121_000)):
        _compacted(tmp_path / f"{session}.jsonl", session, pre, idle_minutes=54)
    assert _limit_of_another(tmp_path) == 167_000


@pytest.mark.slow
@pytest.mark.requirement("W9")
def test_a_forgotten_limit_is_not_learned_again_from_the_same_compactions(tmp_path: Path) -> None:
    for session, pre in (("s1", 120_000), ("s2", 121_000)):
        _compacted(tmp_path / f"{session}.jsonl", session, pre)
    assert _limit_of_another(tmp_path) == 120_000
    assert "Forgot 2 compactions" in _run("status", "--forget-limits")
    fire("PostToolUse", tmp_path / "s1.jsonl", session="s1", tool_use_id="t2")
    assert _limit_of_another(tmp_path) == 167_000


def _a_session_with_microcompactions(path: Path) -> Path:
    """As the corpus has it: three such lines, and the window goes on beyond each."""
    return a_transcript(
        path,
        an_answer(135_000, id="m1", model=OPUS, version="2.1.17", calls=("t1",)),
        a_microcompaction(21_294, 60_364, cleared=("t1", "t2")),
        an_answer(110_000, id="m2", model=OPUS, version="2.1.17"),
        a_microcompaction(20_134, 56_973, cleared=("t3",)),
        an_answer(126_000, id="m3", model=OPUS, version="2.1.17", calls=("t4",)),
    )


@pytest.mark.requirement("W9")
def test_microcompactions_teach_no_limit_and_are_shown(tmp_path: Path) -> None:
    path = _a_session_with_microcompactions(tmp_path / "s1.jsonl")
    for _ in range(2):
        fire("PostToolUse", path, tool_use_id="t4")
    found = _status("--transcript", str(path))
    assert found["edge_tokens"] == 155_000
    assert found["edge_source"].startswith("model table")
    assert found["microcompactions"] == {
        "count": 2,
        "saved_tokens": 41_428,
        "cleared_tool_use_ids": ["t1", "t2", "t3"],
        "cleared": [],
    }
    assert found["compactions"] == 0
    shown = _run("status", "--transcript", str(path))
    assert "3 tool results, about 41,428 tokens, by 2 microcompactions" in shown
    assert _limit_of_another(tmp_path) == 167_000


@pytest.mark.requirement("W9")
def test_what_was_cleared_is_named_and_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the id of its call, from the transcript: in the window nothing is left of it."""
    monkeypatch.chdir(tmp_path)
    session = Session().user("How does the importer read a mark?")
    session.calls("Read", "def read_mark(): ...", file_path="/work/project/src/importer.py")
    token = "ghp_" + "a1B2" * 9
    session.runs("cat .env", f"TOKEN={token}").works(1)
    session.lines.append(a_microcompaction(21_294, 60_364, cleared=("toolu_msg_1", "toolu_msg_2")))
    path = session.works(1).written(tmp_path)
    fire("PostToolUse", path, cwd=str(tmp_path))
    told = _status("--transcript", str(path))["microcompactions"]["cleared"]
    assert [(one["id"], one["call"]) for one in told] == [
        ("toolu_msg_1", "Read /work/project/src/importer.py"),
        ("toolu_msg_2", "Bash cat .env"),
    ]
    shown = _run("status", "--transcript", str(path))
    assert "toolu_msg_1 Read /work/project/src/importer.py" in shown
    assert "def read_mark(): ..." in _run("expand", "toolu_msg_1")
    given = _run("expand", "toolu_msg_2")
    assert "TOKEN=" in given
    assert token not in given
    gone = CliRunner().invoke(holdfast_command, ["expand", "toolu_nobody"])
    assert isinstance(gone.exception, NotFound)


@pytest.mark.requirement("W9")
def test_what_was_cleared_is_no_fall_in_the_forecast(tmp_path: Path) -> None:
    lines = [
        an_answer(used, id=f"m{used}", calls=(f"t{used}",), at=f"2026-01-01T00:0{n}:00.000Z")
        for n, used in enumerate((100_000, 104_000, 108_000, 92_000))
    ]
    lines.insert(3, a_microcompaction(20_000))
    found = _status("--transcript", str(a_transcript(tmp_path / "t.jsonl", *lines)))
    assert found["velocity_tokens_per_op"] == pytest.approx(4_000, abs=100)
