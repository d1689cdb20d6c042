"""`holdfast plan` through its public door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from holdfast.cli.main import holdfast_command
from holdfast.plan.formats import read
from holdfast.plan.task import BadPlan
from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire

PLAN = """# Shop
- [x] Set up
- [ ] Write the cart
  - files: cart.py, price.py
  - depends: Set up
- [ ] Write docs
  - depends: Write the cart
  - estimate: 90k
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
    [task] = found["nodes"]["batch_0"]["tasks"]
    assert task["low_tokens"] < task["estimated_tokens"] < task["high_tokens"]
    for data, words in (
        (b"- [ ] a\n  - depends: b\n", "stdin:1"),
        (b"", "the plan is empty"),
        (b"- [ ] \xff", "not UTF-8"),
        (b"#" * (read.MOST_BYTES + 1), "larger than"),
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
    assert found["nodes"]["batch_0"]["fresh"], "90,000 tokens do not fit into 37,000"
    words = 'session live-ses has room for the first of them: "Write the cart"'
    assert words in found["warnings"]
    assert found["done"] == ["set-up"]


@pytest.mark.requirement("P4")
def test_a_session_that_ended_leaves_a_fresh_window(project: Path) -> None:
    _session(project, 130_000, "SessionEnd")
    found = _json("plan.md")
    assert found["room"]["now_tokens"] == 120_000
    assert found["nodes"]["batch_0"]["fresh"]


@pytest.mark.requirement("P4")
def test_without_a_session_a_fresh_window_is_taken(project: Path) -> None:
    assert _json("plan.md")["room"]["window_tokens"] == 200_000
    assert _json("plan.md", "--window", "1000000")["room"]["fresh_tokens"] == 600_000
    assert _json("plan.md", "--room", "5000")["room"]["now_tokens"] == 5000


@pytest.mark.requirement("P4")
def test_share_and_specs_are_settings(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_BATCH_SHARE", "0.3")
    monkeypatch.setenv("HOLDFAST_BATCH_SPECS", "1")
    found = _json("plan.md")
    assert (found["room"]["fresh_tokens"], found["room"]["most_specs"]) == (60_000, 1)


@pytest.mark.requirement("P1", "U3")
def test_the_table_shows_estimates_with_range_and_basis(project: Path) -> None:
    found = _invoke("plan.md", "--room", "90000")
    assert found.exit_code == 0
    for words in ("Write the cart", "90,000", "as given", "done already: 1"):
        assert words in found.stdout
    assert "based on  past requests of public sessions, none of your own" in found.stdout
    assert "not there yet, so taken as files to create: cart.py, price.py" in found.stderr


@pytest.mark.requirement("U3")
@pytest.mark.parametrize("text", ["* one\n* two\n", "1. first\n", "Soon:\n\n+ one\n", "2) b\n"])
def test_a_list_without_boxes_is_told_what_makes_a_task(project: Path, text: str) -> None:
    (project / "todo.md").write_text(text.replace("*", "-"))
    piped = CliRunner().invoke(holdfast_command, ["plan", "-"], input=text)
    for found in (piped, _invoke("todo.md")):
        assert isinstance(found.exception, BadPlan)
        assert "the plan has no tasks" in str(found.exception)
        assert "write `- [ ] ` before each task" in found.exception.hint


@pytest.mark.requirement("U3")
def test_a_list_that_is_yaml_as_well_is_a_plan_where_no_suffix_says_otherwise() -> None:
    words = "tasks:\n- title: Port\n  description: |\n    1. first\n    * then\n"
    for text in ("- one\n- two\n", words):
        piped = CliRunner().invoke(holdfast_command, ["plan", "-"], input=text)
        assert piped.exit_code == 0, piped.output


@pytest.mark.requirement("U3")
@pytest.mark.usefixtures("project")
def test_it_ends_with_the_next_step_where_a_person_reads() -> None:
    said = _invoke("plan.md").stderr
    assert "  next: holdfast run plan.md --dry-run\n" in said
    assert "  then: holdfast run plan.md -- --allowedTools Bash,Edit,Write\n" in said
    assert "starts 1 session of Claude, which may edit files and run commands\n" in said
    told = _invoke("plan.md", "--project", ".", "--window", "1m").stderr
    assert "next: holdfast run plan.md --project . --window 1000000 --dry-run\n" in told
    piped = CliRunner().invoke(holdfast_command, ["plan", "-"], input=PLAN)
    for other in (_invoke("plan.md", "--json"), _invoke("plan.md", "--mermaid"), piped):
        assert "next:" not in other.output


@pytest.mark.requirement("U3")
def test_tasks_are_shown_with_the_numbers_that_titles_name(project: Path) -> None:
    text = "- [x] Cut\n- [ ] Sew\n- [ ] Hoist (after 2)\n- [ ] T4: Sail\n"
    (project / "plan.md").write_text(text)
    said = _invoke("plan.md").stdout
    assert "2. Sew" in said and "3. Hoist (after 2)" in said
    assert "T4: Sail" in said and "4. T4" not in said


@pytest.mark.requirement("U3")
def test_it_says_who_commits(project: Path) -> None:
    (project / "plan.md").write_text("- [ ] Mend it and commit\n- [ ] Sail\n- [ ] Push\n")
    said = _invoke("plan.md").stderr
    assert '  commits: only in the tasks that name one: "Mend it and commit", "Push"\n' in said
    (project / "plan.md").write_text("- [ ] Mend it\n")
    assert "  commits: none, because neither" in _invoke("plan.md").stderr
    (project / "plan.md").write_text("Be kind. Commit after each knot.\n\n- [ ] Mend it\n")
    for said in (
        _invoke("plan.md").stderr,
        CliRunner().invoke(holdfast_command, ["run", "plan.md", "--dry-run"]).stderr,
    ):
        assert '  commits: as the plan says: "Commit after each knot."\n' in said


@pytest.mark.parametrize(
    "task",
    ["Log it in NEWS, then commit and tag 4.0rc1.", 'Write the page and commit with "Sail on"'],
)
def test_a_commit_is_named_wherever_the_task_speaks_of_it(project: Path, task: str) -> None:
    (project / "plan.md").write_text(f"- [ ] Mend it\n- [ ] {task}\n")
    said = _invoke("plan.md").stderr
    assert f'name one: "{task[:20]}' in said and "above the list" not in said


def test_a_commit_that_is_forbidden_or_told_of_is_none(project: Path) -> None:
    for words in ("Mend it; do not push", "Compare with the first commit", "Squash nothing"):
        (project / "plan.md").write_text(f"- [ ] {words}\n")
        assert "  commits: none, because neither" in _invoke("plan.md").stderr


def test_a_wish_for_all_commits_belongs_above_the_tasks(project: Path) -> None:
    for wish in ("Ship it, one commit per step", "Squash all of it into three commits"):
        (project / "plan.md").write_text(f"- [ ] Mend it\n- [ ] {wish}\n")
        assert 'write "commit after each task" above the list' in _invoke("plan.md").stderr


@pytest.mark.parametrize(
    ("title", "is_named"),
    [
        ("Commit it", True),
        ("See whether `Stack.push` is slow", False),
        ("Compare Stack.push and push/pop", False),
    ],
)
def test_a_push_in_code_is_no_commit(project: Path, title: str, is_named: bool) -> None:
    (project / "plan.md").write_text(f"- [ ] {title}\n")
    said = _invoke("plan.md").stderr
    assert ("only in the tasks that name one" in said) is is_named


@pytest.mark.parametrize(
    ("name", "found"),
    [("sail/mast.py", "src/sail/mast.py"), ("mast.py", "src/sail/mast.py"), ("b/x.py", "b/x.py")],
)
def test_a_file_is_known_by_the_end_of_its_path(project: Path, name: str, found: str) -> None:
    for path in ("src/sail/mast.py", "one/b/x.py", "two/b/x.py"):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text("x = 1\n")
    (project / "plan.md").write_text(f"- [ ] Mend {name}\n")
    [task] = json.loads(_invoke("plan.md", "--json").stdout)["nodes"]["batch_0"]["tasks"]
    assert task["named_files"] == [found]


def test_a_plan_says_that_no_session_decides_for_people(project: Path) -> None:
    (project / "plan.md").write_text("- [ ] Mend it\n- [ ] Lena approves it\n- [ ] Sail\n")
    assert "stops it too: no session decides for people" in _invoke("plan.md").stderr


@pytest.mark.parametrize(
    "title", ["Update the version in sails/*/mast.py", "Update tox.ini and everywhere it is named"]
)
def test_a_pattern_or_everywhere_is_no_single_file(project: Path, title: str) -> None:
    (project / "plan.md").write_text(f"- [ ] {title}\n")
    [task] = json.loads(_invoke("plan.md", "--json").stdout)["nodes"]["batch_0"]["tasks"]
    assert task["named_files"] == []


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
    (project / "plan.md").write_text(f"- [ ] Port\n  - files: {listed}\n  - estimate: 80k\n")
    found = _invoke("plan.md", "--room", "40k")
    assert "Port (part 1 of 2)" in found.stdout
    words = "a/1.py, a/2.py, a/3.py and 1 more: grouped by folder"
    assert words in " ".join(found.stdout.split())
    tight = _invoke("plan.md", "--room", "4k")
    assert '"Port" (part 8 of 8): about 10,000 tokens do not fit into 4,000' in tight.stderr
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
    (project / "plan.md").write_text(PLAN + "- [ ] Ship it\n  - estimate: 30k\n", "utf-8")
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
            an_answer(20_000 + 9000 * n, id=f"m{n}"),
        ]
    a_transcript(own_home / ".claude" / "projects" / "-shop" / "s.jsonl", *lines)
    (project / "plan.md").write_text("- [ ] fix\n", encoding="utf-8")
    found = _json("plan.md")
    assert found["past_requests"] == 12
    [task] = found["nodes"]["batch_0"]["tasks"]
    assert task["basis"] == "9 past requests like it, 9 in this project"


@pytest.mark.requirement("P3")
def test_it_is_drawn(project: Path) -> None:
    assert _invoke("plan.md", "--mermaid").stdout.startswith("flowchart TD\n")
    assert _invoke("plan.md", "--svg", "p.svg").exit_code == 0
    assert "Write docs" in "".join(ElementTree.parse(project / "p.svg").getroot().itertext())
    taken = _invoke("plan.md", "--svg", "plan.md")
    assert taken.exit_code == 1 and (project / "plan.md").read_text() == PLAN


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.md", "- [ ] a\n  - depends: b\n- [ ] b\n  - depends: a\n", "a.md:1: tasks wait"),
        ("a.json", '{"tasks": [}', "a.json:1:12: not JSON"),
        ("a.yaml", "tasks: &x [*x]", "a.yaml:1:12: a plan cannot use an alias"),
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


def test_a_plan_that_is_done_says_so(project: Path) -> None:
    (project / "plan.md").write_text("- [x] a\n- [x] b\n", encoding="utf-8")
    assert "nothing left to do: 2 tasks done" in _invoke("plan.md").stdout
    assert _json("plan.md")["nodes"] == {}


def test_a_home_that_takes_nothing_is_no_reason_to_fail(project: Path) -> None:
    Path(os.environ["HOLDFAST_HOME"]).write_text("a file where a folder should be")
    assert _invoke("plan.md", "--json").exit_code == 0


@pytest.mark.requirement("P4", "U3")
def test_tokens_are_said_as_a_plan_says_them(project: Path) -> None:
    assert _json("plan.md", "--room", "10k")["room"] == _json("plan.md", "--room", "10,000")["room"]
    assert _json("plan.md", "--window", "120k")["room"]["window_tokens"] == 120_000
    assert _json("plan.md", "--room", "1.5k")["room"]["now_tokens"] == 1_500
    for wrong in ("0", "many", "-1", "1.5.5k", "k"):
        assert _invoke("plan.md", f"--room={wrong}").exit_code == 2


@pytest.mark.requirement("P4", "U3")
@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--room=10", "such as 90k"),
        ("--window=5", "such as 200k"),
        ("--window=40k", "such as 200k"),
    ],
)
def test_a_size_that_holds_no_work_is_refused_with_one_that_does(
    project: Path, option: str, words: str
) -> None:
    found = _invoke("plan.md", option)
    assert found.exit_code == 2 and "is too small" in found.stderr and words in found.stderr


@pytest.mark.requirement("P4")
def test_a_title_is_shown_whole_also_across_a_semicolon(project: Path) -> None:
    words = [f"word{at}" for at in range(60)]
    first, rest = " ".join(words[:40]), " ".join(words[40:])
    (project / "plan.md").write_text(f"- [ ] Write {first};\n      {rest}\n", encoding="utf-8")
    shown = _invoke("plan.md").stdout.split()
    assert [word for word in words if word not in shown and f"{word};" not in shown] == []


@pytest.mark.slow
@pytest.mark.requirement("P4", "X7")
def test_the_notes_on_a_very_long_plan_are_bounded(project: Path) -> None:
    (project / "plan.md").write_text("".join(f"- [ ] t{n}\n  - estimate: 1m\n" for n in range(99)))
    found = _invoke("plan.md")
    assert found.stderr.count("do not fit") == 30
    assert "and 69 more notes: --json has all" in found.stderr
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


@pytest.mark.requirement("P3", "U3")
def test_the_table_shows_where_a_phase_begins(project: Path) -> None:
    text = "## Phase 1\n- [ ] Cut\n- [ ] Sew\n## Phase 2\n- [ ] Hoist\n"
    (project / "plan.md").write_text(text, encoding="utf-8")
    shown = _invoke("plan.md").stdout
    words = ("phase 1", "1. Cut", "2. Sew", "phase 2", "3. Hoist")
    places = [shown.index(one) for one in words]
    assert places == sorted(places) and shown.count("phase") == 2


@pytest.mark.requirement("P3", "U3")
def test_a_plan_without_boxes_is_shown_with_what_was_taken_as_tasks(project: Path) -> None:
    text = "# Sails\n\n1. **Cut** it\n2. Sew it. Depends on T9.\n"
    (project / "plan.md").write_text(text, encoding="utf-8")
    found = _invoke("plan.md")
    assert "1. Cut it" in found.stdout and "**" not in found.stdout
    assert "its 2 numbered items were taken as tasks" in found.stderr
    assert "task 2 ('Depends on T9'): waits for all tasks above" in found.stderr


@pytest.mark.requirement("P3", "U3")
def test_the_table_says_what_a_task_waits_for(project: Path) -> None:
    """Otherwise nobody sees whether the words of a plan were understood."""
    (project / "waits.md").write_text(
        "- [ ] T1: Cut a.py\n- [ ] Sew b.py\n- [ ] Rig it\n- [ ] Paint it (after T1 and 2)\n"
        "- [ ] Commit\n",
        "utf-8",
    )
    said = _invoke("waits.md").stdout
    lines = [line.strip() for line in said.splitlines()]
    assert "after T1, 2" in lines and "after all above" in lines


@pytest.mark.parametrize("command", ["plan", "run"])
def test_a_plan_that_is_a_link_to_itself_is_refused_in_words(command: str, project: Path) -> None:
    (project / "loop.md").symlink_to("loop.md")
    refused = CliRunner().invoke(holdfast_command, [command, "loop.md"]).exception
    assert isinstance(refused, BadPlan)
    assert (refused.exit_code, str(refused)) == (2, "loop.md: no such file")


@pytest.mark.requirement("P1", "U3")
def test_parts_of_a_task_are_not_counted_as_tasks(project: Path) -> None:
    files = ", ".join(f"{n}.py" for n in range(4))
    text = f"- [ ] Find out why it is slow\n- [ ] Write a parser\n  - files: {files}\n"
    (project / "plan.md").write_text(text, "utf-8")
    said = _invoke("plan.md", "--room", "8000").stdout
    assert "(part 2 of " in said
    assert "1 task of unknown size, the rest about " in said


@pytest.mark.requirement("P1", "U3")
def test_a_file_larger_than_a_window_is_named(project: Path) -> None:
    (project / "plan.md").write_text("- [ ] Rework it\n  - files: big.py\n", "utf-8")
    (project / "big.py").write_bytes(b"x = 1\n" * 150_000)
    words = "too large to be read whole in one session, so estimates count only a part"
    assert f"{words}: big.py (about 230,000 tokens)" in _invoke("plan.md").stderr
    assert words not in _invoke("plan.md", "--window", "1m").stderr


@pytest.mark.requirement("U3")
@pytest.mark.usefixtures("project")
def test_the_limit_of_tasks_is_named_as_the_setting_that_it_is() -> None:
    text = b"".join(b"- [ ] Fix %d\n  - files: %d.py\n" % (n, n) for n in range(5))
    said = CliRunner().invoke(holdfast_command, ["plan", "-"], input=text).stdout
    assert "3 tasks (limit: batch_specs)" in said


@pytest.mark.requirement("U3")
def test_in_a_pipe_titles_are_whole_and_no_line_ends_with_blanks(project: Path) -> None:
    title = "Write " + "a very long " * 20 + "title"
    (project / "plan.md").write_text(f"- [ ] {title}\n  - files: a.py\n", "utf-8")
    lines = _invoke("plan.md").stdout.splitlines()
    assert any(title in line for line in lines)
    assert lines == [line.rstrip() for line in lines]
