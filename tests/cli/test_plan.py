"""`holdfast plan` through its public door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.plan.load import MOST_BYTES
from holdfast.plan.task import BadPlan
from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire
from tests.plan.builders import an_edit

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


@pytest.mark.requirement("P4")
def test_a_session_that_ended_leaves_a_fresh_window(project: Path) -> None:
    _session(project, 130_000, "SessionEnd")
    found = _json("plan.md")
    assert found["room"]["now_tokens"] == 120_000
    assert found["nodes"]["batch_0"]["fresh"]


@pytest.mark.requirement("P4")
def test_without_a_session_a_fresh_window_is_taken(project: Path) -> None:
    assert _json("plan.md")["room"]["window_tokens"] == 200_000
    assert _json("plan.md", "--room", "5000")["room"]["now_tokens"] == 5000


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


@pytest.mark.requirement("P1", "U3")
def test_the_smallest_estimate_stands_above_its_inputs_too(project: Path) -> None:
    (project / "a.txt").write_text("a\n")
    (project / "plan.md").write_text("- [ ] T1 Small\n  files: a.txt\n")
    said = _invoke("plan.md").stdout
    assert "= (1 for its text + 0 for 1 file) x 1.0 x 2.7" in said
    assert "at least 2,000" in said and "a share" not in said


@pytest.mark.requirement("P3", "U3")
def test_a_document_that_is_no_plan_is_refused_with_the_way_on(project: Path) -> None:
    (project / "lessons.md").write_text("# Lessons\n\n1. Ask early\n2. Test first\n")
    refused = _invoke("lessons.md")
    assert isinstance(refused.exception, BadPlan)
    assert refused.exception.exit_code == 2
    assert "lessons.md: no task in it" in str(refused.exception)
    assert refused.exception.hint.endswith("/holdfast:plan lessons.md")


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


@pytest.mark.requirement("U3", "X7")
def test_a_title_of_wide_letters_is_folded_and_none_is_lost(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    title = "修复解析器的问题" * 8 + " that goes on and on"
    (project / "plan.md").write_text(f"- [ ] {title}\n", encoding="utf-8")
    task = [line[3:54] for line in _invoke("plan.md").stdout.splitlines()]
    assert "…" not in "".join(task)
    assert sum(line.count("修") for line in task) == 8


@pytest.mark.requirement("P2", "U3")
def test_the_table_shows_what_is_in_a_part_and_why(project: Path) -> None:
    listed = "a/1.py, a/2.py, a/3.py, a/4.py, b/5.py, b/6.py, b/7.py, b/8.py"
    (project / "plan.md").write_text(f"- [ ] Port\n  files: {listed}\n  size: 80k\n")
    found = _invoke("plan.md", "--room", "40k")
    assert "Port (part 1 of 2)" in found.stdout
    words = "a/1.py, a/2.py, a/3.py and 1 more: grouped by folder"
    assert words in " ".join(found.stdout.split())
    tight = _invoke("plan.md", "--room", "4k")
    assert '"Port (part 1 of 8)": about 10,000 tokens do not fit into 4,000' in tight.stderr
    assert "larger than the room" in tight.stdout


@pytest.mark.requirement("U3")
def test_the_room_says_what_it_is_of(project: Path) -> None:
    words = "120,000 tokens a batch (no session seen here: at most 60% of a fresh window of 200,000"
    assert words in " ".join(_invoke("plan.md").stdout.split())
    _session(project, 130_000)
    words = "room 37,000 tokens in session live-ses, 120,000 in a fresh window (session live-ses: 1"
    assert words in " ".join(_invoke("plan.md").stdout.split())


@pytest.mark.requirement("P4", "U3")
def test_a_batch_says_which_window_it_begins_in(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "in a fresh window" not in _invoke("plan.md").stdout
    (project / "plan.md").write_text(PLAN + "- [ ] Ship it\n  size: 30k\n", "utf-8")
    _session(project, 10_000)
    said = _invoke("plan.md").stdout
    assert "1  batch in session live-ses, " in said and "2  batch in a fresh window, " in said
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "live-session")
    assert "1  batch in this session, " in _invoke("plan.md").stdout
    _session(project, 166_000)
    assert "1  batch in a fresh window, " in _invoke("plan.md").stdout


@pytest.mark.requirement("P1")
def test_sessions_of_this_machine_are_learnt_from(project: Path, own_home: Path) -> None:
    lines: list[dict[str, Any]] = []
    for n in range(12):
        lines += [
            {**a_prompt("fix"), "cwd": str(project)},
            an_edit(20_000 + 9000 * n, f"e{n}", str(project / "a.py")),
            an_answer(24_000 + 9000 * n, id=f"m{n}"),
        ]
    a_transcript(own_home / ".claude" / "projects" / "-shop" / "s.jsonl", *lines)
    (project / "plan.md").write_text("- [ ] fix\n  files: a.py\n", encoding="utf-8")
    found = _json("plan.md")
    assert found["past_tasks"] == 12
    [task] = found["nodes"]["batch_0"]["tasks"]
    assert "(as 12 similar tasks in this project)" in task["inputs"]


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


def test_a_home_that_takes_nothing_is_no_reason_to_fail(project: Path) -> None:
    Path(os.environ["HOLDFAST_HOME"]).write_text("a file where a folder should be")
    assert _invoke("plan.md", "--json").exit_code == 0


@pytest.mark.requirement("P4", "U3")
def test_a_size_that_holds_no_work_is_refused_with_one_that_does(project: Path) -> None:
    found = _invoke("plan.md", "--room=10")
    assert (
        found.exit_code == 2 and "is too small: at least 1,000 tokens, such as 90k" in found.stderr
    )


@pytest.mark.slow
@pytest.mark.requirement("P4", "X7")
def test_the_notes_on_a_very_long_plan_are_bounded(project: Path) -> None:
    (project / "plan.md").write_text("".join(f"- [ ] t{n}\n  size: 1m\n" for n in range(99)))
    found = _invoke("plan.md")
    assert found.stderr.count("do not fit") == 30
    assert "and 69 more: --json has all" in found.stderr
    assert len(_json("plan.md")["warnings"]) == 99


@pytest.mark.slow  # the whole command
@pytest.mark.requirement("X7")
def test_an_answer_that_cannot_be_written_is_an_error_in_words(project: Path) -> None:
    words = [sys.executable, "-m", "holdfast.cli", "plan", "plan.md"]
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, check=False)
    assert found.returncode == 4
    assert b"No space left" in found.stderr
    assert b"ignored" not in found.stderr


@pytest.mark.slow
@pytest.mark.requirement("P4", "P5")
@pytest.mark.parametrize("used", [10_000, 130_000, 160_000])
def test_a_plan_and_a_dry_run_show_the_same_batches(project: Path, used: int) -> None:
    more = "".join(f"- [ ] Page {n}\n  - files: {n}.md, {n}.html\n" for n in range(5))
    text = f"{PLAN}- [ ] Improve it\n{more}- [ ] Commit\n"
    (project / "plan.md").write_text(text, encoding="utf-8")
    _session(project, used)
    nodes = [one for one in _json("plan.md")["nodes"].values() if "tasks" in one]
    planned = [([task["id"] for task in one["tasks"]], one["estimated_tokens"]) for one in nodes]
    dry = CliRunner().invoke(holdfast_command, ["run", "plan.md", "--dry-run", "--json"])
    assert dry.exit_code == 0, dry.output
    assert [(one["tasks"], one["estimated_tokens"]) for one in json.loads(dry.stdout)] == planned
    assert planned[-1][0][-1] == "commit"


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_plan_that_is_a_link_to_itself_is_refused_in_words(command: str, project: Path) -> None:
    (project / "loop.md").symlink_to("loop.md")
    refused = CliRunner().invoke(holdfast_command, [command, "loop.md"]).exception
    assert isinstance(refused, BadPlan)
    assert (refused.exit_code, str(refused)) == (2, "loop.md: no such file")
