"""The report: one page of every figure, with its spread, and with what could not be measured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.growth import Curve
from benchmarks.report import due, options_of, parser, plan_of, run_json
from benchmarks.report_page import Measured, Page, write_page
from benchmarks.report_pictures import draw
from benchmarks.report_results import Results, Taken
from benchmarks.run import SECTIONS, Data
from benchmarks.spread import Spread, merge_rows, merge_texts
from benchmarks.targets import reached

from benchmarks import alternatives, report_results

ROOT = Path(__file__).parents[2]


def test_each_number_of_a_figure_has_its_own_middle_and_range() -> None:
    texts = ["1.4x, CPU 20 ms", "1.2x, CPU 1,000 ms", "1.3x, CPU 30 ms"]
    assert merge_texts(texts) == ("1.3x, CPU 30 ms", "1.2 to 1.4x, CPU 20 to 1,000 ms")


def test_a_figure_that_is_the_same_in_every_run_has_no_spread() -> None:
    assert merge_texts(["0 lost of 5"] * 3) == ("0 lost of 5", "")


def test_a_run_that_was_not_measured_is_listed_beside_the_others() -> None:
    middle, spread = merge_texts(["3 ms", "not measured: no client", "3 ms"])
    assert (middle, spread) == ("3 ms", "3 ms / not measured: no client")


def test_rows_whose_names_differ_only_in_numbers_are_merged_in_their_order() -> None:
    runs = [
        [("10 items", "1 ms", ""), ("100 items", f"{n} ms", "≤ 9"), (f"{n} calls", "0", "")]
        for n in (5, 7, 6)
    ]
    assert merge_rows(runs) == [
        Spread("10 items", "1 ms", "", ""),
        Spread("100 items", "6 ms", "5 to 7 ms", "≤ 9"),
        Spread("6 calls", "0", "", ""),
    ]


def test_the_data_is_handed_on_as_options() -> None:
    data = Data(corpus=Path("/c"), endurance=True)
    assert options_of(data) == ["--corpus", "/c", "--endurance"]


@pytest.mark.slow
def test_a_benchmark_that_fails_or_hangs_is_a_reason_and_no_end() -> None:
    assert run_json(["-c", "print('talk'); print('[1]')"]).value == [1]
    assert run_json(["-c", "raise SystemExit('no room')"]).trouble == "exit 1: no room"
    hanging = run_json(["-c", "import time; time.sleep(60)"], limit_s=0.2)
    assert hanging.trouble == "not done after 0 s"


@pytest.mark.parametrize(
    ("figure", "wanted", "judged"),
    [
        ("1.32x of a bare `python -I -S -c pass`", "≤ 1.5x", True),
        ("13.6x, CPU 14.0x", "≤ 12x", False),
        ("median 0.157%, p90 0.87% (12,139)", "≤ 0.25 % and ≤ 1.2 %", True),
        ("median 0.157%, p90 1.87% (12,139)", "≤ 0.25 % and ≤ 1.2 %", False),
        ("98.2% of 55 compactions", "≥ 95 %", True),
        ("436, 78,364", "300 to 350", False),
        ("2 lost, 0 doubled", "0, 0", False),
        ("0.864", "≥ .80", True),
        ("0.081% of a core (24.3 ms a look)", "< 1 % of a core", True),
        ("5 ms of 48", "within noise", None),
        ("3 MB", "≤ 4 s", None),
        ("not measured: no 7 clients", "≤ 9", None),
        ("8 ms", "", None),
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


def test_the_page_says_that_the_machine_was_busy(tmp_path: Path) -> None:
    section = _section([])
    assert "busy with other work" not in _page(tmp_path, Page([section._replace(loads=[0.1])]))
    assert "busy with other work" in _page(tmp_path, Page([section._replace(loads=[999.0])]))


def test_what_gives_the_same_result_each_time_is_measured_once(tmp_path: Path) -> None:
    assert due(["hooks", "truth"], 1) == ["hooks", "truth"]
    assert due(["hooks", "truth"], 2) == ["hooks"]
    section = _section([Spread("a", "1", "", "")])._replace(is_fixed=True, seconds=[3.0])
    page = _page(tmp_path, Page([section]))
    assert "One run of 3 s, as every run gives the same;" in page
    assert "lowest to highest</th>" not in page


def test_the_short_form_leaves_out_the_long_sections_unless_they_are_asked_for() -> None:
    every = plan_of(parser().parse_args([]))
    short = plan_of(parser().parse_args(["--short"]))
    asked = plan_of(parser().parse_args(["--short", "--only", "search"]))
    assert every.sections == list(SECTIONS)
    assert set(every.sections) - set(short.sections) == {
        name for name, section in SECTIONS.items() if section.is_long
    }
    assert asked.sections == ["search"] and asked.growth == []


def test_what_was_measured_is_read_again_as_it_was_written(tmp_path: Path) -> None:
    results = Results(
        {"hooks": [Taken([("a", "1x", "≤ 2x")], 3.0, 0.5, "abc1", "run it")]},
        {"hook": [[Curve("Growth", "hook", "MB", "ms", [1, 10], [1.0, 2.0])]]},
    )
    results.write(tmp_path / "report.json")
    assert report_results.read(tmp_path / "report.json") == results
    assert report_results.read(tmp_path / "none.json") == Results()
    assert results.commits() == ["abc1"]


def test_a_run_replaces_those_in_which_nothing_was_measured_and_joins_the_others() -> None:
    results = Results()
    for figure in ("not measured: no data", "1x", "2x"):
        results.add("truth", Taken([("a", figure, "")], 1.0, 0.5, "abc1", "run it"))
    assert [one.rows[0][1] for one in results.sections["truth"]] == ["1x", "2x"]


def test_the_page_names_what_the_short_form_leaves_out(tmp_path: Path) -> None:
    page = _page(tmp_path, Page([], left_out=[("Long thing", "run the long thing")]))
    assert "<td>Long thing</td><td><code>run the long thing</code></td>" in page


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


@pytest.mark.slow  # matplotlib looks at every font once in each new home
def test_a_picture_shows_every_curve_with_its_axes_and_is_drawn_the_same_again() -> None:
    runs = [Curve("Growth", "hook", "MB", "ms", (1, 10), (y, 2 * y)) for y in (1.0, 2.0)]
    picture = draw(runs)
    assert picture.startswith("<svg") and picture == draw(runs)
    assert all(f">{text}</text>" in picture for text in ("Growth", "hook", "MB", "ms"))


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
