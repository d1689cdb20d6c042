"""A plan becomes a workflow: batches, checkpoints between them, ids that stay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.plan import room
from holdfast.plan.estimates.estimate import Past, TaskEstimate
from holdfast.plan.files.patterns import expand_patterns
from holdfast.plan.findings import leaves_no_file
from holdfast.plan.formats.read import read_plan
from holdfast.plan.picture import draw_mermaid, draw_svg
from holdfast.plan.planner import make_workflow
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.plan.workflow import Workflow, as_json
from tests.plan.builders import a_past, a_plan, a_request, a_room, a_task


def _made(
    *tasks: PlanTask, at: PlanRoom | None = None, root: Path = Path("/nonexistent")
) -> Workflow:
    return make_workflow(TaskPlan("a plan", tasks), at or a_room(), Past(), root)


def _sized(name: str, tokens: int = 60_000, **given: object) -> PlanTask:
    return a_task(name, estimate_tokens=tokens, **given)


@pytest.mark.requirement("P3")
def test_a_checkpoint_stands_between_each_two_batches() -> None:
    found = as_json(_made(_sized("a"), _sized("b"), _sized("c")))
    assert list(found["nodes"]) == ["batch_0", "checkpoint_0", "batch_1", "checkpoint_1", "batch_2"]
    assert found["edges"][:2] == [
        {"from": "batch_0", "to": "checkpoint_0"},
        {"from": "checkpoint_0", "to": "batch_1"},
    ]
    assert found["nodes"]["checkpoint_0"]["type"] == "single"
    assert "checkpoint" in found["nodes"]["checkpoint_0"]["prompt"]
    json.dumps(found)


@pytest.mark.requirement("P3")
def test_a_batch_is_parallel_only_where_nothing_waits_and_no_file_is_shared() -> None:
    free = _made(_sized("a", 10, files=("x",)), _sized("b", 10, files=("y",)))
    unlisted = _made(_sized("a", 10, files=("x",)), _sized("b", 10))
    tied = _made(_sized("a", 10), _sized("b", 10, depends=("a",)))
    shared = _made(_sized("a", 10, files=("x",)), _sized("b", 10, files=("x",)))
    alone = _made(_sized("a", 10))
    kinds = [
        as_json(one)["nodes"]["batch_0"]["type"] for one in (free, unlisted, tied, shared, alone)
    ]
    assert kinds == ["parallel", "single", "single", "single", "single"]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    "words",
    [
        "Only after the old shim is gone, because it hides errors.",
        "Cannot start until the rewrite is merged.",
        "Makes sense once the types work.",
        "This follows the update of the parser.",
    ],
)
def test_a_task_that_speaks_of_an_order_is_not_beside_another(words: str) -> None:
    text = f"- [ ] Cut it\n  - files: x.py\n- [ ] Sew it\n  - files: y.py\n  {words}\n"
    kinds = [
        as_json(_made(*read_plan(one).tasks))["nodes"]["batch_0"]["type"]
        for one in (text, text.replace(words, "Use the long needle."))
    ]
    assert kinds == ["single", "parallel"]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("other", ["src", "src/a", ".", "src/a/b.py"])
def test_a_folder_and_a_file_in_it_are_no_two_sessions_at_once(other: str) -> None:
    tasks = [_sized("a", 10, files=("src/a/b.py",)), _sized("b", 10, files=(other,))]
    for order in (tasks, tasks[::-1]):
        assert as_json(_made(*order))["nodes"]["batch_0"]["type"] == "single"


@pytest.mark.requirement("P3")
def test_a_step_is_not_beside_a_task_that_has_a_file_of_all_its_steps() -> None:
    step = _sized("big/one", 10, spec="big", files=("z",))
    big = _sized("big", 200_000, files=("x",), subtasks=(step,))
    for files, kind in ((("x",), "single"), (("y",), "parallel")):
        found = as_json(_made(big, _sized("other", 10, files=files)))
        assert found["nodes"]["batch_0"]["type"] == kind


@pytest.mark.requirement("P2", "P3")
def test_a_picture_says_whose_step_a_step_is() -> None:
    steps = (_sized("big/one", spec="big"), _sized("big/two", spec="big"))
    found = _made(_sized("big", 200_000, title="Rebuild it", subtasks=steps))
    assert draw_svg(found).count("a step of &quot;Rebuild it&quot;") == 2


@pytest.mark.slow
@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (a_task(files=("src",)), a_task(files=("src/new.py",)), "single"),
        (a_task(files=("src/*.py",)), a_task(files=("src/new.py",)), "single"),
        (a_task(files=("src/*.py",)), a_task(files=("src/new.ts",)), "parallel"),
        (a_task(files=("new/**",)), a_task(files=("new/x.py",)), "single"),
        (a_task(files=("src/a.py",)), a_task(files=("linked/a.py",)), "single"),
        (
            a_task(subtasks=(a_task("s", files=("x.py",)),)),
            a_task(subtasks=(a_task("t", files=("x.py",)),)),
            "single",
        ),
    ],
)
def test_what_will_be_made_in_a_folder_is_shared_too(
    tmp_path: Path, one: PlanTask, other: PlanTask, kind: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").touch()
    (tmp_path / "linked").symlink_to("src")
    tasks = (replace(one, estimate_tokens=10), replace(other, id="b", spec="b", estimate_tokens=9))
    for order in (tasks, tasks[::-1]):
        spread_out = expand_patterns(TaskPlan("p", order), tmp_path).tasks
        assert as_json(_made(*spread_out))["nodes"]["batch_0"]["type"] == kind


@pytest.mark.requirement("X4")
def test_no_secret_of_a_title_is_in_a_picture() -> None:
    secret = "ghp_" + "a1b2c3d4e5" * 3 + "a1b2c3"
    found = _made(a_task(title=f"Use {secret}"))
    assert "a1b2" not in draw_svg(found) + draw_mermaid(found)


@pytest.mark.requirement("P3")
def test_whoever_waits_for_a_task_that_was_cut_waits_for_all_its_parts() -> None:
    files = tuple(f"{n}.txt" for n in range(8))
    found = _made(_sized("big", 400_000, files=files), _sized("after", depends=("big",)))
    pieces = [piece.task for batch in found.batches for piece in batch.pieces]
    parts = [task.id for task in pieces if task.spec == "big"]
    assert len(parts) == 4 and pieces[-1].id == "after"
    assert sorted(pieces[-1].depends) == sorted(parts)


@pytest.mark.requirement("P3")
def test_what_is_done_is_not_batched_and_keeps_nobody_waiting() -> None:
    found = _made(_sized("a", done=True), _sized("b", depends=("a",)))
    assert found.done == ("a",)
    [batch] = found.batches
    assert batch.pieces[0].task.depends == ()


@pytest.mark.requirement("P3")
def test_ids_and_hashes_stay_while_other_tasks_change() -> None:
    before = _made(_sized("a"), _sized("b"), _sized("c"))
    edited = replace(_sized("c"), description="now with words")
    after = _made(_sized("a"), _sized("b"), edited)
    kept = {batch.id for batch in before.batches} & {batch.id for batch in after.batches}
    assert len(kept) == 2
    assert _sized("c").hash != edited.hash
    assert _sized("c").hash == replace(_sized("c"), depends=("a",), estimate_tokens=5).hash


@pytest.mark.requirement("P4")
def test_the_room_is_what_the_window_leaves_and_at_most_the_share() -> None:
    roomy = room.room_beside(200_000, 167_000, 10_000, 0.6, 3, "")
    full = room.room_beside(200_000, 167_000, 150_000, 0.6, 3, "")
    over = room.room_beside(200_000, 167_000, 190_000, 0.6, 3, "")
    assert (roomy.now_tokens, roomy.fresh_tokens) == (120_000, 120_000)
    assert (full.now_tokens, over.now_tokens) == (17_000, 0)
    assert room.fresh_room(200_000, 0.9, 3, "").now_tokens == 200_000 - 33_000 - room.FRESH_TOKENS
    assert room.fresh_room(10, 0.6, 3, "").now_tokens == 1


@pytest.mark.requirement("P4")
def test_a_session_too_full_for_anything_is_left_for_a_fresh_one() -> None:
    found = _made(_sized("a"), at=a_room(now=500))
    assert found.batches[0].fresh and found.batches[0].room_tokens == 100_000
    fits = _made(_sized("a", 400), at=a_room(now=500))
    assert not fits.batches[0].fresh


@pytest.mark.requirement("P2")
def test_what_is_odd_is_said(tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("")
    found = _made(
        a_task("a", files=("there.py", "new.py", "../x.py", "/etc/passwd")),
        a_task("b", files=("\0", "x" * 5000)),
        _sized("huge", 2_000_000),
        root=tmp_path,
    )
    said = "\n".join(found.warnings)
    assert "not there yet, so taken as files to create: new.py" in said
    assert "not in this project, and not looked at: ../x.py, /etc/passwd" in said
    assert '"huge": about 2,000,000 tokens do not fit into 100,000' in said
    assert "no window holds more than 1,000,000" in said


@pytest.mark.requirement("P3")
def test_a_range_of_a_batch_is_narrower_than_the_sum_of_its_ranges() -> None:
    [batch] = _made(a_task("a", files=("a.py",)), a_task("b", files=("b.py",))).batches
    highs = sum(piece.estimate.high_tokens for piece in batch.pieces)
    assert batch.low_tokens < batch.tokens < batch.high_tokens < highs


@pytest.mark.requirement("P1", "P3")
def test_a_task_of_unknown_size_gets_a_session_of_its_own() -> None:
    found = _made(_sized("a", 500), a_task("Improve the login"), _sized("c", 500))
    alone = next(batch for batch in found.batches if batch.is_unknown)
    assert len(alone.pieces) == 1 and len(found.batches) == 3, "it keeps its place in the list"
    assert (found.tokens, found.unknown) == (1000, 1)
    told = as_json(found)
    [node] = [one for one in told["nodes"].values() if one.get("estimated_tokens", 0) is None]
    assert node["tasks"][0]["high_tokens"] is None
    assert "size unknown" in draw_mermaid(found) and ">unknown<" in draw_svg(found)


@pytest.mark.requirement("P4")
def test_near_the_limit_only_what_fits_by_its_upper_end_is_begun() -> None:
    task = a_task("fix", files=("a.py", "b.py"))
    size = _made(task).batches[0]
    assert size.tokens < 20_000 < size.high_tokens < 100_000
    for now, is_begun in ((20_000, False), (size.high_tokens, True), (100_000, True)):
        assert _made(task, at=a_room(now=now)).batches[0].fresh is not is_begun
    unknown = _made(a_task("Improve the login"), at=a_room())
    assert unknown.batches[0].fresh


@pytest.mark.requirement("P3")
def test_batches_that_may_compact_are_named() -> None:
    wide = a_task("port", files=tuple(f"{n}.py" for n in range(15)))
    [batch] = _made(wide).batches
    assert batch.tokens < 100_000 < a_room().most_tokens < batch.high_tokens
    said = _made(_sized("a", 90_000), wide).warnings[0]
    assert said.startswith("batch 2 may compact once") and "checkpoint" in said
    smaller = replace(a_room(), fresh_tokens=40_000, now_tokens=0)
    assert not any("may compact" in one for one in _made(wide, at=smaller).warnings)
    assert not any("may compact" in one for one in _made(_sized("a", 90_000)).warnings)


@pytest.mark.requirement("P4")
def test_a_full_session_makes_no_other_batches_than_a_fresh_one() -> None:
    tasks = [_sized(str(n), 40_000) for n in range(5)]
    ids = [[batch.id for batch in _made(*tasks, at=a_room(now=now)).batches] for now in (9, 90_000)]
    assert ids[0] == ids[1]
    said = _made(*tasks, at=a_room(now=45_000)).warnings
    assert 'this session has room for the first of them: "0"' in said


@pytest.mark.requirement("P3")
def test_a_commit_comes_after_all_that_is_listed_before_it() -> None:
    tasks = [_sized("a", 90_000), _sized("b", 90_000), _sized("commit", 10), _sized("c", 10)]
    found = [[p.task.id for p in batch.pieces] for batch in _made(*tasks).batches]
    assert found == [["a"], ["b", "commit", "c"]]
    backwards = [_sized("commit", 10), _sized("a", 90_000, depends=("b",)), _sized("b", 90_000)]
    assert [p.task.id for p in _made(*backwards).batches[0].pieces] == ["commit", "b"]


@pytest.mark.requirement("P3")
def test_a_task_that_ends_with_a_commit_comes_after_all_that_is_listed_before_it() -> None:
    names = ("a", "b", "Update the page and commit", "c")
    tasks = [_sized(name, size) for name, size in zip(names, (90_000, 90_000, 9, 9), strict=True)]
    found = [[p.task.id for p in batch.pieces] for batch in _made(*tasks).batches]
    assert found == [["a"], ["b", names[2], "c"]]
    other = [*tasks[:2], _sized("Show what to commit", 9), tasks[3]]
    assert not any(p.task.depends for batch in _made(*other).batches for p in batch.pieces)


@pytest.mark.requirement("P4")
def test_a_file_that_several_tasks_will_create_is_reported_once(tmp_path: Path) -> None:
    tasks = [_sized("a", files=("new.py", "other.py")), _sized("b", files=("new.py",))]
    found = _made(*tasks, root=tmp_path).warnings
    assert found == ("not there yet, so taken as files to create: new.py, other.py",)


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("title", ["T7: Rename edge to limit", "3. rename it", "[T2] Rename it"])
def test_a_numbered_rename_is_a_rename(title: str) -> None:
    [batch] = _made(a_task(title, files=tuple(f"{n}.py" for n in range(60)))).batches
    assert len(batch.pieces) == 1


@pytest.mark.requirement("P1", "P2")
@pytest.mark.parametrize(
    ("title", "is_place"),
    [("Delete knots that nobody ties", True), ("Find dead knots", True), ("Tie knots", False)],
)
def test_the_pattern_of_a_removal_is_a_place_to_look(
    tmp_path: Path, title: str, is_place: bool
) -> None:
    for n in range(60):
        (tmp_path / f"{n}.py").touch()
    plan = TaskPlan("p", (a_task(title, files=("*.py",)),))
    found = _made(*expand_patterns(plan, tmp_path).tasks, root=tmp_path)
    assert (found.tokens < 50_000) is is_place
    assert any("what it looks for" in one for one in found.warnings) is is_place


@pytest.mark.requirement("P2")
def test_a_rename_is_not_cut_and_its_patterns_are_places_to_look(tmp_path: Path) -> None:
    for n in range(60):
        (tmp_path / f"{n}.py").touch()
    plan = TaskPlan("p", (a_task("Rename edge to limit", files=("*.py",)),))
    [batch] = _made(*expand_patterns(plan, tmp_path).tasks, root=tmp_path).batches
    assert batch.tokens < 50_000
    [too_large] = _made(a_task("rename it", files=tuple(f"{n}.py" for n in range(60)))).batches
    assert len(too_large.pieces) == 1


GROUPS = (tuple(f"{n}.py" for n in range(5)), ("5.py",))


@pytest.mark.requirement("P2", "P3")
def test_parts_count_in_the_order_they_are_done_in() -> None:
    """The last part is the small one, and fits beside the first task."""
    big = _sized("big", 120_000, files=tuple(f"{n}.py" for n in range(6)), groups=GROUPS)
    found = _made(_sized("small", 30_000), big)
    parts = [p.task for batch in found.batches for p in batch.pieces if p.task.part]
    assert [one.part for one in parts] == ["1 of 2", "2 of 2"]


@pytest.mark.requirement("P4", "U3")
def test_the_numbers_that_are_shown_add_up() -> None:
    names = [tuple(f"{task}/{n}.py" for n in range(task + 1)) for task in range(7)]
    found = _made(*(a_task(f"Mend net {len(some)}", files=some) for some in names))
    shown = [_number(batch.in_words[0]) for batch in found.batches]
    for batch, tokens in zip(found.batches, shown, strict=True):
        assert tokens == sum(_number(piece.estimate.in_words[0]) for piece in batch.pieces)
    assert found.size == f"about {sum(shown):,} tokens"


def _number(words: str) -> int:
    return int(words.replace(",", ""))


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("before", ["", "11. ", "T11: ", "**", "11. **", "**S11 \u2013 "])
def test_a_number_or_bold_marks_before_the_verb_change_nothing(before: str) -> None:
    """A task that runs something is as large as what comes out, whatever file it names."""
    assert _made(a_task(f"{before}Run tests/test_ropes.py")).batches[0].is_unknown
    assert not _made(a_task(f"{before}Mend tests/test_ropes.py")).batches[0].is_unknown


@pytest.mark.requirement("P1")
def test_a_file_without_suffix_counts_if_the_project_has_it(tmp_path: Path) -> None:
    """The words of a title tell a file from `and/or` only where it is there."""
    task = a_task("Add the gate to .ci/run and Makefile")
    assert _made(task, root=tmp_path).batches[0].is_unknown
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci/run").touch()
    (tmp_path / "Makefile").touch()
    [batch] = _made(task, root=tmp_path).batches
    assert batch.pieces[0].estimate.named_files == (".ci/run", "Makefile")


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    "title", ["Add a changelog entry", "Changelog, then commit", "Update the README."]
)
@pytest.mark.parametrize("changelog", ["CHANGELOG.md", "CHANGES.rst", "HISTORY"])
def test_the_changelog_and_the_readme_are_files_if_the_project_has_them(
    tmp_path: Path, title: str, changelog: str
) -> None:
    assert _made(a_task(title), root=tmp_path).batches[0].is_unknown
    (tmp_path / changelog).touch()
    (tmp_path / "README.md").touch()
    assert not _made(a_task(title), root=tmp_path).batches[0].is_unknown


@pytest.mark.requirement("P3")
def test_documents_are_not_written_before_the_work_they_may_describe() -> None:
    """The third task would fit beside the first, in a plan that is not packed as listed."""
    first, second = _sized("Reef", 60_000), _sized("Hoist", 95_000)
    rest = [_sized(str(n), 55_000 if n < 6 else 45_000) for n in range(12)]
    for third, with_first in (("docs/sails.md", False), ("src/sails.py", True)):
        found = _made(first, second, _sized("Tell", 9_000, files=(third,)), *rest).batches
        assert ("Tell" in [piece.task.id for piece in found[0].pieces]) is with_first
    tells = _sized("Tell", 9, files=("docs/sails.md",))
    [beside] = _made(_sized("Reef", 9, files=("src/reef.py",)), tells).batches
    assert not beside.parallel


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    ("title", "is_unknown"),
    [
        ("Run the knot tests and fix what differs", True),
        ("Profile the winch; it must not be slower", True),
        ("Benchmark the winch", True),
        ("Fix the cause", False),
        ("Mend the winch", False),
    ],
)
def test_files_that_are_only_run_do_not_tell_the_size(
    tmp_path: Path, title: str, is_unknown: bool
) -> None:
    (tmp_path / "winch.py").touch()
    [batch] = _made(a_task(title, files=("winch.py",)), root=tmp_path).batches
    assert batch.is_unknown is is_unknown
    new = _made(a_task(title, files=("winch.py", "new.py")), root=tmp_path)
    assert not new.batches[0].is_unknown, "a file that is not there is written"


@pytest.mark.requirement("P1")
def test_a_task_takes_no_less_than_its_files(tmp_path: Path) -> None:
    """A file is read to be changed; one that is very large is read in parts."""
    for name, size in (("chart.py", 4_000), ("log.py", 36_000), ("atlas.py", 800_000)):
        (tmp_path / name).write_bytes(b"#" * size)

    def size_of(name: str, **given: Any) -> TaskEstimate:
        task = a_task(f"Mend {name}", **given)
        return _made(task, root=tmp_path).batches[0].pieces[0].estimate

    chart, log, atlas = map(size_of, ("chart.py", "log.py", "atlas.py"))
    assert chart.tokens < log.tokens < atlas.tokens < 30_000
    assert log.low_tokens > 9_000, "reading it takes as much"
    assert size_of("it", files=("log.py",)).low_tokens > 9_000


@pytest.mark.requirement("P1")
def test_a_question_of_a_plan_is_something_to_investigate() -> None:
    title = "How much slower is each knot?"
    assert _made(a_task(title)).batches[0].is_unknown
    own = [a_request(f"Investigate knot {n}", 9000 + n) for n in range(400)]
    known = make_workflow(a_plan(a_task(title)), a_room(), a_past(*own), Path("/nonexistent"))
    assert not known.batches[0].is_unknown


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("files", [(), ("docs/knots.md",)])
def test_the_file_of_its_result_does_not_tell_the_size_of_a_search(files: tuple[str, ...]) -> None:
    task = a_task("Find out who ties knots and write the list to docs/knots.md", files=files)
    assert _made(task).batches[0].is_unknown
    reads = replace(task, files=(*files, "src/knots.py"))
    assert not _made(reads).batches[0].is_unknown


@pytest.mark.requirement("P3")
def test_a_search_is_not_moved_behind_work_that_is_listed_after_it() -> None:
    """The fewest batches would begin with b and d."""
    for title, is_first in (("Mend knots", False), ("Find out who ties knots", True)):
        tasks: list[PlanTask] = []
        for n in range(3):  # three batches less, if tasks are moved
            tasks += [_sized(f"{title} {n}", 40_000), _sized(f"b{n}", 50_000)]
            tasks += [_sized(f"c{n}", 60_000, depends=(f"b{n}",)), _sized(f"d{n}", 50_000)]
        found = [piece.task.id for piece in _made(*tasks).batches[0].pieces]
        assert (f"{title} 0" in found) is is_first


@pytest.mark.requirement("P3")
def test_batches_follow_the_list_unless_that_takes_two_more_of_them() -> None:
    sizes = (60_000, 60_000, 40_000, 40_000)
    some = [_sized(f"{n}", size) for n, size in enumerate(sizes)]
    found = [[p.task.id for p in batch.pieces] for batch in _made(*some).batches]
    assert found == [["0"], ["1", "2"], ["3"]]
    many = [_sized(f"{n}", size) for n, size in enumerate((*sizes[:2] * 3, *sizes[2:] * 3))]
    assert len(_made(*many).batches) == 6, "nine in the order of the list"


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("first", "second", "is_parallel"),
    [
        ("Mend the net", "Paint the boat", True),
        ("Look at the net", "Why does the boat leak?", True),
        ("Look at the net", "Mend the boat", False),
        ("Measure the speed", "Measure the drift", False),
    ],
)
def test_nothing_is_looked_at_or_measured_beside_work_that_changes_it(
    first: str, second: str, is_parallel: bool
) -> None:
    found = _made(_sized(first, 10, files=("a.py",)), _sized(second, 10, files=("b.py",)))
    assert found.batches[0].parallel is is_parallel


@pytest.mark.requirement("P1", "U3")
@pytest.mark.parametrize(
    "title",
    [
        "Run it for an hour and keep the curves",
        "T4: Compare both logs",
        "Reproduce: start it and pull",
        "Bisect between both tides",
        "Take a heap snapshot at noon",
        "Load test with a thousand gulls",
    ],
)
def test_no_files_are_asked_for_where_they_would_not_tell_the_size(title: str) -> None:
    """They find something out or run something: what comes out is the work."""
    found = _made(a_task(title))
    assert found.unknown == 1
    assert not any("list the files" in words for words in found.warnings)


@pytest.mark.requirement("P1", "U3")
def test_files_are_asked_for_only_where_they_would_tell_the_size() -> None:
    searches = ("Find out what tears", "Run the tests", "Which rope is it?")
    found = _made(*map(a_task, searches), a_task("Mend it"), a_task("Sew src/sail.py"))
    words = "\n".join(found.warnings)
    assert (
        "each gets its own session: task 1, task 2, task 3, task 4; a task that changes files"
        in words
    )
    assert "estimated by the files they name: task 5 (src/sail.py)" in words


@pytest.mark.requirement("P3", "U3")
def test_findings_that_no_brief_has_room_for_are_named_with_the_line_to_write() -> None:
    """The last session gets the brief of the one before it and of eleven that found something."""
    looks = [_sized(f"Check rope {n}", 90_000, title=f"Check rope {n}") for n in range(14)]
    needs = tuple(one.id for one in looks)
    tasks = [*looks, _sized("Mend", 90_000), _sized("Write up", 90_000, depends=needs)]
    [said] = [one for one in _made(*tasks).warnings if "briefs" in one]
    assert said.endswith('.md": "Check rope 0", "Check rope 1", "Check rope 2"')
    assert '"- files: notes/Check rope 0.md"' in said
    assert not any("briefs" in one for one in _made(*looks[3:], *tasks[-1:]).warnings)
    written = [replace(task, files=(f"{task.id}.md",)) for task in looks]
    assert not any("briefs" in one for one in _made(*written, tasks[-2]).warnings)


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("title", "is_last"),
    [
        ("Add a coverage gate to the Makefile and CI", True),
        ("T9: Forbid prints with a ruff rule", True),
        ("Set fail_under to 90", True),
        ("Run the link checker in CI", False),
        ("Add a gate to the garden", False),
    ],
)
def test_a_check_that_is_enforced_waits_for_what_is_listed_before_it(
    title: str, is_last: bool
) -> None:
    tasks = [_sized("cover a", 90_000), _sized("cover b", 90_000), _sized(title, 9)]
    gate = _made(*tasks).batches[1].pieces[-1].task
    assert gate.depends == (("cover a", "cover b") if is_last else ())
    named = [tasks[0], tasks[1], _sized(title, 9, depends=("cover a",))]
    assert _made(*named).batches[1].pieces[-1].task.depends == ("cover a",)


@pytest.mark.requirement("P4")
def test_a_commit_joins_the_batch_before_it() -> None:
    nets = [a_task(f"Mend net {n}", files=(f"{n}.py",)) for n in range(3)]
    [batch] = _made(*nets, a_task("Commit")).batches
    assert [piece.task.title for piece in batch.pieces][-1] == "Commit"
    [also] = _made(*nets, a_task("Squash, push and open PR")).batches
    assert len(also.pieces) == 4
    alone = _made(_sized("a", 119_000), a_task("Commit")).batches
    assert len(alone) == 2


@pytest.mark.requirement("P4")
def test_a_commit_is_done_by_the_session_of_a_task_of_unknown_size() -> None:
    found = _made(_sized("a", 90_000), a_task("Improve the login"), a_task("Commit"))
    assert [[p.task.id for p in one.pieces] for one in found.batches] == [
        ["a"],
        ["Improve the login", "Commit"],
    ]
    commit = found.batches[1].pieces[1].estimate
    assert found.batches[1].in_words[0] == "unknown"
    assert (found.shown_tokens, found.unknown) == (90_000 + commit.shown_tokens, 1)


@pytest.mark.requirement("P3")
def test_a_wave_waits_for_all_tasks_of_the_wave_before() -> None:
    tasks = [
        _sized("a", 90_000, wave=1),
        _sized("b", 60_000, wave=1),
        _sized("c", 9, wave=3),
        _sized("d", 9, wave=4, depends=("c",)),
    ]
    found = [[p.task.id for p in batch.pieces] for batch in _made(*tasks).batches]
    assert found == [["a"], ["b"], ["c"], ["d"]]
    assert not any(batch.parallel for batch in _made(*tasks).batches)
    backwards = [_sized("a", 90_000, wave=2), _sized("b", 60_000, wave=1), _sized("c", 9, wave=2)]
    assert not any(p.task.depends for batch in _made(*backwards).batches for p in batch.pieces)


@pytest.mark.requirement("P3")
def test_no_batch_crosses_the_border_of_a_wave() -> None:
    """Neither do the steps of a divided task, which have no wave of their own."""
    steps = tuple(_sized(f"big/{n}", 70_000, spec="big") for n in range(2))
    big = _sized("big", 140_000, wave=2, subtasks=steps)
    tasks = [_sized("first", 9), _sized("a", 9, wave=1), _sized("b", 9, wave=1), big]
    tasks += [_sized("c", 9, wave=2), _sized("last", 9), _sized("Commit", 9, wave=3)]
    found = [[p.task.id for p in batch.pieces] for batch in _made(*tasks).batches]
    assert found == [["first"], ["a", "b"], ["big/0"], ["big/1", "c"], ["last", "Commit"]]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("tests", ["tests/test_sail.py", "tests", "sail.spec.ts"])
def test_tests_do_not_run_beside_the_sources_they_may_test(tests: str) -> None:
    source = _sized("a", 10, files=("src/sail.py",))
    other = _sized("b", 10, files=("src/mast.py", "tests/mast/test_mast.py"))
    only = _sized("c", 10, files=(tests,))
    kinds = [_made(*some).batches[0].parallel for some in ((source, other), (source, only))]
    assert kinds == [True, False]


@pytest.mark.requirement("P3", "U3")
def test_a_run_that_is_to_be_fixed_finds_nothing_for_later() -> None:
    titles = (
        "Run mypy and fix what is left",
        "Find dead knots and delete them",
        "Run it for an hour",
    )
    assert [leaves_no_file(a_task(one), Path("/nonexistent")) for one in titles] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    "words", ["Same for the mast", "The mast: the same, in oak", "Mast\n  Ditto for the mast."]
)
def test_a_task_that_does_the_same_as_the_one_before_waits_for_it_and_joins_it(
    words: str, tmp_path: Path
) -> None:
    text = f"- [ ] Paint the hull\n  - estimate: 10k\n- [ ] {words}\n  - estimate: 10k\n"
    plan = read_plan(f"- [ ] Saw\n  - estimate: 85k\n{text}")
    assert plan.tasks[2].joins == plan.tasks[2].depends[0] == plan.tasks[1].id
    found = make_workflow(plan, a_room(100_000), Past(), tmp_path)
    assert [len(batch.pieces) for batch in found.batches] == [1, 2]


def test_an_argument_of_the_same_kind_joins_nothing() -> None:
    plan = read_plan("- [ ] Paint the hull\n- [ ] Give the mast the same colour\n")
    assert not plan.tasks[1].joins


@pytest.mark.parametrize(
    "gate",
    [
        "Add the coverage gate to CI",
        "Gate \u2013 once all is tested, set fail_under = 100 in setup.cfg",
        "Finish\n  Raise `fail_under` to 95.",
    ],
)
def test_a_gate_shares_no_batch_with_the_task_after_it(gate: str, tmp_path: Path) -> None:
    size = "\n  - estimate: 1k\n"
    plan = read_plan(f"- [ ] Saw{size}- [ ] {gate}{size}- [ ] Dye{size}")
    found = make_workflow(plan, a_room(), Past(), tmp_path)
    assert [len(batch.pieces) for batch in found.batches] == [2, 1]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("text", ["Commit after each row.", "Put what you find into notes.md."])
def test_nothing_runs_side_by_side_if_all_sessions_change_the_same(text: str) -> None:
    tasks = (a_task("a", files=("a.py",)), a_task("b", files=("b.py",)))
    for said, is_beside in (("Keep it short.", True), (text, False)):
        plan = TaskPlan("a plan", tasks, said)
        [batch] = make_workflow(plan, a_room(), Past(), Path("/nonexistent")).batches
        assert batch.parallel is is_beside


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("mark", [":", " \u2013", " \u2014", " -"])
def test_a_question_after_a_label_is_a_question(mark: str) -> None:
    title = f"Field overhead{mark} how much of it is real? Compare both in src/fields.py"
    assert _made(a_task(title)).batches[0].is_unknown
