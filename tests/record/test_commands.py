"""The line as typed is the key, the client's mark decides, and what came after is quoted."""

from pathlib import Path

import pytest

from holdfast.record import commands
from holdfast.record.model import Record, load, save
from tests.checkpoint.sessions import Session

SAID = "Exit code 1\nE  ValueError: no such tide"


def is_closed(failed: str, passed: str, folder: Path) -> bool:
    session = Session().user("Go.").runs(failed, SAID, fails=True).runs(passed, "fine")
    return not commands.failing(session.record(folder))


@pytest.mark.requirement("B13")
@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("pytest -q 2>&1 | tail -3", "pytest -q 2>&1 | tail -3"),
        ("pytest tests/test_tide.py::test_ebb", "pytest"),
        ("pytest -x tests/test_tide.py", "pytest tests/ -q"),
        ("cd web && npm test -- ebb", "(cd web && npm test)"),
    ],
)
def test_the_same_program_with_no_narrower_target_closes_a_failure(
    failed: str, passed: str, tmp_path: Path
) -> None:
    assert is_closed(failed, passed, tmp_path)


@pytest.mark.requirement("B13")
@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("pytest", "pytest tests/test_tide.py"),
        ("pytest", "pytest 2>&1 | tail -3"),
        ("DB=test pytest", "pytest"),
        ("cd web && npm test", "cd api && npm test"),
        ("python - <<'A'\nimport tide\nA", "python - <<'A'\nprint(1)\nA"),
    ],
)
def test_a_narrower_hidden_or_other_run_closes_nothing(
    failed: str, passed: str, tmp_path: Path
) -> None:
    assert not is_closed(failed, passed, tmp_path)


@pytest.mark.requirement("B13")
def test_what_came_after_a_failure_is_counted_and_quoted(tmp_path: Path) -> None:
    session = Session().user("Mend the tide.").runs("pytest tests", SAID, fails=True)
    session.edits("/work/project/tide.py").edits("/work/project/ebb.py")
    record = session.runs("pytest tests 2>&1 | tail -1", "5 passed").record(tmp_path)
    [(line, failed)] = commands.failing(record)
    told = commands.describe(record, line, failed, 1)
    assert told == (
        "`pytest tests` (since turn 1, 2 edits since"
        "; `pytest tests 2>&1 | tail -1` printed at step 4: 5 passed): E ValueError: no such tide"
    )
    assert record.commands["pytest tests 2>&1 | tail -1"].printed == "5 passed"


def test_a_failure_remembers_its_first_run_in_a_row(tmp_path: Path) -> None:
    session = Session().runs("make", SAID, fails=True).works(3).runs("make", SAID, fails=True)
    [(_, failed)] = commands.failing(session.record(tmp_path))
    assert (failed.first.op, failed.place.op) == (1, 5)
    assert not commands.failing(session.runs("make", "fine").record(tmp_path))


def test_failing_commands_survive_many_others_and_a_reload(tmp_path: Path) -> None:
    session = Session().runs("make deploy", OUTPUTS["rustc"], fails=True)
    for number in range(2 * commands.MOST_COMMANDS + 2):
        session.runs(f"ls folder{number}")
    record = load(save(session.record(tmp_path)))
    assert isinstance(record, Record)
    assert [line for line, _ in commands.failing(record)] == ["make deploy"]
    assert len(record.commands) <= 2 * commands.MOST_COMMANDS


OUTPUTS = {
    "rustc": """
   Compiling tide v0.1.0
error[E0502]: cannot borrow `self.ebb` as mutable
   --> src/tide.rs:395:9
    |
395 |     self.ebb.push(1);
    |     ^^^^^^^^

error: could not compile `tide` (lib) due to 1 previous error
""",
    "python": """
Traceback (most recent call last):
  File "run.py", line 3, in <module>
    main()
  File "tide/ebb.py", line 44, in main
    raise ValueError(level)
ValueError: level 12 is below the gauge
""",
    "pytest": """
..F.
=========== FAILURES ===========
____ test_ebb ____

    def test_ebb():
>       assert ebb(3) == 4
E       assert 3 == 4

tests/test_tide.py:12: AssertionError
======= short test summary info =======
FAILED tests/test_tide.py::test_ebb - assert 3 == 4
1 failed, 3 passed in 0.4s
""",
}
KEYS = {
    "rustc": ("cannot borrow `self.ebb`", "src/tide.rs:395"),
    "python": ("level 12 is below the gauge", 'File "tide/ebb.py", line 44'),
    "pytest": ("assert 3 == 4", "tests/test_tide.py"),
}


@pytest.mark.requirement("B13")
@pytest.mark.parametrize("tool", OUTPUTS)
def test_of_an_output_message_and_place_are_kept(tool: str) -> None:
    noise = "\n".join(f"step {number} of the build went well" for number in range(40))
    told = "\n".join(commands.telling_lines(f"{noise}\n{OUTPUTS[tool]}\n"))
    assert all(key in told for key in KEYS[tool]), told


def test_what_was_tried_once_and_names_no_place_is_past_after_ten_steps(tmp_path: Path) -> None:
    session = Session().user("Look.").runs("gh pr checks 4", "HTTP 404: Not Found", fails=True)
    assert [line for line, _ in commands.failing(session.record(tmp_path))] == ["gh pr checks 4"]
    assert commands.failing(session.works(commands.TRIED_OPS + 1).record(tmp_path)) == []
