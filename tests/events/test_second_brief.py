"""What is owed after a compaction is paid, whatever the reading and the clock say."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from torture.injection import strace

from holdfast.budget.compartments import units
from holdfast.cli.brief import lost
from holdfast.client import sample_payloads
from holdfast.window import audit
from holdfast.window.audit import FREED
from tests.builders import a_boundary, a_prompt, a_summary, a_transcript, an_answer
from tests.events.work import REQUEST, RULE, Work
from tests.hot.hooks import COMMAND, to_model, window

FILES = 200  # far more than one brief holds


@pytest.fixture
def work(tmp_path: Path) -> Work:
    made = Work(tmp_path)
    names = (f"/p/stations/of_the_coast/gauge_number_{number:03}.py" for number in range(FILES))
    made.look_at(31_000, *names)
    return made


def _prompted(work: Work) -> str:
    return to_model(work.hook("UserPromptSubmit", prompt="go on with it"))


@pytest.mark.requirement("B6")
def test_the_next_prompt_pays_in_a_nearly_empty_window(work: Work) -> None:
    _say_much(work)
    work.compact("The user wants the parser to read gauge files.")
    assert "<holdfast-brief" in _prompted(work)
    assert _prompted(work) == ""


@pytest.mark.slow
@pytest.mark.requirement("B6", "C9")
def test_a_compaction_that_was_announced_and_never_came_forgives_no_debt(work: Work) -> None:
    _say_much(work)
    work.compact("The user wants the parser to read gauge files.")
    work.hook("PreCompact", trigger="manual")
    assert "<holdfast-brief" in _prompted(work)


@pytest.mark.slow
@pytest.mark.requirement("B6")
def test_what_was_owed_by_the_last_compaction_ends_with_the_next(work: Work) -> None:
    work.compact("The user wants the parser to read gauge files.")
    work.hook("PreCompact", trigger="auto")
    work.hook("SessionStart", source="compact")
    state = json.loads((window() / "state.json").read_text())
    assert state["second_brief"] == ""


@pytest.mark.slow
@pytest.mark.requirement("B2", "B4")
def test_a_second_compaction_at_once_gives_back_what_the_first_summary_held(work: Work) -> None:
    """The summary in the transcript is the last one's; what the new one holds nobody knows yet."""
    work.compact(f"The user said: {RULE} And: {REQUEST}")
    work.lines.append(an_answer(20_000, id="after"))
    a_transcript(work.path, *work.lines)
    _, given = work.compact("Nothing much.")
    assert RULE in given
    assert REQUEST in given


def _say_much(work: Work) -> list[str]:
    """More than one hook may say to the client; the rule is the second sentence of each."""
    asks = "Please look at the reader of the gauges again, it was slow this morning, number"
    words = [f"{asks} {n}. Rule {n}: pier {n} stays closed at night." for n in range(80)]
    work.lines += map(a_prompt, words)
    work.round(33_000)
    return words


@pytest.mark.requirement("B6", "B11")
def test_words_that_the_first_brief_has_no_room_for_come_with_the_next_prompt(work: Work) -> None:
    words = _say_much(work)
    _, first = work.compact("The gauges were worked on.")
    second = _prompted(work)
    rules = [one.partition(". ")[2] for one in words]
    assert [one for one in rules if one not in first + second] == []
    assert [one for one in rules if one not in first] != []
    assert max(units(first), units(second)) <= 10_000


def _set_back(hours: int) -> None:
    """The clock went back by so much: everything noted now lies in the future."""
    place = window() / "state.json"
    state = json.loads(place.read_text())
    for name in ("at_ms", "checkpoint_ms", "monitor_ms", "compacting_ms", "started_ms"):
        state[name] += hours * 3_600_000
    place.write_text(json.dumps(state))


@pytest.mark.slow
@pytest.mark.requirement("X6", "B6")
def test_a_clock_set_back_does_not_withhold_the_second_brief(work: Work) -> None:
    _say_much(work)
    work.compact("The user wants the parser to read gauge files.")
    _set_back(2)
    assert "<holdfast-brief" in _prompted(work)


@pytest.mark.slow
@pytest.mark.requirement("X6", "G2")
def test_a_clock_set_back_does_not_silence_the_guard(work: Work) -> None:
    work.compact()
    work.lines += [a_boundary(), a_summary(), an_answer(20_000, id="first")]
    a_transcript(work.path, *work.lines)
    work.hook("PostToolUse", tool_use_id="x")
    _set_back(2)
    work.lines.append(an_answer(156_000, id="fuller"))
    a_transcript(work.path, *work.lines)
    before = len(work.checkpoints)
    assert "Holdfast: context window" in to_model(work.hook("PostToolUse", tool_use_id="x"))
    assert len(work.checkpoints) == before + 1, "at urgent one is kept"


@pytest.mark.requirement("B6", "B15")
def test_the_number_of_items_not_found_is_the_same_wherever_it_is_told(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_EMBEDDER", "off")
    for command in ("pytest -q tests/gauges",):
        work.round(40_000, command, "Error: the gauge is broken")
        work.lines[-1]["message"]["content"][0]["is_error"] = True
    work.round(41_000, "make check")
    work.compact("Nothing much.")
    said = work.hook("UserPromptSubmit", prompt="go on with it")["systemMessage"]
    assert said.endswith("; 3 were not found in the summary: holdfast lost")
    shown = CliRunner().invoke(lost, ["--transcript", str(work.path)]).stdout
    assert "3 of 3 items not found in the summary: 2 of your 2 messages" in shown
    told = CliRunner().invoke(lost, ["--transcript", str(work.path), "--json"]).stdout
    kinds = sorted(one["kind"] for one in json.loads(told)["items"])
    assert kinds == ["failing", "request", "request"]
    freed = [one for one in audit.events() if one["event"] == FREED]
    assert freed[-1]["not_found"] == 3


@pytest.mark.slow
@pytest.mark.requirement("B6", "X2")
@pytest.mark.skipif(not strace(), reason="kills the hook with strace")
def test_a_hook_killed_before_it_spoke_leaves_the_brief_to_the_next(work: Work) -> None:
    """Claude Code kills a hook at its time limit, and a loaded machine can make one that slow."""
    _say_much(work)
    work.compact("The user wants the parser to read gauge files.")
    killed = 0
    while _is_killed_at_rename(work, killed + 1):
        killed += 1
        assert "<holdfast-brief" in _prompted(work), f"killed at rename {killed}"
        work.compact("The user wants the parser to read gauge files.")
    assert killed >= 2, "the mark and the state"


def _is_killed_at_rename(work: Work, number: int) -> bool:
    payload = sample_payloads.make_payload(
        "UserPromptSubmit", session_id="s1", transcript=str(work.path), cwd="/p"
    )
    kills = ["-e", "trace=rename", "-e", f"inject=rename:signal=SIGKILL:when={number}"]
    environ = {name: os.environ[name] for name in ("PATH", "HOME", "HOLDFAST_HOME")}
    ran = subprocess.run(
        [strace(), "-f", "-o", "/dev/null", *kills, *COMMAND],
        input=json.dumps(payload).encode(),
        capture_output=True,
        timeout=60,
        check=False,
        env=environ,
    )
    assert (ran.returncode == 0) == bool(ran.stdout)
    return ran.returncode != 0
