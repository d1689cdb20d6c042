"""`holdfast plan` through its public door."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.plan.load import MOST_BYTES
from holdfast.plan.task import BadPlan
from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire

PLAN = """# Shop
- [x] T1 Set up
- [ ] T2 Write the cart
  files: cart.py, price.py
  depends: T1
- [ ] T3 Write docs
  depends: T2
  size: 90k
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "plan.md").write_text(PLAN, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def _invoke(*arguments: str) -> Result:
    return CliRunner().invoke(holdfast_command, ["plan", *arguments])


def _json(*arguments: str) -> dict[str, Any]:
    found = _invoke(*arguments, "--json")
    assert found.exit_code == 0, found.output
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


@pytest.mark.requirement("P1", "U3")
@pytest.mark.usefixtures("project")
def test_one_task_is_estimated_without_a_file() -> None:
    """And what is wrong with it names the line, as of a file."""

    def piped(data: bytes) -> Result:
        return CliRunner().invoke(holdfast_command, ["plan", "-", "--json"], input=data)

    found = json.loads(piped(b"- [ ] Fix the parser\n  - files: cart.py").stdout)
    assert found["mermaid"].startswith("flowchart TD\n    batch_0[")
    [task] = found["nodes"]["batch_0"]["tasks"]
    assert task["low_tokens"] < task["estimated_tokens"] < task["high_tokens"]
    for data, words in (
        (b"- [ ] a\n  - depends: b\n", "stdin:1"),
        (b"", "the plan is empty"),
        (b"- [ ] \xff", "not UTF-8"),
        (b"#" * (MOST_BYTES + 1), "larger than"),
    ):
        error = piped(data).exception
        assert isinstance(error, BadPlan)
        assert words in str(error)


def _session(folder: Path, used: int, *events: str) -> None:
    path = a_transcript(folder.parent / "live.jsonl", a_prompt("go"), an_answer(used))
    for event in ("PostToolUse", *events):
        environ = {"CLAUDE_PROJECT_DIR": str(folder)}
        fire(event, path, session="live-session", environ=environ, cwd=str(folder))


@pytest.mark.requirement("P4", "U3")
def test_the_room_is_that_of_the_session_at_work_here(project: Path) -> None:
    _session(project, 130_000)
    found = _json("plan.md")
    assert found["room"]["now_tokens"] == 167_000 - 130_000
    assert found["room"]["fresh_tokens"] == 120_000
    assert "130,000 of 167,000 tokens used" in found["room"]["basis"]
    assert found["nodes"]["batch_0"]["fresh"], "100,000 tokens do not fit into 37,000"
    assert found["done"] == ["T1"]


@pytest.mark.requirement("P1", "U3")
def test_the_table_shows_the_inputs_beside_each_number(project: Path) -> None:
    (project / "plan.md").write_text(f"{PLAN}- [ ] T4 Sail\n")
    found = _invoke("plan.md", "--room", "90000")
    assert found.exit_code == 0
    for words in ("T2 Write the cart", "after T2", "90,000", "as given", "done already: 1"):
        assert words in found.stdout
    inputs = "= (3 for its text + 4,000 for 2 files to create) x 1.0 x 2.7 (as in public sessions)"
    assert inputs in found.stdout
    [sail] = [line for line in found.stdout.splitlines() if "T4 Sail" in line]
    assert sail.split()[-2:] == ["16,000", "unknown"]
    assert "not there yet, so taken as files to create: cart.py, price.py" in found.stderr


@pytest.mark.requirement("P3", "U3")
def test_a_text_that_is_no_plan_is_refused_with_the_way_on() -> None:
    piped = CliRunner().invoke(holdfast_command, ["plan", "-"], input="# Lessons\n")
    assert isinstance(piped.exception, BadPlan)
    assert piped.exception.hint.endswith("/holdfast:plan FILE")


@pytest.mark.requirement("U3")
@pytest.mark.usefixtures("project")
def test_it_ends_with_the_next_step_where_a_person_reads() -> None:
    said = _invoke("plan.md").stderr
    assert "  next: holdfast run plan.md --dry-run\n" in said
    assert "  then: holdfast run plan.md -- --allowedTools Bash,Edit,Write\n" in said
    told = _invoke("plan.md", "--project", "..", "--room", "90k").stderr
    assert "next: holdfast run plan.md --project .. --room 90000 --dry-run\n" in told
    piped = CliRunner().invoke(holdfast_command, ["plan", "-"], input=PLAN)
    for other in (_invoke("plan.md", "--json"), piped):
        assert "next:" not in other.output


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.md", "- [ ] 1. a\n  depends: 2\n- [ ] 2. b\n  depends: 1\n", "a.md:1: tasks wait"),
        ("a.json", '{"tasks": [}', "a.json:1: not JSON"),
        ("a.yaml", "tasks: &x [*x]", "a.yaml:1: a plan cannot use an alias"),
        ("a.md", "", "a.md: the plan is empty"),
    ],
)
@pytest.mark.requirement("U3")
def test_a_bad_plan_ends_with_two_and_says_where(
    project: Path, name: str, text: str, words: str
) -> None:
    (project / name).write_text(text, encoding="utf-8")
    found = _invoke(name)
    assert isinstance(found.exception, BadPlan)
    assert found.exception.exit_code == 2 and words in str(found.exception)
    assert found.stdout == ""


@pytest.mark.requirement("P4", "U3")
def test_a_size_that_holds_no_work_is_refused_with_one_that_does(project: Path) -> None:
    found = _invoke("plan.md", "--room=10")
    assert found.exit_code == 2 and "is no room: at least 1,000 tokens, such as" in found.stderr
