"""`make bench`: every figure of docs/figures.md, measured now, as a table.

make bench CORPUS=DIR        adds what real transcripts tell
make bench ENDURANCE=1       adds long sessions in the real client

    python -m benchmarks.run --only hooks --only save      # some sections
    python -m benchmarks.run --only hooks --json           # for `make report`
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import NamedTuple

Row = tuple[str, str, str]


class Data(NamedTuple):
    """What some sections measure with, and the repository does not contain."""

    corpus: Path | None = None
    evaluate: Path | None = None
    secrets: Path | None = None
    questions: Path | None = None
    large: bool = False
    endurance: bool = False


class Section(NamedTuple):
    title: str
    about: str  # what is measured, in a sentence
    rows: Callable[[Data], Iterator[Row]]
    is_long: bool = False  # minutes each time: left out of the short report
    is_fixed: bool = False  # the same result each time: measured once in a report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_options(parser)
    parser.add_argument("--only", action="append", choices=SECTIONS, help="measure this section")
    parser.add_argument("--json", action="store_true", help="print the rows as one line of JSON")
    given = parser.parse_args()
    data, sections = data_of(given), [SECTIONS[name] for name in given.only or SECTIONS]
    if given.json:
        print(json.dumps([row for section in sections for row in section.rows(data)]))
        return
    for section in sections:
        _print(section.title, list(section.rows(data)))


def add_data_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, help="a folder of .jsonl or .jsonl.gz transcripts")
    parser.add_argument("--evaluate", type=Path, help="the evaluator of briefs")
    parser.add_argument("--secrets", type=Path, help="samples of secrets, as JSON lines")
    parser.add_argument("--questions", type=Path, help="questions about the corpus, as JSON")
    parser.add_argument("--large", action="store_true", help="search a million items too")
    parser.add_argument("--endurance", action="store_true", help="play the long sessions: minutes")


def data_of(given: argparse.Namespace) -> Data:
    return Data(*(getattr(given, name) for name in Data._fields))


def _print(title: str, rows: list[Row]) -> None:
    print(f"\n## {title}\n\n| measure | figure | to reach |\n|---|---|---|", flush=True)
    for name, figure, wanted in rows:
        print(f"| {name} | {figure} | {wanted} |", flush=True)


def measured(module: str, *data: object) -> Iterator[Row]:
    """The rows of a module, which is loaded only when it is measured."""
    yield from import_module(f"benchmarks.{module}").rows(*data)


def _hooks() -> Iterator[Row]:
    from benchmarks import hooks

    for name, ratio in hooks.measure().items():
        tool = name.startswith("PostToolUse")
        wanted = "≤ 1.5x" if tool else "≤ 1.1x" if "against" in name else "≤ 3x"
        wanted = "≤ 1.8x" if name == hooks.THROUGH_PLUGIN else wanted
        of = "" if "against" in name else " of a bare `python -I -S -c pass`"
        yield name, f"{ratio:.2f}x{of}", wanted
    for name, (middle, p95) in hooks.on_the_clock().items():
        yield name, f"{middle:.1f} ms, p95 {p95:.1f} ms", ""


def _questions(questions: Path | None, corpus: Path | None) -> Iterator[Row]:
    if questions is None or corpus is None:
        yield "questions", "not measured: say CORPUS=DIR QUESTIONS=FILE", ""
        return
    yield from measured("questions", questions, corpus)


def _briefs(corpus: Path | None, evaluate: Path | None) -> Iterator[Row]:
    if corpus is None or evaluate is None:
        yield "quality", "not measured: say CORPUS=DIR EVALUATE=FILE", ""
    yield from measured("briefs", corpus, evaluate)
    if corpus is not None:
        yield from measured("user_words", corpus)
    yield from measured("conformance")


def _endurance(asked: bool) -> Iterator[Row]:
    if not asked:
        yield "endurance", "not measured: say ENDURANCE=1", ""
        return
    yield from measured("endurance")


def _truth(corpus: Path | None) -> Iterator[Row]:
    from benchmarks import forecast, readings

    if corpus is None or not readings.transcripts(corpus):
        yield "readings and alerts", "not measured: say CORPUS=DIR", ""
        return
    found = readings.measure(corpus)
    for name, median, p90 in (
        ("reading", "≤ 0.25 %", "≤ 1.2 %"),
        ("reading, characters / 3.5", "", ""),
        ("last usage, nothing added", "", ""),
        ("pre_tokens", "≤ 0.2 %", ""),
    ):
        spread = found[name]
        figure = f"median {spread['median']:.3%}, p90 {spread['p90']:.2%} ({spread['count']:,})"
        yield name, figure, " and ".join(filter(None, (median, p90)))
    ahead = f"of {found['automatic compactions']} compactions"
    yield (
        "advisory alert at least 3 steps ahead",
        f"{found['advisory 3 operations ahead']:.1%} {ahead}",
        "≥ 95 %",
    )
    yield (
        "urgent alert at least 1 step ahead",
        f"{found['urgent 1 operation ahead']:.1%} {ahead}",
        "≥ 90 %",
    )
    ahead_of = forecast.measure(corpus)["each repository left out"]
    yield (
        "steps left: the truth lies in the range",
        f"{ahead_of['inside']:.1%} of {ahead_of['forecasts']:,}, width {ahead_of['width, median']}",
        "75 to 85 %",
    )
    calm = f"of {found['sessions without a compaction']} sessions without a compaction"
    yield (
        "calm sessions in which anything is said",
        f"{found['of them heard anything']:.1%} {calm}",
        "≤ 30 %",
    )


SECTIONS = {
    "hooks": Section(
        "What the hooks cost",
        "The hooks that Claude Code runs at every tool call and prompt, with nothing to do: CPU of "
        "the whole process against the start of an empty Python.",
        lambda data: _hooks(),
    ),
    "wait": Section(
        "What the user waits",
        "100 tool rounds in the real client with a scripted API, with our hooks and without them.",
        lambda data: measured("wait"),
    ),
    "commands": Section(
        "What a command costs",
        "Commands typed in a shell: CPU of the whole process.",
        lambda data: measured("commands"),
    ),
    "shape": Section(
        "The shape of the source",
        "How large the source and an installation are, and how many modules each task loads.",
        lambda data: measured("shape"),
        is_fixed=True,
    ),
    "parse": Section(
        "Reading a transcript",
        "How fast a transcript becomes typed entries, and how much memory that takes.",
        lambda data: chain(measured("parse", data.corpus), measured("long_sessions")),
    ),
    "hostile text": Section(
        "Texts made to be slow",
        "Everything that reads text of others: whether ten times the text takes ten times as long.",
        lambda data: measured("hostile_text"),
    ),
    "save": Section(
        "Saving and restoring",
        "The hooks around a compaction, beside a plain chain of `bash`, `stat` and `jq`.",
        lambda data: measured("save"),
    ),
    "intake": Section(
        "Storing what hooks report",
        "Eight processes of hooks for a minute while two others store what they report: what is "
        "lost or doubled.",
        lambda data: measured("intake"),
        is_long=True,
    ),
    "secrets": Section(
        "Removing secrets",
        "What removing secrets costs, how many are found and how often there is a false alarm.",
        lambda data: chain(
            measured("redact", sys.executable, data.corpus),
            measured("unseen_secrets", data.secrets, None, data.corpus),
        ),
    ),
    "api": Section(
        "Requests to the server",
        "Requests to `holdfast serve`, beside a route that does one bare `INSERT` and `COMMIT`.",
        lambda data: chain(measured("api"), measured("serve")),
        is_long=True,
    ),
    "dashboard": Section(
        "The dashboard",
        "200 live windows and a million readings, ten people watching, one in a real browser.",
        lambda data: measured("dashboard"),
        is_long=True,
    ),
    "lists": Section(
        "Lists in a large database",
        "Lists of the server with 1,000 sessions of 1,000 actions against 10, on PostgreSQL.",
        lambda data: measured("lists"),
        is_long=True,
    ),
    "plans": Section(
        "A large plan",
        "What it costs to read, estimate, batch and show a plan of 3,000 tasks.",
        lambda data: measured("plans"),
    ),
    "estimates": Section(
        "Estimates of a request",
        "How many tokens a request will take that reads or changes files; each session is left out "
        "of the past that it is estimated from.",
        lambda data: measured("estimates", data.corpus),
        is_fixed=True,
    ),
    "retrieval": Section(
        "Search: what it finds",
        "Questions of our own whose right answers are known, by words and by words and meaning.",
        lambda data: measured("retrieval"),
        is_long=True,
    ),
    "questions": Section(
        "Search: people's questions",
        "Questions that people wrote about real sessions in their own words.",
        lambda data: _questions(data.questions, data.corpus),
        is_fixed=True,
    ),
    "search": Section(
        "Search: how fast it is",
        "Searches in an index of 100,000 items, in a running process and from a shell.",
        lambda data: measured("search", data.large),
        is_long=True,
    ),
    "truth": Section(
        "Readings and alerts",
        "How full the window was said to be in real sessions, against what the client reported "
        "next; and how early alerts came before real compactions.",
        lambda data: _truth(data.corpus),
        is_fixed=True,
    ),
    "segments": Section(
        "Older topics, compressed",
        "How real sessions are cut into segments, and what their compression keeps.",
        lambda data: measured("segments", data.corpus),
        is_fixed=True,
    ),
    "mcp": Section(
        "Tools for the model",
        "The MCP server: tokens of its tools, its start, and calls in a session of 5 MB.",
        lambda data: measured("mcp"),
    ),
    "archive": Section(
        "Archiving long outputs",
        "What archiving long tool outputs would have saved in real sessions.",
        lambda data: measured("archive", data.corpus),
        is_fixed=True,
    ),
    "transcripts": Section(
        "Archiving transcripts",
        "Copies of transcripts that outlive the client's own: time and size.",
        lambda data: measured("transcripts", data.corpus),
        is_long=True,
    ),
    "briefs": Section(
        "What a brief restores",
        "Of what a session used right after a real compaction, how much the brief named; and how "
        "long making a brief takes.",
        lambda data: _briefs(data.corpus, data.evaluate),
        is_long=True,
    ),
    "endurance": Section(
        "Ten compactions in the real client",
        "Facts stated once, and whether they are still before the model ten compactions later.",
        lambda data: _endurance(data.endurance),
        is_long=True,
    ),
}


if __name__ == "__main__":
    main()
