"""A failure ends when the same passes, however it is written; and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.brief import open_items as brief_items
from holdfast.brief.compose import compose
from holdfast.checkpoint.sections import sections_of
from holdfast.record import Record, open_items, read_record, runs, shell
from holdfast.record.calls import MOST_COMMANDS
from holdfast.record.failures import is_one_off, outcome
from holdfast.record.model import load, save
from holdfast.record.turns import turn_number
from holdfast.redact import redact
from tests.checkpoint.sessions import Session

SAID = "Exit code 1\nE  ValueError: no such tide"


def ends(failed: str, passed: str, folder: Path) -> bool:
    session = Session().runs(failed, SAID, fails=True).runs(passed, "fine")
    [failure] = session.record(folder).failures
    return failure.fixed is not None


@pytest.mark.slow
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
        ("go test ./tide -run TestEbbAtNight", "go test ./tide -run TestEbb -v"),
        ('go test ./tide -run "TestEbbA|TestEbbB"', "go test ./tide -run TestEbb"),
        ("pytest tests -k ebb_at_night", "pytest tests -k ebb"),
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
        ("pytest --ignore=tests/moon", "pytest"),
        ("xcodebuild test -scheme Tide -only-testing:Ebb", "xcodebuild test -scheme Tide"),
        ("gofmt -w . && go test ./tide", "go test ./..."),
        (
            "xcodebuild -project Tide.xcodeproj -scheme Tide -destination 'name=Small, OS=1' build",
            "cd app && xcodebuild -scheme Tide -destination 'name=Large' -quiet build",
        ),
        ("xcodebuild -scheme Tide build", "xcodebuild -scheme Tide test -only-testing:Ebb"),
        ("xcodebuild test -only-testing:Ebb/Low", "xcodebuild test -only-testing:'Ebb'"),
        ("npm run lint:fix", "npm run lint"),
        ("trace test bun run test", "bun run test"),
        ("npm run lint", "npm run lint-fix"),
        ("go test -tags moon -c ./tide", "go test -tags moon -run TestEbb ./tide"),
        ("go build -tags=moon ./tide/...", "go vet -tags=moon ./tide/..."),
        ("go build -tags=moon ./tide/...", "go test -tags=moon -c ./tide/... -o /dev/null"),
        ("pytest tests", ".venv/bin/python -m pytest tests"),
        ("VIRTUAL_ENV= uv run pytest tests", "uv run pytest"),
        ("pytest -p no:randomly --tb short tests/test_tide.py", "pytest tests"),
        ("pytest tests/test_tide.py -n auto -W error", "pytest -n 2 tests"),
        ("pytest tests/moon tests/ebb", "pytest tests/ebb tests/moon tests/flow"),
        ("pytest 'tests/test_tide.py::test_ebb[3]'", "pytest tests/test_tide.py::test_ebb"),
        ("pytest tests/moon -k 'ebb and flow'", "pytest tests -k ebb"),
        ("pytest tests -k ebb", "pytest tests -k 'ebb or flow'"),
        ("pytest tests/moon -kebb_at_night", "pytest tests -kebb"),
    ],
)
def test_it_ends_by_another_spelling_or_a_wider_run(
    failed: str, passed: str, tmp_path: Path
) -> None:
    assert ends(failed, passed, tmp_path)


@pytest.mark.slow
@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("pytest", "pytest tests/test_tide.py"),
        ("pytest tests/test_tide.py", "pytest tests/test_moon.py"),
        ("pytest tests", "pytest tests -k ebb"),
        ("pytest tests -k 'not ebb'", "pytest tests -k ebb"),
        ("go test ./tide -run 'TestEbbA|TestFlow'", "go test ./tide -run TestEbb"),
        ("pytest tests --ignore tests/ebb_at_night", "pytest tests --ignore tests/ebb"),
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
        ("xcodebuild -scheme Tide test", "xcodebuild -scheme Tide build"),
        ("xcodebuild -scheme Tide build", "xcodebuild -scheme Moon build"),
        ("xcodebuild test -only-testing:Ebb", "xcodebuild test -only-testing:Flow"),
        ("go test ./...", "go vet ./..."),
        ("go test ./tide", "go test -c ./tide"),
        ("go test -c ./tide", "go build ./tide"),
        ("make test", "brew install make test"),
        ("pytest", "pytest -q --ignore=tests/moon"),
        ("pytest tests/moon", "pytest --ignore tests/moon"),
        ("pytest", "pytest --deselect tests/test_tide.py::test_ebb"),
        ("pytest", "pytest --lf"),
        ("npx vitest run", "npx vitest run --exclude tide"),
        ("xcodebuild test -scheme Tide", "xcodebuild test -scheme Tide -only-testing:Ebb"),
        ("curl -s https://example.org/docs/a.json", "curl -sI https://example.org/docs"),
        ("python tide.py", "python --version"),
        ("pytest tests/moon tests/ebb", "pytest tests/ebb tests/flow"),
        ("pytest tests -k ebb", "pytest tests -k 'ebb and flow'"),
        ("pytest tests", "pytest tests -kebb"),
        ("pytest tests/moon", "pytest --stepwise tests"),
        ("pytest tests/moon", "pytest --collect-only -q tests"),
        ("pytest tests/test_tide.py::test_ebb[3]", "pytest tests/test_tide.py::test_ebb[4]"),
    ],
)
def test_and_not_by_a_narrower_or_another_run(failed: str, passed: str, tmp_path: Path) -> None:
    assert not ends(failed, passed, tmp_path)


@pytest.mark.requirement("C2")
def test_nothing_is_both_fixed_and_failing(tmp_path: Path) -> None:
    session = Session().runs("pytest tests/test_tide.py", SAID, fails=True)
    session.edits("/work/project/tide.py").runs("pytest -q", "3 passed")
    session.runs("pytest -q tests/test_tide.py", SAID, fails=True)
    [failure] = session.record(tmp_path).failures
    assert failure.fixed is None
    session.runs("pytest", SAID, fails=True)
    [failure] = session.record(tmp_path).failures
    assert (failure.command, failure.fixed) == ("pytest", None)


@pytest.mark.requirement("C2")
def test_both_halves_of_a_line_may_pass_one_by_one(tmp_path: Path) -> None:
    session = Session().runs("make test && make lint", SAID, fails=True).runs("make lint")
    assert session.record(tmp_path).failures[0].fixed is None
    assert session.runs("make test").record(tmp_path).failures[0].fixed is not None


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "said", ["bash: line 1: cd: tid: No such file", "make: *** No rule to make target 'tst'. Stop."]
)
def test_a_typing_slip_is_no_failure(said: str, tmp_path: Path) -> None:
    facts = (
        Session().runs("cd tid && make tst", f"Exit code 2\n{said}", fails=True).record(tmp_path)
    )
    assert facts.failures == []
    assert [one.ok for one in facts.commands.values()] == ([] if ": cd: " in said else [False])


@pytest.mark.requirement("B13")
def test_a_failure_stays_open_over_hundreds_of_steps_and_passes_of_others(tmp_path: Path) -> None:
    session = Session().user("Mend it.").runs("pytest -q", SAID, fails=True)
    session.runs("python -c 'import moon'", SAID, fails=True)
    for number in range(100):
        session.user(f"Now step {number}.").runs("make all", "ok").works(3).compacts()
    session.says("Everything is fixed and passes now.")
    record = session.record(tmp_path)
    found = open_items.failures(record)
    assert [one.command for one in found] == ["pytest -q", "python -c 'import moon'"]
    assert [turn_number(record, one.place) for one in found] == [1, 1]
    assert [is_one_off(one) for one in found] == [False, True]


@pytest.mark.requirement("B13")
@pytest.mark.parametrize("passed", ["pytest -q tests/test_tide.py", "pytest", "make test"])
def test_what_closed_a_failure_is_recorded(passed: str, tmp_path: Path) -> None:
    session = Session().runs("pytest -q tests/test_tide.py", SAID, fails=True)
    [failure] = session.runs(passed, "fine").record(tmp_path).failures
    assert failure.closed_by == passed
    assert failure.fixed is not None and failure.fixed.op == 2


@pytest.mark.requirement("C14", "C2")
@pytest.mark.parametrize(
    ("command", "said", "edited"),
    [
        ("pytest -q", "FAILED tests/test_tide.py::test_ebb - KeyError", "src/tide.py"),
        ("pytest tests/test_tide.py", "E  ValueError: invalid literal", "src/tide.py"),
        ("pytest -q", "E  src/tide.py:3: ValueError: invalid", "src/tide.py"),
        ("go test ./...", "--- FAIL: TestTideTable (0.1s)", "harbour/tide_table.go"),
        ("npm test", "FAIL src/TideTable.test.tsx", "src/TideTable.tsx"),
        ("npm test", "FAIL src/tide-table.spec.ts", "src/tide-table.ts"),
        ("make tides", "error: no such gauge", "tools/tides.sh"),
        ("pytest", "E  ModuleNotFoundError: No module named harbour.tide", "harbour/tide.py"),
    ],
)
def test_a_fix_names_the_edited_file_that_the_failure_names(
    command: str, said: str, edited: str, tmp_path: Path
) -> None:
    session = Session().runs(command, f"Exit code 1\n{said}", fails=True)
    session.edits(f"/work/project/{edited}").runs(command, "fine")
    assert session.record(tmp_path).failures[0].fix == [edited]


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("said", "edited"),
    [
        ("FAILED tests/test_tide.py::test_ebb - KeyError", "docs/notes.md"),
        ("2 errors, 1 failed", "docs/errors.md"),
        ("E  IndexError: list index out of range in tide", "web/index.ts"),
        ("E  AssertionError: the main tide is invalid", "src/main.py"),
        ("FAILED tests/test_tidewater.py::test_ebb", "src/tide.py"),
    ],
)
def test_a_fix_does_not_name_a_file_that_has_nothing_to_do_with_it(
    said: str, edited: str, tmp_path: Path
) -> None:
    session = Session().runs("pytest -q", f"Exit code 1\n{said}", fails=True)
    session.edits(f"/work/project/{edited}").runs("pytest -q", "3 passed")
    record = session.record(tmp_path)
    assert record.failures[0].fixed is not None and record.failures[0].fix == []
    assert edited not in str(sections_of(record)["Errors Resolved"])


@pytest.mark.requirement("C14")
def test_the_file_of_a_fix_is_known_after_edits_elsewhere(tmp_path: Path) -> None:
    session = Session().runs("pytest", "FAILED tests/test_tide.py::test_ebb", fails=True)
    session.edits("/work/project/src/tide.py")
    for number in range(12):
        session.edits(f"/work/project/docs/page{number}.md")
    assert session.runs("pytest", "ok").record(tmp_path).failures[0].fix == ["src/tide.py"]


@pytest.mark.requirement("C2")
def test_an_error_stays_open_while_only_others_pass(tmp_path: Path) -> None:
    session = Session().runs("pytest -q", "Exit code 1\nE  ValueError: invalid", fails=True)
    session.runs("ruff check .", "All checks passed!").says("Everything is fixed and passes now.")
    (failure,) = session.record(tmp_path).failures
    assert failure.fixed is None and failure.lines == ["E  ValueError: invalid"]


@pytest.mark.requirement("C2")
def test_a_failure_hidden_by_a_pipe_is_seen(tmp_path: Path) -> None:
    session = Session().runs("go test ./... | tail -3", "--- FAIL: TestOne\nFAIL\n")
    session.runs("npm test | tail -3", "Tests: 0 failed, 12 passed")
    session.runs("make all | head", "gauge.c:3:1: error: expected ';'")
    commands = session.record(tmp_path).commands
    assert [one.ok for one in commands.values()] == [False, True, False]


@pytest.mark.requirement("B13", "X7")
def test_a_failure_after_very_many_commands_is_seen(tmp_path: Path) -> None:
    session = Session()
    for number in range(2 * MOST_COMMANDS):
        session.runs(f"make target{number}")
    record = session.runs("make last", "error: no rule for it", fails=True).record(tmp_path)
    assert [one.command for one in record.failures] == ["make last"]
    assert len(record.commands) <= 2 * MOST_COMMANDS


@pytest.mark.requirement("B13", "X7")
def test_the_last_command_of_each_program_is_kept_among_very_many(tmp_path: Path) -> None:
    session = Session().runs("make deploy TO=north")
    for number in range(2 * MOST_COMMANDS):
        session.runs(f"pytest -q tests/test_{number}.py")
    commands = session.record(tmp_path).commands
    assert "make deploy TO=north" in commands and "pytest -q tests/test_0.py" not in commands


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("pytest -q tests/test_ebb.py", "pytest"),
        ("cd lake && uv run pytest tests/test_ebb.py -k neap", "pytest"),
        ("npm run tiles -- --port 61", "npm run tiles"),
        ("make -j4 SCALE=3 charts", "make charts"),
        ("gh pr view 118", "gh pr view"),
        ("PORT=3 docker compose up -d", "docker compose up"),
        ("./scripts/deploy.sh --to north", "deploy.sh"),
        ("python scripts/deploy.py --to north", "scripts/deploy.py"),
        ("python -c 'print(3)'", ""),
        ("ruff check . && pytest -q", "pytest"),
    ],
)
def test_lines_that_differ_in_targets_are_of_one_program(line: str, program: str) -> None:
    assert runs.program_of(line) == program


@pytest.mark.requirement("C2")
def test_tests_that_failed_by_name_and_pass_by_name_are_fixed(tmp_path: Path) -> None:
    session = Session().runs("mise run tides", "--- FAIL: TestEbb (0.1s)\nFAIL x 1s", fails=True)
    session.runs("go test -v -run TestEbb ./tide", "--- PASS: TestFlood (0.1s)\nok")
    assert session.record(tmp_path).failures[0].fixed is None
    session.runs("go test -v -run TestEbb ./tide", "--- PASS: TestEbb (0.1s)\nok")
    facts = session.record(tmp_path)
    assert facts.failures[0].fixed is not None
    assert [one.ok for one in facts.commands.values()] == [True, True]


@pytest.mark.requirement("C2", "C14")
def test_a_run_that_failed_is_called_passed_by_a_run_of_its_own_alone(tmp_path: Path) -> None:
    failing = "--- FAIL: TestEbb (0.1s)\nFAIL x 1s"
    session = Session().runs("mise run test", failing, fails=True)
    session.runs("go test -v -run TestEbb ./tide", "--- PASS: TestEbb (0.1s)\nok")
    facts = session.record(tmp_path)
    wide = facts.commands["mise run test"]
    assert outcome(wide) == "failed; go test -v -run TestEbb ./tide passed since"
    (fixed,) = brief_items.fix_items(facts)
    assert "(shown by `go test -v -run TestEbb ./tide`)" in fixed.text
    session.runs("mise run test", "ok x 1s")
    assert outcome(session.record(tmp_path).commands["mise run test"]) == "passed"


@pytest.mark.requirement("C2")
def test_what_runs_in_the_background_has_no_result_yet(tmp_path: Path) -> None:
    session = Session().runs("pytest tests", SAID, fails=True)
    session.runs("pytest tests", "Command running in background with ID: b1. Output is in /tmp/x")
    facts = session.record(tmp_path)
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
    before = load(redact(save(session.record(tmp_path)).decode()).encode())
    facts = read_record(session.runs(command, "3 passed").written(tmp_path), state=before)
    assert [one.fixed is not None for one in facts.failures] == [True]
    assert [one.ok for one in facts.commands.values()] == [True]


@pytest.mark.requirement("C2")
def test_a_setting_tells_nothing_of_the_kind(tmp_path: Path) -> None:
    facts = Session().runs("TEST_DB=1 ./serve").runs("DB=x pytest").record(tmp_path)
    assert [(key, one.kind) for key, one in facts.commands.items()] == [
        ("TEST_DB=1 ./serve", ""),
        ("DB=x pytest", "test"),
    ]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("cd test && ./serve --port 80", ""),
        ("curl -s https://quay.example/api/spectrum/7", ""),
        ('ssh root@quay.example "make test"', ""),
        ("gh pr checks 12", ""),
        ("python3 -c 'import tests.tide'", ""),
        ("node tools/moor.js --all docs/checks.md", ""),
        ("quay trail checkout --all", ""),
        ("./deploy.sh --skip-tests", ""),
        ("mypy --version", ""),
        ("uv run black src/build/tide.py", ""),
        ("uv run black --check src", "test"),
        ("python3 tests/run_all.py", "test"),
        ("./gradlew :app:test", "test"),
        ("npm run test:web", "test"),
        ("xcodebuild -project Tide.xcodeproj -scheme Tide test", "test"),
        ("xcodebuild -project Tide.xcodeproj -list", ""),
        ("go build ./checks/...", "build"),
        ("git stash && uv run pytest tests/test_tide.py", "test"),
        ("git test-branch", ""),
        ("vim tests/tide.py", ""),
        ("pip install pytest", ""),
        ("npm install --save-dev jest", ""),
        ("python3 tools/make_test_data.py", ""),
        ("python3 latest.py", ""),
    ],
)
def test_what_is_run_tells_the_kind_not_what_else_is_named(
    command: str, kind: str, tmp_path: Path
) -> None:
    facts = Session().runs(command).record(tmp_path)
    assert [one.kind for one in facts.commands.values()] == [kind]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "command",
    [
        *("python3 -m unittest", "python -m unittest -v tests.test_tide", "python -m doctest a.py"),
        *("python3 -W error -m unittest", "python3.12 -m pytest", "coverage run -m unittest"),
        *("coverage run --source src -m pytest", "coverage run --rcfile x.ini -m unittest"),
        *("python3 manage.py test", "node --test", "node --import tsx --test", "npm t", "cargo t"),
        *("ctest", "phpunit", "php vendor/bin/phpunit", "npx mocha", "npx ava", "prove -r t"),
        *("./run_tests.sh", "bash tools/run_tests.sh", "./test", "./check_links.sh"),
        *(
            "cargo nextest run",
            "gotestsum ./...",
            "bundle exec rspec",
            "mvn -q test",
            "dotnet test",
        ),
        *("gradle test", "deno test", "bun test", "tox", "nox", "make check"),
    ],
)
def test_tests_are_known_by_the_program_its_verb_or_the_name_of_a_script(command: str) -> None:
    assert runs.kind(shell.core(command)) == "test"


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("failed", "passed"),
    [
        ("python3 -m unittest tests.test_tide", "python -W error -m unittest"),
        ("python3 -m unittest", "python3 -m unittest discover"),
        ("python3.12 -m pytest tests/test_tide.py", "pytest"),
        ("node --test tests/tide.js", "node --test"),
        ("node --test", "npm test"),
    ],
)
def test_runs_of_unittest_and_node_cover_narrower_ones(
    failed: str, passed: str, tmp_path: Path
) -> None:
    assert ends(failed, passed, tmp_path)


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("command", "output", "state"),
    [
        ("python3 -m unittest 2>&1 | tail -3", "Ran 2 tests in 0.1s\n\nOK", "passed"),
        ("python3 -m unittest 2>&1 | tail -3", "FAILED (failures=1)", "failed"),
        ("node --test | tail -5", "# tests 2\n# pass 2\n# fail 0\n# todo 0", "passed"),
        ("node --test | head -5", "TAP version 13\nok 1 - ebb\nnot ok 2 - flow", "failed"),
        ("ctest | tail -3", "100% tests passed, 0 tests failed out of 3", "passed"),
        ("mvn test | tail -3", "[INFO] BUILD SUCCESS", "passed"),
        ("mvn test | tail -3", "[INFO] BUILD FAILURE", "failed"),
        ("dotnet test | tail -1", "Passed!  - Failed: 0, Passed: 2", "passed"),
        ("dotnet test | tail -1", "Failed!  - Failed: 1, Passed: 2", "failed"),
    ],
)
def test_a_piped_run_is_judged_by_the_summary_of_its_runner(
    command: str, output: str, state: str, tmp_path: Path
) -> None:
    [run] = Session().runs(command, output).record(tmp_path).commands.values()
    assert outcome(run) == state


@pytest.mark.requirement("B13", "C14")
def test_a_query_that_reports_a_failure_is_no_issue(tmp_path: Path) -> None:
    session = Session().user("Go.").runs("gh pr checks 12", "build fail 10s", fails=True)
    session.runs('ssh quay "make test"', "1 failed")
    assert sections_of(session.record(tmp_path))["Active Issues"] == []


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("printed", "passes"),
    [
        ("error: Item 3 failed\nTraceback of the mock\n 1216 pass\n 0 fail\nRan 1216 tests", True),
        ("error: Item 3 failed\n 1215 pass\n 1 fail\nRan 1216 tests", False),
        ("test result: FAILED. 1 passed; 1 failed\ntest result: ok. 4 passed; 0 failed", False),
        ("1216 pass\n0 fail\nerror: no such file", False),
        ("Found 2 errors (2 fixed, 0 remaining).", True),
        ("Found 2 errors (1 fixed, 1 remaining).", False),
    ],
)
def test_the_runners_count_knows_better_than_what_a_test_prints(
    printed: str, passes: bool, tmp_path: Path
) -> None:
    facts = Session().runs("bun run test | tail", printed).record(tmp_path)
    assert (facts.failures == []) is passes


@pytest.mark.requirement("B13", "C14")
def test_a_script_that_failed_and_was_edited_since_is_to_be_run_again(tmp_path: Path) -> None:
    session = Session().user("Go.").runs("./tools/moor.sh --all", SAID, fails=True)
    [issue] = sections_of(session.record(tmp_path))["Active Issues"]
    assert issue.startswith("./tools/moor.sh --all (since turn 1): ")
    session.edits("/work/project/tools/moor.sh")
    [issue] = sections_of(session.record(tmp_path))["Active Issues"]
    assert issue.startswith("./tools/moor.sh --all (in turn 1; edited since, not run again: ")
    session.runs("./tools/moor.sh --all")
    assert sections_of(session.record(tmp_path))["Active Issues"] == []


@pytest.mark.requirement("B13")
@pytest.mark.parametrize(("status", "fails"), [("failed", True), ("completed", False)])
def test_a_command_in_the_background_fails_and_passes_as_any_other(
    status: str, fails: bool, tmp_path: Path
) -> None:
    session = Session().user("Go.").runs("pytest -q", SAID, fails=True)
    session.runs("pytest -q", "Command running in background with ID: b7x. Output: /tmp/b7x")
    note = f"<task-notification><task-id>b7x</task-id><status>{status}</status>"
    session.user(f"{note}<summary>pytest ended with exit code 3</summary></task-notification>")
    found = [one.lines for one in open_items.failures(session.record(tmp_path))]
    assert found == [["pytest ended with exit code 3"]] * fails


@pytest.mark.requirement("C2", "C14")
@pytest.mark.parametrize("shown", ["error: no such tide", "3 passed, 11 failed", "x FAILED [ 9%]"])
def test_what_shows_a_failure_is_never_called_passed(shown: str, tmp_path: Path) -> None:
    session = Session().runs("bin/tide load | tail -3", f"loading\n{shown}")
    [told] = sections_of(session.record(tmp_path))["Commands"]
    assert told.endswith("(result unknown: its output shows a failure)")
    session = Session().runs("bin/tide load", SAID, fails=True).runs("bin/tide load | tail", shown)
    assert session.record(tmp_path).failures[0].fixed is None
    [told] = sections_of(Session().runs("pytest | tail", shown).record(tmp_path))["Commands"]
    assert told.endswith("(failed)")


@pytest.mark.requirement("C2")
def test_a_line_that_goes_on_is_one_command(tmp_path: Path) -> None:
    session = Session().runs("bin/tide load \\\n  src/a.py \\\n  src/b.py", SAID, fails=True)
    assert session.record(tmp_path).failures[0].left == ["bin/tide load src/a.py src/b.py"]


NOT_OURS = "The 2 failing tests are pre-existing, they fail without my change as well."


@pytest.mark.requirement("B13", "C14")
@pytest.mark.parametrize(
    "words",
    [
        "The lint errors are pre-existing.",
        "All non-pre-existing failures of the tests are fixed.",
        "The change is unrelated to the harbour.",
    ],
)
def test_words_about_something_else_settle_no_failure(words: str, tmp_path: Path) -> None:
    session = Session().user("Go.").runs("pytest -q", SAID, fails=True).says(words)
    assert len(sections_of(session.record(tmp_path))["Active Issues"]) == 1


@pytest.mark.requirement("B13", "C14")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("uv run mypy src", "error: Failed to spawn: `mypy`"),
        (
            ".venv/bin/ruff check src",
            "/bin/bash: line 4: .venv/bin/ruff: No such file or directory",
        ),
        ("cd web && bun run lint", 'error: Script not found "lint"'),
        ("pytest tests/test_sun.py", "ERROR: file or directory not found: tests/test_sun.py"),
    ],
)
def test_a_tool_that_could_not_begin_has_found_no_issue(
    command: str, said: str, tmp_path: Path
) -> None:
    session = Session().user("Go.").runs(command, said, fails=True)
    assert sections_of(session.record(tmp_path))["Active Issues"] == []


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("command", "printed", "passed", "closes"),
    [
        ("mise run test:ci", "--- FAIL: TestEbb_Low (0.2s)", "go test -run TestEbb ./tide", True),
        ("mise run test:ci", "--- FAIL: TestEbb_Low (0.2s)", "go test -run TestMoon ./tide", False),
        ("pytest", "FAILED tests/test_a.py::test_ebb - no", "pytest tests/test_a.py", True),
        ("pytest", "FAILED tests/test_a.py::test_ebb - no", "pytest tests/test_b.py", False),
        ("pytest -x", "FAILED tests/test_a.py::test_ebb - no", "pytest tests/test_a.py", False),
        (
            "pytest tests",
            "FAILED tests/test_a.py::test_ebb - no",
            "pytest tests/test_a.py --deselect tests/test_a.py::test_ebb",
            False,
        ),
    ],
)
def test_a_run_of_everything_is_closed_by_a_run_of_what_failed_in_it(
    command: str, printed: str, passed: str, closes: bool, tmp_path: Path
) -> None:
    session = Session().runs(command, printed, fails=True).runs(passed, "ok tide 0.3s")
    [failure] = session.record(tmp_path).failures
    assert (failure.fixed is not None) is closes


@pytest.mark.requirement("C2")
def test_a_test_that_was_not_built_is_closed_by_any_that_was(tmp_path: Path) -> None:
    said = "tide/ebb_test.go:7: undefined: ebb\nFAIL\tquay/tide [build failed]"
    session = Session().runs('go test ./tide -run "TestEbb|TestLow"', said, fails=True)
    session.runs("go test ./moon -run TestFull", "ok quay/moon")
    assert session.record(tmp_path).failures[0].fixed is None
    session.runs("go test ./tide -run TestFlow", "ok quay/tide")
    assert session.record(tmp_path).failures[0].fixed is not None


@pytest.mark.requirement("B13", "C14")
def test_what_fails_in_a_temporary_folder_is_no_issue(tmp_path: Path) -> None:
    session = Session().user("Go.").runs("cd /tmp/lab && make test", SAID, fails=True)
    assert sections_of(session.record(tmp_path))["Active Issues"] == []


def how(record: Record, key: str) -> tuple[bool | None, bool]:
    return record.commands[key].ok, record.commands[key].is_hidden


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "command",
    [
        "go build ./... 2>&1 | head -50",
        "go build ./... || true",
        "go build ./...; git status",
        "cd quay && go build ./... ; echo built",
        "go vet ./... | grep -v generated",
    ],
)
def test_errors_of_a_compiler_whose_exit_code_is_hidden_are_a_failure(
    command: str, tmp_path: Path
) -> None:
    said = "# harbour/quay\nvet: quay/moor.go:14:9: tide.Height is no field\n"
    said = said if "vet" in command else said.replace("vet: ", "")
    record = Session().runs("go build ./...").runs(command, said).record(tmp_path)
    [failure] = record.failures
    assert failure.fixed is None and "moor.go:14:9" in failure.lines[-1]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    ("command", "said", "told"),
    [
        ("npm run build | tail -3", "assets copied", False),
        ("npm test 2>&1 | tail -3", "Tests: 12 passed, 12 total", True),
        ("npm test; echo code $?", "assets copied\ncode 0", True),
        ("go build ./... 2>&1 | head", "", True),
        ("npm run build | tail", "> quay@1.0.0 build\n> tsc", True),
        ("go test ./quay 2>&1 | tail -2", "ok  \tharbour/quay\t0.4s", True),
        ("set -o pipefail; npm run build | tail -3", "assets copied", True),
        ("npm run build && echo built", "assets copied\nbuilt", True),
        ("cd web; npm run build", "assets copied", True),
        ("./deploy.sh | tail", "copied", False),
    ],
)
def test_a_run_is_called_passed_only_where_its_exit_code_or_its_summary_was_seen(
    command: str, said: str, told: bool, tmp_path: Path
) -> None:
    record = Session().user("Go.").runs(command, said).record(tmp_path)
    [key] = record.commands
    assert how(record, key) == (True, not told)
    assert ("` ok" in compose(record).text) is told
    assert ("(passed)" in "".join(sections_of(record)["Commands"])) is told


@pytest.mark.requirement("C2")
def test_a_code_that_was_printed_tells_of_a_failure(tmp_path: Path) -> None:
    record = Session().runs("npm run build; echo code $?", "stopped\ncode 2").record(tmp_path)
    assert [one.fixed for one in record.failures] == [None]


@pytest.mark.requirement("C2", "B13")
def test_a_hidden_run_closes_a_failure_and_is_not_called_its_fix(tmp_path: Path) -> None:
    session = Session().runs("npm run build", "error: no moon", fails=True)
    record = session.runs("npm run build 2>&1 | tail -2", "assets copied").record(tmp_path)
    assert record.failures[0].fixed
    assert "passes again" not in compose(record).text
    assert sections_of(record)["Errors Resolved"] == []


@pytest.mark.requirement("C2", "B13")
@pytest.mark.parametrize(
    "command",
    [
        "uv run moor.py && grep -c tide heights.txt",
        "npm test 2>&1 | grep FAIL",
        "make quay; test -f quay.txt",
        "make quay && ls dist/moon",
        "git -C ~/boats rev-parse --is-inside-work-tree",
    ],
)
def test_a_search_that_finds_nothing_is_no_failure(command: str, tmp_path: Path) -> None:
    record = Session().user("Go.").runs(command, "Exit code 1", fails=True).record(tmp_path)
    assert record.failures == []
    assert "failed" not in compose(record).text


@pytest.mark.requirement("C2")
def test_errors_that_passing_tests_print_are_no_failure(tmp_path: Path) -> None:
    said = "error: the tide gauge does not answer\n8 pass\n"
    assert Session().runs("bun run test", said).record(tmp_path).failures == []
    assert Session().runs("bun run test", f"{said}2 failed\n").record(tmp_path).failures


@pytest.mark.requirement("C2")
def test_a_pipe_that_fails_without_looking_for_anything_is_a_failure(tmp_path: Path) -> None:
    record = Session().runs("make quay 2>&1 | head -20", "Error", fails=True).record(tmp_path)
    assert [one.fixed for one in record.failures] == [None]


@pytest.mark.requirement("C2")
def test_tests_that_failed_by_name_pass_in_a_run_of_several_names(tmp_path: Path) -> None:
    said = "--- FAIL: TestEbbAtNight (0.1s)\n--- FAIL: TestMoon (0.1s)\nFAIL"
    session = Session().runs("go test ./tide -run 'TestEbb|TestMoon|TestLake'", said, fails=True)
    record = session.runs("go test ./tide -run 'TestMoon|TestEbb'", "ok  \ttide\t1s")
    assert record.record(tmp_path).failures[0].fixed


@pytest.mark.requirement("C2")
def test_words_about_code_are_no_verdict_on_a_failure(tmp_path: Path) -> None:
    session = Session().user("Go.").runs("npm test", "1 failed: the moon is late", fails=True)
    session.says("`asMoonError` and the pre-existing `tideErr` both look at the clock.")
    assert [one.verdict for one in session.record(tmp_path).failures] == [""]


@pytest.mark.requirement("C2")
@pytest.mark.parametrize(
    "passed", ["cd quay/tide && go test ./...", "go test ./quay/tide -v", "make test"]
)
def test_a_test_that_was_not_built_in_a_folder_is_closed_from_elsewhere(
    passed: str, tmp_path: Path
) -> None:
    said = "FAIL\tharbour/quay/tide [build failed]"
    session = Session().runs("cd quay && go test ./tide -run TestEbb", said, fails=True)
    [failure] = session.runs(passed, "ok harbour/quay/tide 0.3s").record(tmp_path).failures
    assert failure.fixed is not None


@pytest.mark.requirement("C2")
def test_a_run_that_found_no_test_is_no_failure(tmp_path: Path) -> None:
    session = (
        Session()
        .user("run the tides")
        .runs(
            "uv run pytest tests/test_tidal.py -q", "Exit code 5\nbringing up nodes...", fails=True
        )
    )
    record = session.record(tmp_path)
    assert not record.failures
    assert sections_of(record)["Commands"] == ["uv run pytest tests/test_tidal.py -q"]


@pytest.mark.requirement("C2")
def test_an_edit_of_something_else_or_one_that_failed_leaves_it_failing(tmp_path: Path) -> None:
    session = Session().user("mend the quay").runs("ruff check quay/moor.py", SAID, fails=True)
    session.edits("/work/project/docs/moon.md").edits("/work/project/quay/moor.py", error=True)
    [issue] = sections_of(session.record(tmp_path))["Active Issues"]
    assert "edited since" not in issue


@pytest.mark.requirement("B13", "C14")
@pytest.mark.parametrize(
    ("failed", "passed", "is_over"),
    [
        (
            "bash ship.sh add a && bash ship.sh send",
            "bash ship.sh add b && bash ship.sh send",
            True,
        ),
        ("bash tools/ship.sh commit one", "bash tools/ship.sh commit two", True),
        ("gh pr create --title a", "gh pr create --title b", True),
        ("gh pr create --title a", "gh pr view 4", False),
        ("curl http://quay.test/a", "curl http://quay.test/b", False),
        ("node tools/a.js", "node tools/b.js", False),
        ("mise run test:quay", "mise run test:pier", False),
    ],
)
def test_an_act_that_succeeds_with_other_words_ends_its_failure(
    failed: str, passed: str, is_over: bool, tmp_path: Path
) -> None:
    session = Session().user("Ship it.").runs(failed, "Exit code 1\nERROR: refused", fails=True)
    [failure] = session.runs(passed, "done").record(tmp_path).failures
    assert (failure.fixed is not None) is is_over


@pytest.mark.requirement("B13", "C14")
@pytest.mark.parametrize("check", ["python3 -m unittest", "tools/gauge rows", "./gauge.sh"])
def test_a_brief_and_a_checkpoint_list_the_same_failures(check: str, tmp_path: Path) -> None:
    session = Session().user("Mend the rows.")
    for _ in range(2):
        session.runs(check, "Exit code 1\nFAIL: row 3", fails=True)
    session.runs("quay list", "all")
    tried = 'python3 -c "import moon"'
    record = session.runs(tried, "Exit code 1\nNo module named 'moon'", fails=True).record(tmp_path)
    issues = [issue.partition(" (since")[0] for issue in sections_of(record)["Active Issues"]]
    assert sorted(issues) == sorted([check, tried])
    failing = [one for one in brief_items.failure_items(record, 1) if one.section == "failing"]
    assert sorted(one.key for one in failing) == sorted([check, tried])
    later = session.runs("quay list", "all").record(tmp_path)  # what was only tried is over
    assert [one.command for one in open_items.still_failing(later)] == [check]


@pytest.mark.requirement("B13", "C14")
def test_a_failure_lasts_since_the_first_run_in_a_row_that_failed(tmp_path: Path) -> None:
    session = Session().user("Mend the rows.").runs("make test", SAID, fails=True)
    session.user("Try it.").runs("make test", "Exit code 1\nFAIL: row 4", fails=True)
    session.user("And again.").runs("make test 2>&1", SAID, fails=True)
    record = session.record(tmp_path)
    assert sections_of(record)["Active Issues"][0].startswith("make test (since turn 1): ")
    assert "`make test 2>&1` (since turn 1)" in compose(record).text
    session.runs("make test", "ok").user("Once more.").runs("make test", SAID, fails=True)
    [issue] = sections_of(session.record(tmp_path))["Active Issues"]
    assert issue.startswith("make test (since turn 4): ")


@pytest.mark.requirement("B13", "C14")
def test_a_command_that_is_no_test_stays_open_and_takes_less_room(tmp_path: Path) -> None:
    session = Session().user("Mend the rows.")
    for _ in range(2):
        session.runs("tools/gauge rows", "Exit code 1\nrow 3 is wrong", fails=True)
    [new] = brief_items.failure_items(session.record(tmp_path), 1)
    for _ in range(brief_items.MANY_PASSES):
        session.runs("make lint", "ok")
    [old] = brief_items.failure_items(session.record(tmp_path), 1)
    assert old.section == new.section == "failing" and old.worth < new.worth / 10


@pytest.mark.requirement("C14")
@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("/tmp/try.sh", "row 3 is wrong"),
        ("gauge rows", "/bin/bash: line 1: gauge: command not found"),
    ],
)
def test_what_was_tried_elsewhere_or_could_not_begin_is_no_issue(
    command: str, output: str, tmp_path: Path
) -> None:
    session = Session().user("Mend the rows.")
    for _ in range(2):
        session.runs(command, f"Exit code 1\n{output}", fails=True)
    found = sections_of(session.runs("quay list", "all").says("Done.").record(tmp_path))
    assert found["Active Issues"] == []
