"""Estimates: the formula with the sizes of files, corrected by what similar tasks used."""

from pathlib import Path

import pytest

from holdfast.plan.estimate import Estimator, Past, PastTask, TaskEstimate, apply_formula, find_kind
from holdfast.plan.task import PlanTask
from tests.plan.builders import a_task


def _estimate(task: PlanTask, root: Path = Path("/none"), *past: PastTask) -> TaskEstimate:
    return Estimator(Past(past), root).estimate(task)


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    ("words", "kind", "multiplier"),
    [
        ("Refactor the parser and fix it", "refactor", 2.0),
        ("Fix it", "fix", 1.0),
        ("Mind the prefix of an address", "", 1.0),
        ("Write it\nand implement the rest", "", 1.0),
    ],
)
def test_the_kind_of_work_is_the_strongest_word_of_the_title(
    words: str, kind: str, multiplier: float
) -> None:
    assert find_kind(words) == (kind, multiplier)


@pytest.mark.requirement("P1")
def test_the_inputs_of_an_estimate_are_shown_and_give_the_number(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x" * 16_000)
    title = "Implement " + "it" * 15
    size = _estimate(a_task(title=title, files=("a.py", "new.py")), tmp_path)
    assert size.inputs == (
        "(10 for its text + 6,000 for 1 file, 1 file to create) x 1.5 (implement)"
        " x 2.7 (as in public sessions)"
    )
    assert apply_formula(len(title), 6_000, 1.5) == 9_015
    assert (size.low_tokens, size.tokens, size.high_tokens) == (9_900, 24_000, 66_000)
    assert not size.is_unknown


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("files", [(), ("src",)])
def test_a_task_without_files_is_unknown_and_counts_as_three(
    tmp_path: Path, files: tuple[str, ...]
) -> None:
    (tmp_path / "src").mkdir()
    size = _estimate(a_task(files=files), tmp_path)
    assert size.is_unknown == (not files)
    assert "6,000 for 3 files" in size.inputs
    assert size.tokens == 16_000


@pytest.mark.requirement("P1")
def test_similar_tasks_correct_the_formula_the_more_the_more_there_are() -> None:
    """Those of the same kind of work and of a similar size."""
    task = a_task(title="Fix it", files=("new.py",))
    plain = _estimate(task).tokens
    alike = PastTask(1.0, 2_000, 40_000, here=True)
    other = (PastTask(2.0, 2_000, 40_000, here=True), PastTask(1.0, 9_000, 90_000, here=True))
    sizes = [_estimate(task, Path("/none"), *other, *[alike] * count) for count in (0, 3, 12, 120)]
    assert sizes[0].tokens == plain
    assert plain < sizes[1].tokens < sizes[2].tokens < sizes[3].tokens < 40_000
    assert "(as 12 similar tasks in this project)" in sizes[2].inputs
    assert sizes[3].tokens == pytest.approx(40_000, rel=0.2)
