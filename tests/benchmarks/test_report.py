"""The report: one page of every figure, with its spread, and with what could not be measured."""

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.report_page import Measured, Page, write_page
from benchmarks.run import SECTIONS
from benchmarks.spread import Spread, merge_texts
from benchmarks.targets import reached

from benchmarks import alternatives

ROOT = Path(__file__).parents[2]


def test_each_number_of_a_figure_has_its_own_middle_and_range() -> None:
    texts = ["1.4x, CPU 20 ms", "1.2x, CPU 1,000 ms", "1.3x, CPU 30 ms"]
    assert merge_texts(texts) == ("1.3x, CPU 30 ms", "1.2 to 1.4x, CPU 20 to 1,000 ms")


@pytest.mark.parametrize(
    ("figure", "wanted", "judged"),
    [
        ("1.32x of a bare `python -I -S -c pass`", "≤ 1.5x", True),
        ("median 0.157%, p90 0.87% (12,139)", "≤ 0.25 % and ≤ 1.2 %", True),
        ("median 0.157%, p90 1.87% (12,139)", "≤ 0.25 % and ≤ 1.2 %", False),
        ("0.081% of a core (24.3 ms a look)", "< 1 % of a core", True),
        ("5 ms of 48", "within noise", None),
        ("not measured: no 7 clients", "≤ 9", None),
    ],
)
def test_a_figure_is_judged_where_it_and_its_limit_are_numbers_of_one_kind(
    figure: str, wanted: str, judged: bool | None
) -> None:
    assert reached(figure, wanted) is judged


def _page(tmp_path: Path, page: Page) -> str:
    write_page(tmp_path / "report.html", page)
    return (tmp_path / "report.html").read_text("utf-8")


def _section(rows: list[Spread], name: str = "hooks") -> Measured:
    return Measured(name, "T", "It is about `x`.", "run it", rows, [3.0, 5.0], [0.5, 2.0])


def test_the_page_marks_what_was_not_measured_and_escapes_its_texts(tmp_path: Path) -> None:
    rows = [Spread("`a` < b", "1", "", "≤ 2"), Spread("c", "not measured: no data", "", "")]
    page = _page(tmp_path, Page([_section(rows)]))
    assert "<td><code>a</code> &lt; b</td><td>1</td><td>the same each time</td>" in page
    assert '<span class="missing">not measured: no data</span>' in page
    assert "<code>run it</code>" in page
    assert "2 runs of 3 to 5 s each; load average at the start 0.5 to 2.0." in page


def test_the_page_lists_what_misses_its_target_first(tmp_path: Path) -> None:
    rows = [Spread("good", "1x", "", "≤ 2x"), Spread("bad", "3x", "", "≤ 2x")]
    page = _page(tmp_path, Page([_section(rows)]))
    assert "2 figures. 1 reach what" in page
    assert '<li><a href="#hooks">T</a>: bad: 3x, to reach ≤ 2x</li>' in page
    assert page.index("In short") < page.index("The machine")


def test_our_figure_stands_beside_those_that_others_publish(tmp_path: Path) -> None:
    measure = next(one for one in alternatives.read() if one.ours)
    section, row = measure.ours
    rows = [Spread(f"{row} and more", "7 ms", "", "")]
    page = _page(tmp_path, Page([_section(rows, section)]))
    assert f"<strong>Holdfast</strong></td><td>7 ms ({row} and more)</td>" in page
    other = measure.published[0]
    assert f"<td>{other.name}</td><td>{other.figure}</td>" in page
    assert other.source in page


def test_every_published_figure_has_a_source_and_a_section_of_ours_that_exists() -> None:
    for measure in alternatives.read():
        assert not measure.ours or measure.ours[0] in SECTIONS, measure.title
        assert measure.apart and measure.published, measure.title
        for one in measure.published:
            assert one.source.startswith("https://") and one.figure, one


@pytest.mark.slow  # real measurements, in processes
def test_a_later_report_adds_its_figures_to_the_same_page(tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    line = [sys.executable, "-m", "benchmarks.report", "--runs", "1", "--output", str(output)]
    first = [*line, "--only", "questions", "--growth", "record", "--short"]
    subprocess.run(first, cwd=ROOT, check=True, capture_output=True)
    added = [*line, "--only", "truth", "--add"]
    subprocess.run(added, cwd=ROOT, check=True, capture_output=True)
    page = output.read_text("utf-8")
    assert f'<h2 id="truth">{SECTIONS["truth"].title}</h2>' in page
    assert "not measured: say CORPUS=DIR QUESTIONS=FILE" in page
    assert ">seconds of CPU</text>" in page
    assert "-m benchmarks.run --only questions" in page
    assert f"<td>{SECTIONS['hooks'].title}</td>" in page  # left out, with its command
