"""The page of `make report`: tables of figures and pictures of growth, in one HTML file."""

from __future__ import annotations

import io
import os
import platform
import re
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.growth import Curve
from benchmarks.spread import Spread

ROOT = Path(__file__).resolve().parents[1]
STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { border-bottom: 1px solid #ccc; padding: .25rem .75rem; }
th, td { text-align: left; vertical-align: top; }
.missing { color: #8a5a00; }
figure { display: inline-block; margin: 0 1rem 1rem 0; }
svg { max-width: 100%; height: auto; }
"""


class Measured(NamedTuple):
    title: str
    command: str
    rows: Sequence[Spread]


def write_page(
    path: Path, runs: int, sections: Sequence[Measured], curves: Sequence[Sequence[Curve]]
) -> None:
    """Whole or not at all: a reader may have the page of the last run open."""
    parts = (*_head(runs), *_machine(), *_growth(curves), *_tables(sections, runs), *_others())
    draft = path.with_suffix(".draft")
    draft.write_text("\n".join(parts) + "\n", encoding="utf-8")
    draft.replace(path)


def _head(runs: int) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
    yield f"<title>Holdfast: figures</title>\n<style>{STYLE}</style>\n<h1>Holdfast: figures</h1>"
    again = "one run: no spread" if runs == 1 else f"{runs} runs"
    yield f"<p>{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {escape(_commit())}, {again}.</p>"
    yield "<p>Each figure is the middle one of the runs; beside it the lowest and the highest.</p>"


def _commit() -> str:
    line = ["git", "describe", "--always", "--dirty"]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.strip() or "unknown"


def _machine() -> Iterator[str]:
    facts = {
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.1f} GB",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "SQLite": sqlite3.sqlite_version,
        "load when written": ", ".join(f"{one:.1f}" for one in os.getloadavg()),
    }
    yield "<h2>The machine</h2>"
    yield _table((), [(escape(name), escape(value)) for name, value in facts.items()])


def _processor() -> str:
    try:
        found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text("utf-8"))
    except OSError:
        found = None
    return found[1] if found else platform.processor() or "unknown"


def _tables(sections: Sequence[Measured], runs: int) -> Iterator[str]:
    for section in sections:
        yield f"<h2>{escape(section.title)}</h2>\n<p><code>{escape(section.command)}</code></p>"
        spread = () if runs == 1 else ("lowest to highest",)
        yield _table(("measure", "figure", *spread, "to reach"), [*_cells(section.rows, runs)])


def _cells(rows: Sequence[Spread], runs: int) -> Iterator[Sequence[str]]:
    for row in rows:
        figure = _text(row.middle)
        if row.middle.startswith("not measured"):
            figure = f'<span class="missing">{figure}</span>'
        spread = () if runs == 1 else (_text(row.spread) or "the same each time",)
        yield _text(row.name), figure, *spread, _text(row.wanted)


def _text(value: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(value))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{one}</th>" for one in heads)
    lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join(("<table>", *([f"<tr>{head}</tr>"] if heads else []), *lines, "</table>"))


def _growth(runs: Sequence[Sequence[Curve]]) -> Iterator[str]:
    curves = [curve for run in runs for curve in run]
    titles = dict.fromkeys(curve.title for curve in curves)
    if titles:
        yield "<h2>Growth</h2>\n<p><code>.venv/bin/python -m benchmarks.growth</code></p>"
    for title in titles:
        of_title = [curve for curve in curves if curve.title == title]
        measured = [curve for curve in of_title if curve.x]
        if measured:
            yield f"<figure>{draw(measured)}</figure>"
        for missing in dict.fromkeys(curve.label for curve in of_title if not curve.x):
            yield f'<p class="missing">{_text(title)}: {_text(missing)}</p>'


def draw(curves: Sequence[Curve]) -> str:
    """An SVG: the middle of the runs as a line, lowest to highest as a band."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": curves[0].title}):
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        for label in dict.fromkeys(curve.label for curve in curves):
            same = [curve for curve in curves if curve.label == label]
            columns = list(zip(*(curve.y for curve in same), strict=True))
            axes.plot(same[0].x, [median(one) for one in columns], marker="o", label=label)
            axes.fill_between(same[0].x, [*map(min, columns)], [*map(max, columns)], alpha=0.2)
        axes.set(title=curves[0].title, xlabel=curves[0].x_axis, ylabel=curves[0].y_axis)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.legend()
        axes.grid(visible=True, alpha=0.3)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _others() -> Iterator[str]:
    """The alternatives: their features stand in docs/comparison.md."""
    yield "<h2>The alternatives</h2>"
    yield (
        "<p>docs/comparison.md compares features. The texts that it names as its sources publish no"
        " figures that could stand beside these. What can be measured without them is in the tables"
        " above, under the same load: the client alone, a plain list by last use and count"
        " (<code>recfreq</code>), and hooks made of <code>bash</code>, <code>stat</code> and"
        " <code>jq</code>.</p>"
    )
