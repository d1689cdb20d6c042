"""What the hook loads, and that it stays asleep while nothing happens."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.client import sample_payloads
from holdfast.wire import mark, spool
from tests.builders import a_transcript, an_answer
from tests.hot.hooks import COMMAND, fire, to_model, window

SRC = Path(holdfast.__file__).parent.parent
# `os` brings the rest of the first line; `__future__` is one docstring.
ALLOWED = {"os", "os.path", "stat", "abc", "posixpath", "genericpath", "codecs", "io", "ntpath"} | {
    "__future__",
    "errno",  # built in; `os` brings it from Python 3.14 on
    "time",
}


@pytest.mark.requirement("X2")
def test_importing_the_hook_loads_only_the_allowlist() -> None:
    code = (
        f"import sys; had = set(sys.modules); sys.path.insert(0, {str(SRC)!r})\n"
        "import holdfast.hook.entry; print(*set(sys.modules) - had)"
    )
    run = subprocess.run([sys.executable, "-ISc", code], capture_output=True, text=True, check=True)
    grew = {m for m in run.stdout.split() if not m.startswith(("_", "holdfast"))} - ALLOWED
    assert not grew, f"the hot ring now loads {sorted(grew)}"
    ours = {m for m in run.stdout.split() if m.startswith("holdfast.")}
    assert {m.split(".")[1] for m in ours} == {"hook", "wire"}


def _armed(above: int, **fields: int) -> None:
    window().mkdir(parents=True)
    mark.arm(str(window()), mark.Mark(above=above, **fields))


@pytest.mark.requirement("X2", "W8")
@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"])
def test_below_the_mark_a_hook_leaves_one_line_and_nothing_else(tmp_path: Path, event: str) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000))
    _armed(60_000)
    assert fire(event, path) == {}
    assert [child.name for child in sorted(window().iterdir())] == ["mark", "spool"]
    [line] = spool.lines(str(window()))
    assert line.event == event
    assert 50_000 <= line.used < 50_100


@pytest.mark.requirement("X2")
@pytest.mark.parametrize(
    ("armed", "woken"),
    [
        ({"above": 60_000}, False),
        ({"above": 50_000}, True),
        ({"above": 60_000, "below": 55_000}, True),
        ({"above": 60_000, "spool_bytes": 10}, True),
        ({"above": 60_000, "time_ms": 1}, True),
    ],
)
def test_a_crossed_mark_wakes_the_rest(tmp_path: Path, armed: dict[str, int], woken: bool) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000))
    _armed(**armed)
    fire("PostToolUse", path)
    assert (window() / "state.json").exists() is woken


@pytest.mark.requirement("W1")
def test_the_result_of_this_call_is_taken_from_the_payload(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000, calls=("t9",)))
    _armed(150_000)
    response = {"stdout": "x" * 10_500, "stderr": "", "interrupted": False, "isImage": False}
    fire("PostToolUse", path, tool_use_id="t9", tool_response=response)
    assert spool.lines(str(window()))[-1].used == pytest.approx(53_000, abs=20)


@pytest.mark.requirement("W1")
def test_results_of_parallel_calls_add_up_before_any_is_written(tmp_path: Path) -> None:
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000, calls=("t1", "t2", "t3")))
    _armed(150_000)
    for call in ("t1", "t2", "t3"):
        fire("PostToolUse", path, tool_use_id=call, tool_response={"stdout": "x" * 10_500})
    readings = [line.used for line in spool.lines(str(window()))]
    assert readings == [pytest.approx(n, abs=60) for n in (53_000, 56_000, 59_000)]


@pytest.mark.requirement("W5")
def test_a_subagent_s_call_is_read_from_its_own_file_into_its_own_window(tmp_path: Path) -> None:
    main = a_transcript(tmp_path / "s1.jsonl", an_answer(150_000))
    a_transcript(tmp_path / "s1" / "subagents" / "agent-a1.jsonl", an_answer(9_000, sidechain=True))
    fire("PostToolUse", main, agent_id="a1", agent_type="general-purpose")
    assert spool.lines(str(window(agent="a1")))[-1].used < 10_000
    assert not window().exists()


@pytest.mark.slow
@pytest.mark.requirement("X2")
def test_parallel_hooks_never_mix_their_lines(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    path = a_transcript(tmp_path / "t.jsonl", an_answer(150_000))
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda n: fire("PostToolUse", path, tool_use_id=f"t{n}"), range(16)))
    assert len(spool.lines(str(window()))) == 16
    assert len([one for one in said if to_model(one)]) == 1, "an alert is said once"


@pytest.mark.requirement("W1")
def test_an_answer_written_a_moment_late_is_waited_for(tmp_path: Path) -> None:
    """The client starts the hook of a quick tool before it has written the answer."""
    path = a_transcript(tmp_path / "t.jsonl", an_answer(50_000, calls=("t1",)))
    _armed(150_000)
    late = json.dumps(an_answer(60_000, calls=("t2",))) + "\n"

    def write_late() -> None:
        with path.open("a") as file:
            file.write(late)

    path.touch()  # being written just now
    timer = threading.Timer(0.06, write_late)
    timer.start()
    fire("PostToolUse", path, tool_use_id="t2")
    timer.join()
    assert spool.lines(str(window()))[-1].used == pytest.approx(60_000, abs=30)


# msgspec itself brings decimal, uuid and the like: 8 ms, which nobody sees beside a summary.
HEAVY = {"click", "rich", "yaml", "sqlite3", "asyncio", "logging", "statistics", "argparse"} | {
    *("dataclasses", "gzip", "pathlib")
}


@pytest.mark.slow
@pytest.mark.requirement("B9", "C11")
@pytest.mark.parametrize(
    ("event", "own"), [("PreCompact", {}), ("SessionStart", {"source": "compact"})]
)
def test_saving_and_giving_back_load_nothing_heavy(
    tmp_path: Path, event: str, own: dict[str, str]
) -> None:
    """Their speed is in the benchmarks; here, by module names, that nobody makes them slow."""
    path = a_transcript(tmp_path / "t.jsonl", an_answer(150_000))
    sent = (
        sample_payloads.make_payload(
            event, session_id="s1", transcript=str(path), cwd=str(tmp_path)
        )
        | own
    )
    loaded = _loaded_by(COMMAND, sent)
    assert "msgspec" in loaded, "the test sees what is loaded"
    assert sorted(loaded & HEAVY) == []
    assert ("holdfast.brief.compose" in loaded) == (event != "PreCompact")


def _loaded_by(command: list[str], sent: dict[str, Any]) -> set[str]:
    """The names of all modules a hook loads."""
    command = [command[0], "-X", "importtime", *command[1:]]
    run = subprocess.run(command, input=json.dumps(sent).encode(), capture_output=True, check=True)
    return {line.rpartition("|")[2].strip() for line in run.stderr.decode().split("\n")}
