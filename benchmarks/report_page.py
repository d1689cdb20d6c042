"""The page of `make report`: tables of figures and pictures of growth, in one HTML file."""

from __future__ import annotations

import os
import platform
import re
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import NamedTuple

from benchmarks import alternatives
from benchmarks.growth import Curve
from benchmarks.report_pictures import draw
from benchmarks.spread import Spread
from benchmarks.targets import reached

ROOT = Path(__file__).resolve().parents[1]
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2330; }
h1, h2, h3 { line-height: 1.2; }
h2 { margin-top: 2.5rem; border-bottom: 2px solid #d8dee9; padding-bottom: .25rem; }
table { border-collapse: collapse; margin: .5rem 0 1rem; width: 100%; }
th, td { border-bottom: 1px solid #d8dee9; padding: .3rem .75rem .3rem 0; }
th, td { text-align: left; vertical-align: top; }
th { font-size: .85rem; color: #55617a; }
td:first-child { width: 40%; }
.others td:first-child { width: 18%; }
.others td:nth-child(2) { width: 48%; }
code { background: #f1f3f7; padding: .05rem .3rem; border-radius: 3px; font-size: .9em; }
nav ul { columns: 2; }
.note { color: #55617a; font-size: .9rem; }
.missing { color: #8a5a00; }
.reached { color: #1a7f37; white-space: nowrap; }
.missed { color: #b42318; font-weight: 600; white-space: nowrap; }
figure { display: inline-block; margin: 0 1rem 1rem 0; max-width: 32rem; }
svg { max-width: 100%; height: auto; }
"""
WORDS = {
    "1.3x": "1.3 times what the row names; a <em>bare start</em> is that of an empty Python, "
    "<code>python -I -S -c pass</code>, in the same run",
    "CPU": "processor time of the whole process; other work on the machine changes it little",
    "p50, p95": "half of the measurements, and 95 of 100, were at most this",
    "to reach": "what we set ourselves; <em>missed</em> is as much a result as <em>reached</em>",
    "brief": "the text that Holdfast gives the model after a compaction",
    "R and P": "recall: of the files, commands and names that a session used after a compaction, "
    "the share that the brief named; precision: of what it named, the share that was used",
    "recfreq": "a plain list by last use and count, for comparison",
    "--corpus": "a folder of real transcripts, which are not part of the repository; any folder of "
    "your own will do",
    "hybrid": "a search by words and by meaning; <em>keyword</em>: by words alone",
}


class Measured(NamedTuple):
    """One section, all runs together."""

    name: str
    title: str
    about: str
    command: str
    rows: Sequence[Spread]
    seconds: Sequence[float]  # of each run
    loads: Sequence[float]  # of the machine, when each run began
    is_fixed: bool = False  # measured once: every run would give the same


class Page(NamedTuple):
    sections: Sequence[Measured]
    curves: Sequence[Curve] = ()  # of all runs
    left_out: Sequence[tuple[str, str]] = ()  # title and command
    growth_command: str = ""
    commits: Sequence[str] = ()


def write_page(path: Path, page: Page) -> None:
    """Whole or not at all: a reader may have the page of the last run open."""
    parts = (
        *_head(page),
        *_in_short(page),
        *_contents(page),
        *_machine(page),
        *_words(),
        *_growth(page),
        *_tables(page),
        *_not_in_this_form(page),
        *_others(page),
    )
    draft = path.with_suffix(".draft")
    draft.write_text("\n".join(parts) + "\n", encoding="utf-8")
    draft.replace(path)


def _head(page: Page) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en"><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>Holdfast: figures</title>\n<style>{STYLE}</style>\n<h1>Holdfast: figures</h1>"
    yield (
        "<p>Holdfast keeps Claude Code from forgetting things when it compacts. This page has every"
        " figure that we measure, with the command that measured it. A section that was measured"
        " several times shows the middle figure of the runs and beside it the lowest and the"
        " highest.</p>"
    )
    commits = ", ".join(page.commits) or "unknown"
    yield f"<p>Written {datetime.now(UTC):%Y-%m-%d %H:%M} UTC; commit {escape(commits)}.</p>"


def _in_short(page: Page) -> Iterator[str]:
    """How many figures there are, and each that misses what it has to reach."""
    rows = [(section, row) for section in page.sections for row in section.rows]
    judged = [(section, row, reached(row.middle, row.wanted)) for section, row in rows]
    missed = [(section, row) for section, row, found in judged if found is False]
    absent = sum(_is_missing(row) for _, row in rows)
    yield "<h2>In short</h2>"
    yield (
        f"<p>{len(rows) - absent} figures. {sum(found is True for *_, found in judged)} reach what"
        f" we set ourselves, {len(missed)} miss it; the others have no such number, or one that"
        f" only a reader can judge. {absent} could not be measured here.</p>"
    )
    if missed:
        yield "<p>Missed:</p>\n<ul>"
        for section, row in missed:
            link = f'<a href="#{escape(section.name)}">{escape(section.title)}</a>'
            figures = f"{_text(row.middle)}, to reach {_text(row.wanted)}"
            yield f"<li>{link}: {_text(row.name)}: {figures}</li>"
        yield "</ul>"


def _contents(page: Page) -> Iterator[str]:
    links = [(section.name, section.title) for section in page.sections]
    if page.curves:
        links.insert(0, ("growth", "How costs grow"))
    links.append(("others", "Beside other projects"))
    lines = [f'<li><a href="#{escape(one)}">{escape(title)}</a></li>' for one, title in links]
    yield "<h2>Contents</h2>\n<nav><ul>\n" + "\n".join(lines) + "\n</ul></nav>"


def _machine(page: Page) -> Iterator[str]:
    facts = {
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.1f} GB",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "SQLite": sqlite3.sqlite_version,
        "processes that wanted a core while it was measured": _load(page),
    }
    yield "<h2>The machine</h2>"
    yield _table((), [(escape(name), escape(value)) for name, value in facts.items()])
    if max(_loads(page), default=0.0) > (os.cpu_count() or 1):
        yield (
            "<p>The machine was busy with other work. Times on the clock are longer than on a quiet"
            " one; ratios and CPU change less.</p>"
        )


def _loads(page: Page) -> list[float]:
    return [one for section in page.sections for one in section.loads]


def _load(page: Page) -> str:
    loads = _loads(page)
    return f"{min(loads):.1f} to {max(loads):.1f} (load average)" if loads else "not known"


def _processor() -> str:
    try:
        found = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text("utf-8"))
    except OSError:
        found = None
    return found[1] if found else platform.processor() or "unknown"


def _words() -> Iterator[str]:
    yield "<h2>Words on this page</h2>"
    yield _table((), [(f"<strong>{word}</strong>", said) for word, said in WORDS.items()])


def _tables(page: Page) -> Iterator[str]:
    for section in page.sections:
        yield f'<h2 id="{escape(section.name)}">{escape(section.title)}</h2>'
        yield f"<p>{_text(section.about)}</p>\n<p><code>{escape(section.command)}</code></p>"
        has_spread = len(section.seconds) > 1
        spread = ("lowest to highest",) if has_spread else ()
        heads = ("measure", "figure", *spread, "to reach", "")
        yield _table(heads, [*_cells(section.rows, has_spread)])
        yield f'<p class="note">{_took(section)}</p>'


def _took(section: Measured) -> str:
    seconds, loads = _range(section.seconds, "{:.0f}"), _range(section.loads, "{:.1f}")
    count = len(section.seconds)
    runs = f"{count} runs of {seconds} s each" if count > 1 else f"One run of {seconds} s"
    same = ", as every run gives the same" if section.is_fixed else ""
    return f"{runs}{same}; load average at the start {loads}."


def _range(values: Sequence[float], form: str) -> str:
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def _cells(rows: Sequence[Spread], has_spread: bool) -> Iterator[Sequence[str]]:
    for row in rows:
        figure = _text(row.middle)
        if _is_missing(row):
            figure = f'<span class="missing">{figure}</span>'
        spread = (_text(row.spread) or "the same each time",) if has_spread else ()
        yield _text(row.name), figure, *spread, _text(row.wanted), _verdict(row)


def _is_missing(row: Spread) -> bool:
    return "not measured" in row.middle.lower()


def _verdict(row: Spread) -> str:
    found = reached(row.middle, row.wanted)
    words = {True: "reached", False: "missed"}
    return "" if found is None else f'<span class="{words[found]}">{words[found]}</span>'


def _text(value: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(value))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    head = "".join(f"<th>{one}</th>" for one in heads)
    lines = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    opening = f'<table class="{kind}">' if kind else "<table>"
    return "\n".join((opening, *([f"<tr>{head}</tr>"] if heads else []), *lines, "</table>"))


def _growth(page: Page) -> Iterator[str]:
    titles = dict.fromkeys(curve.title for curve in page.curves)
    if titles:
        yield '<h2 id="growth">How costs grow</h2>'
        yield f"<p><code>{escape(page.growth_command)}</code></p>"
        yield "<p>A line is the middle of the runs, a band the lowest to the highest.</p>"
    for title in titles:
        of_title = [curve for curve in page.curves if curve.title == title]
        measured = [curve for curve in of_title if curve.x]
        if measured:
            yield f"<figure>{draw(measured)}</figure>"
        for missing in dict.fromkeys(curve.label for curve in of_title if not curve.x):
            yield f'<p class="missing">{_text(title)}: {_text(missing)}</p>'


def _not_in_this_form(page: Page) -> Iterator[str]:
    if page.left_out:
        yield "<h2>Not measured in this form</h2>"
        yield "<p>These sections were left out. Each can be run alone:</p>"
        rows = [(escape(title), f"<code>{escape(line)}</code>") for title, line in page.left_out]
        yield _table(("section", "command"), rows)


def _others(page: Page) -> Iterator[str]:
    yield '<h2 id="others">Beside other projects</h2>'
    yield (
        "<p>What other projects publish about themselves, beside our own figure of the same"
        " measure. We have not run them, and the conditions differ, so these tables do not rank"
        " anybody. <em>Nothing published</em> means that the text we read has no such figure; the"
        " project may be good at it all the same. <code>docs/comparison.md</code> compares"
        " features.</p>"
    )
    for measure in alternatives.read():
        yield f"<h3>{escape(measure.title)}</h3>"
        rows = [("<strong>Holdfast</strong>", *_ours(measure, page))]
        rows += [
            (escape(one.name), _text(one.figure), f"{_link(one.source)}, read {one.read}")
            for one in measure.published
        ]
        yield _table(("project", "figure", "source"), rows, "others")
        yield f'<p class="note">Not comparable because {_text(measure.apart)}.</p>'


def _ours(measure: alternatives.Measure, page: Page) -> tuple[str, str]:
    if not measure.ours:
        return "no such figure", ""
    name, begins = measure.ours
    for section in page.sections:
        for row in section.rows:
            if section.name == name and row.name.startswith(begins) and not _is_missing(row):
                figure = f"{_text(row.middle)} ({_text(row.name)})"
                return figure, f"<code>{escape(section.command)}</code>"
    line = f".venv/bin/python -m benchmarks.run --only {name}"
    return "not measured in this report", f"<code>{escape(line)}</code>"


def _link(address: str) -> str:
    shown = re.sub(r"^https://(www\.)?|/blob/[0-9a-f]{40}|/$", "", address)
    return f'<a href="{escape(address)}">{escape(shown)}</a>'
