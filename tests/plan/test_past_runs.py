"""Tasks that were run are the best evidence: read back from their sessions, they put estimates
right."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.estimates import past, past_runs
from holdfast.plan.estimates.estimate import Past, estimate_request
from holdfast.plan.estimates.features import extract_features
from holdfast.plan.estimates.likeness import EstimateRequest
from holdfast.plan.estimates.past_runs import SAME, WORTH, RunTask
from holdfast.plan.split import TaskPiece
from holdfast.plan.task import PlanTask
from holdfast.record.run_prompt import is_of_a_run
from holdfast.run import prompt
from holdfast.run.prompt import PromptContext
from tests.builders import a_prompt, a_transcript, an_answer
from tests.plan.builders import a_past, a_piece, a_request, a_task, estimated

CHART = a_task(
    "chart",
    title="Draw the chart of the harbour",
    description="In metres.\n\nWith a legend.",
    files=("chart.py", "legend.py"),
)
WALL = a_task("wall", title="Paint the wall")


def _said(*tasks: PlanTask, **told: Any) -> str:
    pieces = [a_piece(), *(TaskPiece(task, a_piece().estimate) for task in tasks)][1:]
    return prompt.write_prompt(pieces, PromptContext(**{"title": "Harbour", **told}))


def _session(folder: Path, words: str, *, grown: int = 30_000, last: dict[str, Any] | None) -> None:
    """One of a run: 20,000 tokens before it began."""
    first = an_answer(20_000 + len(words) // 4, id="m1")
    rest = an_answer(20_000 + grown, id="m2", **(last or {"stop_reason": "end_turn"}))
    lines = [{**a_prompt(words), "cwd": "/p"}, first, rest]
    a_transcript(folder / "-p" / f"{abs(hash((words, grown)))}.jsonl", *lines)


def _ran(folder: Path, project: str = "/p") -> list[RunTask]:
    found = past.learn(Path(project), folder)
    assert not found.seen, "what a run is told is no request like a user's"
    return list(found.ran)


@pytest.mark.requirement("P1", "P5")
def test_what_the_conductor_tells_a_session_is_read_back() -> None:
    steps = (a_task("s1", title="first"), a_task("s2", title="second", files=("x.py",)))
    stepped = a_task("ship", title="Repair the ship", description="All of it.", subtasks=steps)
    part = a_task("cut", title="Sweep", files=("a.py", "b.py"), part="2 of 3")
    said = _said(CHART, WALL, stepped, part, error="", beside=True, briefs=("<b>\n## 9. x  [y]",))
    assert is_of_a_run(said)
    assert past_runs.parse_tasks(said) == [
        past_runs.PromptTask(CHART.words, 2),
        past_runs.PromptTask("Paint the wall", None),
        past_runs.PromptTask("Repair the ship\nAll of it.", None),
        past_runs.PromptTask("Sweep", 2),
    ]


@pytest.mark.requirement("P1", "P5")
def test_a_step_is_told_what_holds_for_all_of_its_task_once_and_learnt_by_its_own_words() -> None:
    ship = a_task("ship", title="Repair the ship", description="Never at sea.", files=("hull.py",))
    pieces = [replace(a_piece(name), of=ship) for name in ("plank", "rope")]
    said = prompt.write_prompt(pieces, PromptContext(title="Harbour"))
    assert said.count('This is one step of a larger task, "Repair the ship".') == 2
    assert said.count("Never at sea.") == said.count("Files of all of it: hull.py\n") == 1
    assert said.index("plank") < said.index("Never at sea.") < said.index("rope")
    assert past_runs.parse_tasks(said) == [
        past_runs.PromptTask(one, None) for one in ("plank", "rope")
    ]


@pytest.mark.requirement("P5")
def test_files_are_counted_only_where_the_plan_names_folders() -> None:
    step = a_task("s", files=("src",))
    written = a_task("one", files=("a.py",), subtasks=(step,))
    assert "Files: a.py\n" in _said(a_task("one", files=("a.py",), written=written))


@given(st.text(max_size=300))
def test_any_words_at_all_are_read_without_a_slip(text: str) -> None:
    for words in (text, f"This is batch 1 of 2 of a plan.\n{text}", _said(WALL) + text):
        if is_of_a_run(words):
            past_runs.parse_tasks(words)


@pytest.mark.slow
@pytest.mark.requirement("P1")
def test_a_line_of_a_million_brackets_is_gone_through_once() -> None:
    head = "This is batch 1 of 1 of a plan.\n"
    words = f"{head}\n## Task 1: Dig  [dig]\n\n## Task 1: a{'  [' * 1_000_000}\n{prompt.DONE}"
    assert is_of_a_run(words)
    assert len(past_runs.parse_tasks(words)) == 1


@pytest.mark.requirement("P1")
def test_many_files_are_counted_though_few_are_named() -> None:
    names = tuple(f"f{n}.py" for n in range(1_234))
    many = a_task("many", files=names)
    spread = a_task("many", files=names, written=a_task("many", files=("a", "src/**")))
    for task in (many, spread):
        assert past_runs.parse_tasks(_said(task))[0].files == len(names)
    folder = replace(spread, files=(*names, "tests"), held={"tests": 40})
    assert past_runs.parse_tasks(_said(folder))[0].files == len(names) + 1


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    ("words", "files"),
    [("a, b and 1,000 more", 1_002), ("src/** (1,025 in all)", 1_025), ("a (1 file)", 1)],
)
def test_files_in_the_prompts_of_earlier_versions_are_counted(words: str, files: int) -> None:
    told = _said(a_task("many", files=("x",))).replace("Files: x", f"Files: {words}")
    assert past_runs.parse_tasks(told)[0].files == files


@pytest.mark.requirement("P1")
def test_a_task_of_a_run_is_learnt_by_its_own_words_and_what_its_session_took(
    tmp_path: Path,
) -> None:
    _session(tmp_path, _said(CHART), last=None)
    [one] = _ran(tmp_path)
    assert (one.words, one.files) == (extract_features(CHART.words), 2)
    assert one.growth_tokens == pytest.approx(30_000, abs=200)
    assert _ran(tmp_path, "/elsewhere") == []


@pytest.mark.requirement("P1")
def test_tasks_of_one_session_share_what_it_took(tmp_path: Path) -> None:
    _session(tmp_path, _said(CHART, WALL), last=None)
    chart, wall = _ran(tmp_path)
    assert chart.growth_tokens + wall.growth_tokens == pytest.approx(30_000, abs=200)
    assert wall.growth_tokens > chart.growth_tokens, "three files are taken where none is listed"


@pytest.mark.requirement("P1")
def test_one_that_did_not_end_well_tells_nothing(tmp_path: Path) -> None:
    _session(tmp_path, _said(CHART), last={"calls": ("t1",)})
    assert _ran(tmp_path) == []


@pytest.mark.requirement("P1")
def test_one_that_finished_what_another_began_tells_nothing(tmp_path: Path) -> None:
    _session(tmp_path, _said(CHART, again=True), last=None)
    assert _ran(tmp_path) == []


@pytest.mark.requirement("X4")
def test_no_word_of_a_task_is_kept(tmp_path: Path) -> None:
    _session(tmp_path, _said(CHART), last=None)
    past.learn(Path("/p"), tmp_path)
    kept = (Path(past.learned_file())).read_text()
    assert "harbour" not in kept and "legend" not in kept
    [entry] = json.loads(kept)["transcripts"].values()
    assert len(entry["rows"]) == 1


def _put_right(by: float, *names: PlanTask) -> Past:
    """A past in which each of these took `by` times what was expected."""
    known = a_past(*(a_request("fix it", 4_000 + 100 * n, 1) for n in range(39)))
    took = [round(estimated(task, known).tokens * by) for task in names]
    tried = [
        RunTask(extract_features(task.words), task.file_count, tokens)
        for task, tokens in zip(names, took, strict=True)
    ]
    return Past(known.seen, ran=tried)


@pytest.mark.requirement("P1")
def test_a_task_that_was_run_before_is_put_right_by_half(tmp_path: Path) -> None:
    before = estimated(CHART, _put_right(1.0)).tokens
    after = estimated(CHART, _put_right(4.0, CHART))
    assert after.tokens == pytest.approx(before * 4 ** (SAME / (SAME + WORTH)), rel=0.01)
    assert after.low_tokens < after.tokens < after.high_tokens
    assert after.basis.endswith("1 task run here, 1 just like it")


@pytest.mark.requirement("P1")
def test_tasks_that_took_more_than_expected_raise_the_others_a_little_each() -> None:
    ran = [a_task(f"t{n}", title=f"task {n} of {'x' * n}", files=("a.py",)) for n in range(12)]
    sizes = [estimated(CHART, _put_right(4.0, *ran[:n])).tokens for n in (0, 1, 4, 12)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == pytest.approx(sizes[0] * 2, rel=0.02), "a dozen go half the way"


@pytest.mark.requirement("P1")
def test_a_prompt_typed_into_a_session_is_no_task_of_a_plan() -> None:
    typed = EstimateRequest(
        extract_features("fix it"), position=3, planning=False, earlier_tokens=5_000
    )
    assert estimate_request(typed, _put_right(4.0, CHART)) == estimate_request(
        typed, _put_right(1.0)
    )
