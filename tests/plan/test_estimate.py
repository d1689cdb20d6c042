"""An estimate says a point, a range and its basis, and what really happened corrects it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.estimates import features
from holdfast.plan.estimates.estimate import Past, estimate_request
from holdfast.plan.estimates.features import extract_features
from holdfast.plan.estimates.likeness import EstimateRequest
from holdfast.plan.formats.read import read_plan
from holdfast.plan.sizes import TaskSizes
from tests.plan.builders import a_past, a_request, a_task, estimated


@pytest.mark.requirement("P1")
def test_the_formula_is_the_seeds() -> None:
    words = extract_features("Implement user authentication with OAuth2")
    assert words.formula_tokens(5) == int((41 // 4 + 5 * 2000) * 1.5)
    assert extract_features("Refactor and add it").multiplier == 2.0
    assert (
        extract_features("update it").multiplier == 1.0
    )  # 0.8 never wins over the 1.0 of other words
    assert extract_features("look at src/a.py and @b.ts").files == 2


@pytest.mark.requirement("P1")
def test_without_any_past_the_prior_stands_and_says_so() -> None:
    found = estimate_request(EstimateRequest(extract_features("implement the cart")), Past())
    assert "public sessions, none of your own" in found.basis
    assert found.low_tokens < found.tokens < found.high_tokens
    assert (
        found.tokens
        < estimate_request(
            EstimateRequest(extract_features("implement the cart"), files=12), Past()
        ).tokens
    )


@pytest.mark.requirement("P1")
def test_similar_past_work_corrects_the_prior() -> None:
    alone = estimate_request(EstimateRequest(extract_features("fix the login")), Past()).tokens
    past = a_past(*(a_request("fix the thing", 60_000 + n) for n in range(200)))
    found = estimate_request(EstimateRequest(extract_features("fix the login")), past)
    assert abs(found.tokens - 60_000) < abs(alone - 60_000) / 2
    assert found.basis == "39 past requests like it, 39 in this project"


@pytest.mark.requirement("P1")
def test_this_project_comes_before_others() -> None:
    ours = [a_request("fix it", 2_000 + n) for n in range(40)]
    theirs = [a_request("fix it", 90_000 + n) for n in range(40)]
    past = Past([*a_past(*theirs, here=False).seen, *a_past(*ours).seen])
    found = estimate_request(EstimateRequest(extract_features("fix it")), past)
    assert found.tokens < 10_000
    assert "39 in this project" in found.basis


@pytest.mark.requirement("P1")
def test_more_past_makes_the_prior_count_less() -> None:
    asked = EstimateRequest(extract_features("fix it"))
    off = [
        abs(estimate_request(asked, a_past(*[a_request("fix it", 80_000)] * n)).tokens - 80_000)
        for n in (0, 9, 39, 400)
    ]
    assert off == sorted(off, reverse=True) and off[-1] < off[0] / 2


@pytest.mark.slow
@pytest.mark.requirement("P1")
def test_the_range_is_that_of_eight_in_ten_past_requests() -> None:
    past = a_past(*(a_request("fix it", 1000 * (n + 1)) for n in range(39)))
    flat = Past(past.seen, features.FittedLine(9.9, {}, 0.0, 0.0))
    found = estimate_request(EstimateRequest(extract_features("fix it")), flat)
    bare = Past(list(past.seen) * 100, flat.words)  # as good as no prior
    assert found.low_tokens > 4_000 and found.high_tokens < 36_000
    assert estimate_request(EstimateRequest(extract_features("fix it")), bare).low_tokens <= 4_100


@pytest.mark.requirement("P1")
def test_what_the_plan_gives_stands() -> None:
    found = estimated(a_task(estimate_tokens=1234, files=("a", "b")), Past())
    assert (found.tokens, found.basis) == (1234, "given in the plan")


@pytest.mark.requirement("P1")
def test_more_files_take_more_even_beyond_what_was_ever_seen() -> None:
    past = a_past(*(a_request("refactor it", 5_000 * n, n) for n in range(1, 20) for _ in range(5)))
    sizes = [
        estimate_request(EstimateRequest(extract_features("refactor it"), files=n), past).tokens
        for n in (1, 5, 20, 80, 400)
    ]
    assert sizes == sorted(sizes) and sizes[-1] > 10 * sizes[1]


@pytest.mark.requirement("P1")
def test_words_alone_do_not_tell_and_the_size_is_called_unknown() -> None:
    found = estimated(a_task("Improve the login page"), Past())
    assert found.is_unknown and found.in_words == ("unknown", "")


@pytest.mark.requirement("P1")
def test_a_commit_is_a_kind_that_words_do_tell() -> None:
    found = estimated(a_task("commit"), Past())
    assert not found.is_unknown and found.tokens < 10_000
    assert found.in_words[1].startswith("up to ")


@pytest.mark.requirement("P1")
def test_a_kind_has_a_past_of_its_own() -> None:
    renames = [a_request(f"rename setting {n}", 9_000 + n) for n in range(40)]
    others = [a_request(f"fix thing {n}", 90_000 + n) for n in range(400)]
    found = estimated(a_task("Rename the setting"), a_past(*others, *renames))
    assert found.tokens < 15_000 and found.basis.startswith("39 past requests to rename")


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(("files", "held"), [(("a.py",), {}), (("a.py", "tests"), {"tests": 900})])
def test_files_and_folders_make_a_range_that_is_stated(
    files: tuple[str, ...], held: dict[str, int]
) -> None:
    found = estimated(a_task("Fix the parser", files=files, held=held), Past())
    assert not found.is_unknown and found.tokens < 25_000


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("own", [0, 40, 400])
def test_a_longer_list_and_a_larger_folder_never_take_less(own: int) -> None:
    past = a_past(
        *(a_request(f"fix thing {n}", 20_000 * (n % 4 + 1), n % 4 + 1) for n in range(own))
    )

    def tokens(files: int, **held: int) -> int:
        names = (*(f"{n}.py" for n in range(files)), *held)
        return estimated(a_task("Fix the parser", files=names, held=held), past).tokens

    lists = [tokens(files, tests=40) for files in range(20)]
    assert lists == sorted(lists)
    for files in range(1, 20):
        assert tokens(files, tests=40) >= tokens(files)
    assert tokens(0, tests=4) >= tokens(3)  # a folder of three files is counted file by file


@pytest.mark.requirement("P1")
def test_files_of_open_steps_are_files_of_the_task() -> None:
    steps = (a_task("one", files=("a.py",)), a_task("two", files=("b.py",), done=True))
    assert a_task("Both", subtasks=steps).file_count == 1


REQUESTS = st.builds(
    a_request,
    st.text(max_size=80),
    st.integers(0, 200_000),
    st.integers(0, 40),
    position=st.integers(0, 30),
    planning=st.booleans(),
    earlier_tokens=st.integers(0, 90_000),
)


@given(st.text(max_size=200), st.none() | st.integers(0, 3000), st.lists(REQUESTS, max_size=45))
def test_an_estimate_is_always_positive_and_within_its_range(
    text: str, files: int | None, requests: list[object]
) -> None:
    past = a_past(*requests)  # type: ignore[arg-type]
    found = estimate_request(EstimateRequest(extract_features(text), files=files), past)
    assert 0 < found.low_tokens <= found.tokens <= found.high_tokens
    assert found.basis


@pytest.mark.requirement("P1")
@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("- [ ] Update docs/a.md and move it to docs/b.md\n", ["docs/a.md", "docs/b.md"]),
        ("- [ ] Bump it in setup.cfg and remove the old branches\n", ["setup.cfg"]),
        ("- [ ] Mend the setup.py files\n", ["setup.py"]),
        ("- [ ] Mend hull.py, see https://example.org/x.html\n", ["src/hull.py"]),
        ("- [ ] Mend the keel\n  It is in src/hull.py.\n", ["src/hull.py"]),
        ("- [ ] Mend the keel\n  - [ ] Sew src/sail.py\n", ["src/sail.py"]),
    ],
)
def test_the_files_in_the_words_of_a_task_tell_its_size(
    text: str, files: list[str], tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/hull.py").touch()
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "doc/a").mkdir(parents=True)
    (tmp_path / "doc/a/setup.py").touch()
    (tmp_path / "src/setup.py").touch()
    found = TaskSizes(Past(), tmp_path).estimate(read_plan(text).tasks[0])
    assert list(found.named_files) == files
    assert found.is_unknown != bool(files)


@pytest.mark.requirement("P1")
def test_a_folder_in_the_words_of_a_task_tells_its_size(tmp_path: Path) -> None:
    (tmp_path / "tests/api").mkdir(parents=True)
    for name in ("tests/api", "`tests/api/`", "tests/api/*.py"):
        task = read_plan(f"- [ ] Tidy {name}\n").tasks[0]
        assert "that name folders" in TaskSizes(Past(), tmp_path).estimate(task).basis
        assert TaskSizes(Past(), tmp_path / "tests").estimate(task).is_unknown, "it is not there"


@pytest.mark.requirement("P1")
def test_files_in_words_are_estimated_by_requests_that_named_files() -> None:
    """Requests late in a session work on files that it has read before."""
    early = [a_request(f"mend a{n}.py", 30_000 + n) for n in range(300)]
    late = [a_request(f"mend a{n}.py", 700, position=9) for n in range(300)]
    found = estimated(a_task("Mend src/hull.py"), a_past(*early, *late))
    assert 25_000 < found.tokens < 32_000
    assert "that named files" in found.basis


@pytest.mark.requirement("P1")
def test_no_number_hides_a_range_wider_than_a_factor_of_ten(tmp_path: Path) -> None:
    """Except for what rarely takes more than a tenth of a room, such as a commit."""
    sizes = TaskSizes(Past(), tmp_path)
    for title in ("Windows console: tidy up", "Mend it", "ok"):
        assert sizes.estimate(read_plan(f"- [ ] {title}\n").tasks[0]).is_unknown
    assert sizes.estimate(read_plan("- [ ] Commit\n").tasks[0]).in_words[1] == "up to 12,000"
