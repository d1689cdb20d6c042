"""`make bench`: every figure of docs/figures.md, measured now, as a table.

make bench CORPUS=DIR        adds what real transcripts tell
make bench ENDURANCE=1       adds long sessions in the real client
make bench LABELS=DIR        with CORPUS: compares checkpoints with sessions labelled by hand
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

Row = tuple[str, str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a folder of .jsonl or .jsonl.gz transcripts")
    parser.add_argument("--evaluate", type=Path, help="the evaluator of briefs")
    parser.add_argument("--secrets", type=Path, help="samples of secrets, as JSON lines")
    parser.add_argument("--fabrications", type=Path, help="statements to put into summaries")
    parser.add_argument("--questions", type=Path, help="questions about the corpus, as JSON")
    parser.add_argument("--large", action="store_true", help="search a million items too")
    parser.add_argument("--endurance", action="store_true", help="play the long sessions: minutes")
    parser.add_argument("--labels", type=Path, help="sessions of the corpus, labelled by hand")
    given = parser.parse_args()
    _print("What the hook costs", list(_hooks()))
    _print("What the user waits (real client, scripted API)", list(_wait()))
    _print("What a command costs", list(_commands()))
    _print("The shape of the source", list(_shape()))
    _print("Reading a transcript", list(_parse(given.corpus)))
    _print("Saving and giving back", list(_save()))
    _print("Taking in what hooks leave", list(_intake()))
    _print("Watching live sessions", list(_watcher()))
    _print("Taking secrets out", list(_secrets(given.secrets, given.corpus)))
    _print("Writes through the API", list(_api()))
    _print("The dashboard", list(_dashboard()))
    _print("Lists of very much", list(_lists()))
    _print("Batches of a plan", list(_batches()))
    _print("What a request will take", list(_estimates(given.corpus)))
    _print("Finding again: how well", list(_retrieval()))
    _print("Finding again: people's questions", list(_questions(given.questions, given.corpus)))
    _print("Finding again: how fast", list(_search(given.large)))
    _print("Reading and alerts against the truth", list(_truth(given.corpus)))
    _print("Segments, and what is kept of them", list(_segments(given.corpus)))
    _print("The tools of the model", list(_mcp()))
    _print("Archiving long outputs", list(_archive(given.corpus)))
    _print("Archiving transcripts", list(_transcripts(given.corpus)))
    _print("What a brief gives back", list(_briefs(given.corpus, given.evaluate)))
    _print("Summaries checked", list(_summaries(given.corpus, given.fabrications)))
    _print("What a checkpoint says", list(_contents(given.corpus, given.labels)))
    _print("Ten compactions in the real client", list(_endurance(given.endurance)))


def _print(title: str, rows: list[Row]) -> None:
    print(f"\n## {title}\n\n| measure | figure | to reach |\n|---|---|---|", flush=True)
    for name, figure, wanted in rows:
        print(f"| {name} | {figure} | {wanted} |", flush=True)


def _hooks() -> Iterator[Row]:
    from benchmarks import hooks

    for name, ratio in hooks.measure().items():
        tool = name.startswith("PostToolUse")
        wanted = "≤ 1.5x" if tool else "≤ 1.1x" if "against" in name else "≤ 3x"
        of = "" if "against" in name else " of a bare `python -I -S -c pass`"
        yield name, f"{ratio:.2f}x{of}", wanted


def _commands() -> Iterator[Row]:
    from benchmarks import commands

    yield from commands.rows()


def _shape() -> Iterator[Row]:
    from benchmarks import shape

    yield from shape.rows()


def _archive(corpus: Path | None) -> Iterator[Row]:
    from benchmarks import archive

    yield from archive.rows(corpus)


def _transcripts(corpus: Path | None) -> Iterator[Row]:
    from benchmarks import transcripts

    yield from transcripts.rows(corpus)


def _mcp() -> Iterator[Row]:
    from benchmarks import mcp

    yield from mcp.rows()


def _wait() -> Iterator[Row]:
    from benchmarks import wait

    yield from wait.rows()


def _parse(corpus: Path | None) -> Iterator[Row]:
    from benchmarks import long_sessions, parse

    yield from parse.rows(corpus)
    yield from long_sessions.rows()


def _save() -> Iterator[Row]:
    from benchmarks import save

    yield from save.rows()


def _intake() -> Iterator[Row]:
    from benchmarks import intake

    yield from intake.rows()


def _watcher() -> Iterator[Row]:
    from benchmarks import watcher

    yield from watcher.rows()


def _secrets(samples: Path | None, corpus: Path | None) -> Iterator[Row]:
    from benchmarks import redact, unseen_secrets

    yield from redact.rows()
    yield from unseen_secrets.rows(samples, None, corpus)


def _api() -> Iterator[Row]:
    from benchmarks import api, hub

    yield from api.rows()
    yield from hub.rows()


def _dashboard() -> Iterator[Row]:
    from benchmarks import dashboard

    yield from dashboard.rows()


def _lists() -> Iterator[Row]:
    from benchmarks import lists

    yield from lists.rows()


def _segments(corpus: Path | None) -> Iterator[Row]:
    from benchmarks import segments

    yield from segments.rows(corpus)


def _batches() -> Iterator[Row]:
    from benchmarks import batches

    yield from batches.rows()


def _estimates(corpus: Path | None) -> Iterator[Row]:
    from benchmarks import estimates

    yield from estimates.rows(corpus)


def _retrieval() -> Iterator[Row]:
    from benchmarks import retrieval

    yield from retrieval.rows()


def _questions(questions: Path | None, corpus: Path | None) -> Iterator[Row]:
    if questions is None or corpus is None:
        yield "questions", "skipped: say CORPUS=DIR QUESTIONS=FILE", ""
        return
    from benchmarks import questions as asked

    yield from asked.rows(questions, corpus)


def _search(large: bool) -> Iterator[Row]:
    from benchmarks import search

    yield from search.rows(large)


def _briefs(corpus: Path | None, evaluate: Path | None) -> Iterator[Row]:
    from benchmarks import briefs, conformance, left_out, user_words

    if corpus is None or evaluate is None:
        yield "quality", "skipped: say CORPUS=DIR EVALUATE=FILE", ""
    yield from briefs.rows(corpus, evaluate)
    if corpus is not None:
        from benchmarks import roles

        yield from roles.rows(corpus)
    if corpus is not None and evaluate is not None:
        yield from left_out.rows(corpus, evaluate)
    yield from user_words.rows(corpus) if corpus else ()
    yield from conformance.rows()


def _summaries(corpus: Path | None, fabrications: Path | None) -> Iterator[Row]:
    from benchmarks import attributions

    if corpus is None:
        yield "words in the user's name", "skipped: say CORPUS=DIR FABRICATIONS=FILE", ""
    else:
        yield from attributions.rows(corpus, fabrications)


def _contents(corpus: Path | None, labels: Path | None) -> Iterator[Row]:
    from benchmarks import contents

    if corpus is None or labels is None:
        yield "contents", "skipped: say CORPUS=DIR LABELS=DIR", ""
        return
    yield from contents.rows(corpus, labels)


def _endurance(asked: bool) -> Iterator[Row]:
    from benchmarks import endurance

    if not asked:
        yield "endurance", "skipped: say ENDURANCE=1", ""
        return
    yield from endurance.rows()


def _truth(corpus: Path | None) -> Iterator[Row]:
    from benchmarks import forecast, readings

    if corpus is None or not readings.transcripts(corpus):
        yield "skipped", "no transcripts: say CORPUS=DIR", ""
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
        "advisory ≥ 3 operations ahead",
        f"{found['advisory 3 operations ahead']:.1%} {ahead}",
        "≥ 95 %",
    )
    yield "urgent ≥ 1 operation ahead", f"{found['urgent 1 operation ahead']:.1%} {ahead}", "≥ 90 %"
    ahead_of = forecast.measure(corpus)["each repository left out"]
    yield (
        "steps left: the truth lies in the range",
        f"{ahead_of['inside']:.1%} of {ahead_of['forecasts']:,}, width {ahead_of['width, median']}",
        "75 to 85 %",
    )
    calm = f"of {found['sessions without a compaction']} sessions without a compaction"
    yield "hear anything", f"{found['of them heard anything']:.1%} {calm}", "≤ 30 %"


if __name__ == "__main__":
    main()
