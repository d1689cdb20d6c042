"""A failure ends when the same passes, however it is written; and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.checkpoint.extract import extract
from holdfast.checkpoint.facts import load, save
from holdfast.redact import redact
from tests.checkpoint.sessions import Session

SAID = "Exit code 1\nE  ValueError: no such tide"


def ends(failed: str, passed: str, folder: Path) -> bool:
    session = Session().runs(failed, SAID, fails=True).runs(passed, "fine")
    [failure] = session.facts(folder).failures
    return failure.fixed is not None


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("pytest tests/test_tide.py::test_ebb", "pytest"),
        ("pytest tests/test_tide.py::test_ebb", "pytest -q tests/test_tide.py 2>&1 | tail -3"),
        ("pytest -x -n 4 tests/test_tide.py", "cd /work/project && pytest tests/ -q"),
        ("pytest tests/test_tide.py", "python -m pytest tests/test_tide.py"),
        ("pytest tests", "uv run pytest tests/"),
        ("pytest -k ebb", "TZ=UTC pytest"),
        ("npm test", "npm run test"),
        ("npm run test 2>&1 | tail -20", "CI=1 npm test -- --silent"),
        ("cd web && npm test", "(cd web && npm run test)"),
        ("go test ./tide/... -run TestEbb -v", "go test ./..."),
        ("go test ./tide", "cd tide && go test ./..."),
        ("go test -tags=moon -run TestEbb ./tide", "mise run test:moon"),
        ("go build ./...", "go test ./..."),
        ("pytest tests/test_tide.py", "make test"),
        ("mise run fmt && mise run lint", "mise run lint"),
        ("cargo test ebb", "cargo test"),
        ("jest src/tide.test.ts", "npx jest"),
        ("ruff check src", "ruff check ."),
        ("DB=postgres pytest tests/test_tide.py", "CI=1 DB=postgres pytest"),
        ("PYTHONPATH=src pytest", "FORCE_COLOR=1 pytest -q"),
        ("NO_COLOR=1 LD_LIBRARY_PATH=lib ./tests/run", "./tests/run"),
    ],
)
def test_it_ends_by_another_spelling_or_a_wider_run(
    failed: str, passed: str, tmp_path: Path
) -> None:
    assert ends(failed, passed, tmp_path)


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("pytest", "pytest tests/test_tide.py"),
        ("pytest tests/test_tide.py", "pytest tests/test_moon.py"),
        ("pytest tests", "pytest tests -k ebb"),
        ("npm test", "npm run lint"),
        ("cd web && npm test", "cd api && npm test"),
        ("go test -tags=moon ./...", "go test ./..."),
        ("go test ./...", "go test ./tide"),
        ("make test && make lint", "make lint"),
        ("cargo test --release", "cargo build"),
        ("npm test", "pytest"),
        ("DB=postgres pytest", "DB=sqlite pytest"),
        ("DB=postgres pytest", "pytest"),
        ("pytest", "DB=sqlite pytest"),
        ("cd web && MODE=ssr npm test", "cd web && npm test"),
        ("go test ./...", "npm test"),
    ],
)
def test_and_not_by_a_narrower_or_another_run(failed: str, passed: str, tmp_path: Path) -> None:
    assert not ends(failed, passed, tmp_path)


@pytest.mark.requirement("C2")
def test_nothing_is_both_fixed_and_failing(tmp_path: Path) -> None:
    session = Session().runs("pytest tests/test_tide.py", SAID, fails=True)
    session.edits("/work/project/tide.py").runs("pytest -q", "3 passed")
    session.runs("pytest -q tests/test_tide.py", SAID, fails=True)
    [failure] = session.facts(tmp_path).failures
    assert failure.fixed is None
    session.runs("pytest", SAID, fails=True)
    [failure] = session.facts(tmp_path).failures
    assert (failure.command, failure.fixed) == ("pytest", None)


@pytest.mark.requirement("C2")
def test_both_halves_of_a_line_may_pass_one_by_one(tmp_path: Path) -> None:
    session = Session().runs("make test && make lint", SAID, fails=True).runs("make lint")
    assert session.facts(tmp_path).failures[0].fixed is None
    assert session.runs("make test").facts(tmp_path).failures[0].fixed is not None


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "said", ["bash: line 1: cd: tid: No such file", "make: *** No rule to make target 'tst'. Stop."]
)
def test_a_typing_slip_is_no_failure(said: str, tmp_path: Path) -> None:
    facts = Session().runs("cd tid && make tst", f"Exit code 2\n{said}", fails=True).facts(tmp_path)
    assert facts.failures == []
    assert [one.ok for one in facts.commands.values()] == ([] if ": cd: " in said else [False])


@pytest.mark.requirement("C2")
def test_what_was_tried_once_and_left_is_over(tmp_path: Path) -> None:
    session = Session().runs("python -c 'import moon'", SAID, fails=True).runs("make all")
    assert len(session.facts(tmp_path).failures) == 1
    assert session.runs("make all").facts(tmp_path).failures == []


@pytest.mark.requirement("C2")
def test_tests_that_failed_by_name_and_pass_by_name_are_fixed(tmp_path: Path) -> None:
    session = Session().runs("mise run tides", "--- FAIL: TestEbb (0.1s)\nFAIL x 1s", fails=True)
    session.runs("go test -v -run TestEbb ./tide", "--- PASS: TestFlood (0.1s)\nok")
    assert session.facts(tmp_path).failures[0].fixed is None
    session.runs("go test -v -run TestEbb ./tide", "--- PASS: TestEbb (0.1s)\nok")
    facts = session.facts(tmp_path)
    assert facts.failures[0].fixed is not None
    assert [one.ok for one in facts.commands.values()] == [True, True]


@pytest.mark.requirement("C2")
def test_what_runs_in_the_background_has_no_result_yet(tmp_path: Path) -> None:
    session = Session().runs("pytest tests", SAID, fails=True)
    session.runs("pytest tests", "Command running in background with ID: b1. Output is in /tmp/x")
    facts = session.facts(tmp_path)
    assert facts.failures[0].fixed is None
    assert [one.ok for one in facts.commands.values()] == [None]


@pytest.mark.requirement("C2", "X4")
@pytest.mark.parametrize(
    "command",
    [
        "pytest --db-password {} tests/",
        "DB_PASSWORD={} pytest tests",
        "cd api && TOKEN={} make e2e",
    ],
)
def test_a_failure_whose_command_lost_its_secret_still_ends(command: str, tmp_path: Path) -> None:
    command = command.format("Xk9fQ2m" + "Lp7RtZ")
    session = Session().runs(command, SAID, fails=True)
    before = load(redact(save(session.facts(tmp_path)).decode()).encode())
    facts = extract(session.runs(command, "3 passed").written(tmp_path), state=before)
    assert [one.fixed is not None for one in facts.failures] == [True]
    assert [one.ok for one in facts.commands.values()] == [True]


@pytest.mark.requirement("C2")
def test_a_setting_tells_nothing_of_the_kind(tmp_path: Path) -> None:
    facts = Session().runs("TEST_DB=1 ./serve").runs("DB=x pytest").facts(tmp_path)
    assert [(key, one.kind) for key, one in facts.commands.items()] == [
        ("TEST_DB=1 ./serve", ""),
        ("DB=x pytest", "test"),
    ]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("printed", "passes"),
    [
        ("error: Item 3 failed\nTraceback of the mock\n 1216 pass\n 0 fail\nRan 1216 tests", True),
        ("error: Item 3 failed\n 1215 pass\n 1 fail\nRan 1216 tests", False),
        ("test result: FAILED. 1 passed; 1 failed\ntest result: ok. 4 passed; 0 failed", False),
        ("1216 pass\n0 fail\nerror: no such file", False),
    ],
)
def test_the_runners_count_knows_better_than_what_a_test_prints(
    printed: str, passes: bool, tmp_path: Path
) -> None:
    facts = Session().runs("bun run test | tail", printed).facts(tmp_path)
    assert (facts.failures == []) is passes
