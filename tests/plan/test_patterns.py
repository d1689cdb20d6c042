"""Patterns of a plan stand for the files that match, and the task stays what it was."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan import room
from holdfast.plan.estimate import Past
from holdfast.plan.planner import make_workflow
from holdfast.plan.project_files import FilePattern, expand_patterns
from holdfast.plan.task import MOST_FILES
from holdfast.run.journal import Ended, RunHistory, Started, index_tasks, remove_done, share_of
from tests.plan.builders import a_plan, a_task

NAMES = ("api/a.py", "api/deep/b.py", "api/notes.md", "web/c.ts", "top.py")


@pytest.fixture(params=["git", "no git"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    for name in (*NAMES, "node_modules/x/y.py", ".hidden/z.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    if request.param == "git":
        (tmp_path / ".gitignore").write_text("node_modules\n.*\n", encoding="utf-8")
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


@pytest.mark.slow
@pytest.mark.requirement("P2")
@pytest.mark.parametrize(
    ("written", "stands_for"),
    [
        ("api", ["api"]),  # a place to look into
        ("./api/", ["api"]),
        ("**", sorted(NAMES)),
        ("api/*.py", ["api/a.py"]),
        ("**/*.py", ["api/a.py", "api/deep/b.py", "top.py"]),
        ("api/**", ["api/a.py", "api/deep/b.py", "api/notes.md"]),
        ("web/[a-c].ts", ["web/c.ts"]),
        ("api/a.py", ["api/a.py"]),
        ("api/new.py", ["api/new.py"]),
        ("web/*.py", ["web/*.py"]),
        ("../elsewhere", ["../elsewhere"]),
    ],
)
def test_a_pattern_stands_for_the_files_that_match(
    project: Path, written: str, stands_for: list[str]
) -> None:
    [task] = expand_patterns(a_plan(a_task(files=(written,))), project).tasks
    assert list(task.paths) == stands_for


@pytest.mark.requirement("P5")
def test_a_file_more_that_matches_is_no_other_task(project: Path) -> None:
    plan = a_plan(a_task(files=("api/**",)))
    before = expand_patterns(plan, project).tasks[0]
    (project / "api/new.py").write_text("", encoding="utf-8")
    after = expand_patterns(plan, project).tasks[0]
    assert after.paths != before.paths
    assert before.hash == after.hash == plan.tasks[0].hash


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    "made",
    [
        ["made.py"],
        ["."],
        pytest.param([f"m{n}.py" for n in range(MOST_FILES)], marks=pytest.mark.slow),  # as many
    ],
)
def test_neither_what_a_cut_task_makes_nor_what_it_moves_away_is_work_left(
    project: Path, made: list[str]
) -> None:
    plan = a_plan(a_task(files=("api/**",), size_tokens=300))
    known, spread_out = RunHistory(), expand_patterns(plan, project)
    flow = make_workflow(spread_out, room.stated_room(100, 3), Past(), project)
    for number, piece in enumerate(p for batch in flow.batches for p in batch.pieces):
        share = share_of(piece, index_tasks(spread_out))
        known.take(Started(str(number), tasks=(share,)))
        known.take(Ended(str(number), "done"))
    assert len(known.done) == 3
    if made == ["."]:
        (project / "api").rename(project / "moved")
    for name in made if made != ["."] else ():
        (project / "api" / name).touch()
    again = expand_patterns(plan, project, known.spread())
    assert [task.done for task in remove_done(again, known.coverage()).tasks] == [True]


@pytest.mark.requirement("P2")
@given(st.text("ab*?/[]!", min_size=1, max_size=200), st.text("ab/", min_size=1, max_size=200))
def test_no_pattern_keeps_anybody_waiting(pattern: str, name: str) -> None:
    assert FilePattern(pattern).fits(name) in (True, False)
    assert FilePattern("/".join(["**"] * 60) + "/x").fits("/".join("a" * 200)) is False
