"""A plan as a picture: all of it to be read, nothing over the edge."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.plan.estimates.estimate import Past
from holdfast.plan.picture import MARGIN, RIGHT, WIDTH, draw_mermaid, draw_svg, width, wrap
from holdfast.plan.planner import make_workflow
from holdfast.plan.task import PlanTask
from holdfast.plan.workflow import Workflow
from tests.plan.builders import a_plan, a_room, a_task

TITLES = st.text(min_size=1, max_size=300)
SVG = "{http://www.w3.org/2000/svg}"


def _made(*tasks: PlanTask) -> Workflow:
    return make_workflow(a_plan(*tasks), a_room(), Past(), Path("/nonexistent"))


def _sized(name: str, tokens: int = 60_000, **given: object) -> PlanTask:
    return a_task(name, estimate_tokens=tokens, **given)


def _texts(workflow: Workflow) -> list[Element]:
    return list(ElementTree.fromstring(draw_svg(workflow)).iter(f"{SVG}text"))


def _words(workflow: Workflow) -> str:
    return "\n".join(one.text or "" for one in _texts(workflow))


@pytest.mark.slow
@pytest.mark.requirement("P3")
@given(st.lists(TITLES, min_size=1, max_size=8))
def test_any_titles_make_a_picture_that_can_be_read(titles: list[str]) -> None:
    found = _made(*(_sized(f"t{n}", title=title) for n, title in enumerate(titles)))
    ElementTree.fromstring(draw_svg(found))
    for line in draw_mermaid(found).splitlines()[1:]:
        label = line.partition('["')[2].rpartition('"]')[0]
        assert '"' not in label and "\x1b" not in line


@pytest.mark.requirement("P3")
@given(st.lists(TITLES, min_size=1, max_size=4))
def test_no_words_run_out_of_the_picture_or_over_the_sizes(titles: list[str]) -> None:
    tasks = (a_task(f"t{n}", title=title) for n, title in enumerate(titles))
    sizes: dict[str, float] = {}
    for one in _texts(_made(*tasks)):
        at, wide = float(one.attrib["x"]), width(one.text or "", int(one.attrib["font-size"]))
        if one.get("text-anchor") == "end":
            sizes[one.attrib["y"]] = at - wide
            continue
        assert at + wide <= WIDTH - MARGIN
        if at > 2 * MARGIN:  # a title: its size came before it
            assert at + wide <= sizes.get(one.attrib["y"], RIGHT)


@pytest.mark.requirement("P3")
@given(st.text(max_size=200), st.floats(20, 400), st.integers(1, 3))
def test_wrapped_words_keep_to_their_lines(text: str, room: float, most: int) -> None:
    lines = wrap(text, room, most)
    assert len(lines) <= most
    assert all(width(line) <= room or len(line) <= 2 for line in lines)
    if not any(line.endswith("…") for line in lines):
        assert "".join("".join(lines).split()) == "".join(text.split())


@pytest.mark.requirement("P3", "U3")
def test_the_picture_tells_what_waits_what_is_in_a_part_and_what_does_not_fit() -> None:
    files = tuple(f"{n}.txt" for n in range(8))
    found = _made(
        _sized("big", 180_000, files=files),
        _sized("after", 20_000, depends=("big",)),
        _sized("huge", 500_000),
    )
    words = _words(found)
    assert "0.txt, 1.txt, 2.txt, 3.txt" in words
    assert "after 1.1, 2.1" in words
    assert "larger than the room" in words and "larger than the room" in draw_mermaid(found)
    assert "20,000, as given" in words
    assert [one for one in ("does not fit", "the room") if one not in words] == []


@pytest.mark.requirement("P3")
def test_one_batch_is_one_batch_and_none_is_nothing() -> None:
    assert "1 batch, about 10 tokens" in _words(_made(_sized("a", 10)))
    done = _made(_sized("a", done=True))
    assert "nothing left to do" in _words(done) and "nothing left to do" in draw_mermaid(done)


@pytest.mark.requirement("P3")
def test_a_picture_has_a_size_of_its_own_and_a_dark_side() -> None:
    root = ElementTree.fromstring(draw_svg(_made(_sized("a"))))
    assert root.attrib["viewBox"].split()[2:] == [root.attrib["width"], root.attrib["height"]]
    [style] = root.iter(f"{SVG}style")
    assert "prefers-color-scheme: dark" in (style.text or "")


@pytest.mark.slow
def test_a_picture_of_very_many_batches_is_bounded() -> None:
    found = _made(*(_sized(f"t{n}") for n in range(1000)))
    assert len(found.batches) == 1000
    assert "600 more batches" in draw_svg(found) and "600 more batches" in draw_mermaid(found)


@pytest.mark.requirement("P3", "U3")
def test_a_batch_of_unknown_size_is_not_called_too_large() -> None:
    [batch] = _made(a_task("Improve the login"), a_task("Commit")).batches
    assert batch.tokens > batch.room_tokens, "its numbers are those of the room"
    found = draw_mermaid(_made(a_task("Improve the login"), a_task("Commit")))
    assert "size unknown, a session of its own" in found and "larger" not in found
