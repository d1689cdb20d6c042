"""Which transcripts live and changed: nothing is opened, nothing odd is followed."""

import os
from pathlib import Path

import pytest

from holdfast.watcher.watch import LiveTranscripts, Watch
from holdfast.window.live_windows import LIVE_MS
from holdfast.window.state import lock_state
from holdfast.wire import places
from tests.agents.rollouts import SESSION
from tests.watcher.machine import Machine, looked


@pytest.fixture
def transcripts(machine: Machine) -> LiveTranscripts:
    return LiveTranscripts(str(machine.projects))


def _changed(transcripts: LiveTranscripts, machine: Machine, seconds: float = 30) -> list[str]:
    return sorted(
        one.agent_id or one.session_id for one in transcripts.look(machine.after(seconds))
    )


@pytest.mark.requirement("A5")
def test_what_did_not_change_is_not_told_again(
    transcripts: LiveTranscripts, machine: Machine
) -> None:
    first, second = machine.session("s1"), machine.session("s2")
    assert _changed(transcripts, machine) == ["s1", "s2"]
    assert _changed(transcripts, machine) == []
    machine.answer(second, 1_000)
    assert _changed(transcripts, machine) == ["s2"]
    machine.agent(first, "late")
    assert _changed(transcripts, machine) == ["late"]
    machine.session("s3", project="q")
    assert _changed(transcripts, machine) == ["s3"]


@pytest.mark.requirement("A5")
def test_a_backup_restored_now_makes_no_session_live(
    transcripts: LiveTranscripts, machine: Machine
) -> None:
    old, odd = machine.session("old"), machine.session("no times")
    odd.write_text("{}\n")
    machine.after(LIVE_MS / 1000 + 1)
    for path in (old, odd):
        machine.date(path)
    assert _changed(transcripts, machine) == ["no times"]
    machine.answer(old, 1_000)
    assert _changed(transcripts, machine) == ["old"]


@pytest.mark.requirement("A5", "X7")
def test_pipes_links_and_loops_are_left_alone(
    transcripts: LiveTranscripts, machine: Machine
) -> None:
    path = machine.session("s1")
    folder = path.parent
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to(path)
    (folder / "loop.jsonl").symlink_to("loop.jsonl")
    (folder / "round").symlink_to(folder)
    (machine.projects / "all").symlink_to(machine.projects)
    (folder / "s1").mkdir()
    (folder / "s1" / "subagents").symlink_to(folder)
    (folder / "s2").symlink_to(folder)
    for _ in range(3):
        machine.answer(path, 3_000)
        assert _changed(transcripts, machine) == ["s1"]


@pytest.mark.requirement("A5", "X6")
def test_a_clock_that_jumps_loses_no_session(
    transcripts: LiveTranscripts, machine: Machine
) -> None:
    path = machine.session("s1")
    _changed(transcripts, machine)
    machine.after(-7 * 86_400)
    machine.answer(path, 3_000)
    assert _changed(transcripts, machine) == ["s1"]
    machine.after(14 * 86_400)
    machine.answer(path, 4_000)
    assert _changed(transcripts, machine) == ["s1"]


@pytest.mark.requirement("A5")
def test_a_transcript_elsewhere_is_watched_once_its_hooks_reported(
    watch: Watch, machine: Machine, tmp_path: Path
) -> None:
    path = tmp_path / "s9.jsonl"
    with lock_state(places.window("s9")) as state:
        state.session_id, state.transcript = "s9", str(path)
    assert looked(watch, machine) == [], "a command made the window, for a file"
    with lock_state(places.window("s9")) as state:
        state.started_ms = machine.now_ms
    assert looked(watch, machine) == [], "its first hooks run before there is a file"
    path.touch()
    machine.agent(machine.answer(path, 5_000, cwd=str(tmp_path)), "a1")
    assert looked(watch, machine) == ["agent-a1", "s9"]


@pytest.mark.requirement("U12")
def test_another_agents_transcript_is_that_of_the_session_its_hooks_reported(
    watch: Watch, machine: Machine, tmp_path: Path
) -> None:
    path = tmp_path / f"rollout-2026-11-19T06-00-00-{SESSION}.jsonl"
    path.touch()
    with lock_state(places.window(SESSION)) as state:
        state.session_id, state.transcript = SESSION, str(path)
        state.started_ms = machine.now_ms
    assert [one.session_id for one in watch.look(machine.after(30))] == [SESSION]
