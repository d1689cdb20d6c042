"""How well the growth of a request is estimated from what is known when it is typed.

    python -m benchmarks.estimates --corpus DIR          the figures, leave one session out
    python -m benchmarks.estimates --corpus DIR --fit    the numbers typed in plan/prior, likeness

The error is |estimate - truth| / max(truth, 2,000): 2,000 tokens are one percent of the smallest
window, and being wrong by half of nothing harms nobody. No request is left out. A median of
relative errors can be had cheaply by guessing low, so the error in logarithms stands beside it.
Prior and past are fitted anew for every session without that session; what the session itself did
before the prompt is known.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log
from pathlib import Path
from statistics import median, pstdev

from benchmarks.readings import transcripts
from holdfast.plan import likeness, prior
from holdfast.plan.estimate import Estimate, Past, Seen, estimate
from holdfast.plan.likeness import Asked
from holdfast.plan.prior import Line
from holdfast.plan.ran import Ran
from holdfast.plan.used import Used, requests
from holdfast.plan.words import UNSTATED_FILES
from holdfast.transcript import operations, read

FLOOR_TOKENS = 2000
RIDGE = 20.0
TWICE = frozenset({"chars", "formula", "lines", "position", "planning"})
Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Case:
    session: str
    project: str
    used: Used
    known: dict[str, float]
    grown: float


def cases(corpus: Path) -> list[Case]:
    """Every answered request; a project is a folder of the corpus."""
    return [
        Case(
            str(path),
            path.parent.name,
            used,
            likeness.of_used(used),
            likeness.growth(used.growth_tokens),
        )
        for path in transcripts(corpus)
        for used in requests(operations(read(path)))
    ]


def fit(some: Sequence[Case], names: Sequence[str]) -> Line:
    """A line through the logarithms, its slopes held back a little; then its residuals' tenths."""
    columns = {name: [case.known[name] for case in some] for name in names}
    middle = {name: sum(values) / len(values) for name, values in columns.items()}
    spread = {name: pstdev(values) or 1.0 for name, values in columns.items()}
    rows = [[(case.known[n] - middle[n]) / spread[n] for n in names] for case in some]
    mean = sum(case.grown for case in some) / len(some)
    slopes = _ridge(rows, [case.grown - mean for case in some])
    terms = {name: slope / spread[name] for name, slope in zip(names, slopes, strict=True)}
    start = mean - sum(terms[name] * middle[name] for name in names)
    bare = Line(start, terms, 0.0, 0.0)
    left = sorted(case.grown - bare.at(case.known) for case in some)
    return Line(start, terms, left[len(left) // 10], left[-(len(left) // 10) - 1])


def _ridge(rows: list[list[float]], wanted: list[float]) -> list[float]:
    size = len(rows[0])
    matrix = [
        [sum(row[i] * row[j] for row in rows) + (RIDGE if i == j else 0.0) for j in range(size)]
        + [sum(row[i] * value for row, value in zip(rows, wanted, strict=True))]
        for i in range(size)
    ]
    for i in range(size):  # Gauss; the ridge keeps every pivot away from nought
        for j in range(size):
            if i != j:
                factor = matrix[j][i] / matrix[i][i]
                matrix[j] = [a - factor * b for a, b in zip(matrix[j], matrix[i], strict=True)]
    return [matrix[i][size] / matrix[i][i] for i in range(size)]


@dataclass(slots=True)
class Score:
    """Errors of one way to estimate."""

    relative: list[float]
    logs: list[float]
    within: int = 0
    widths: list[float] = field(default_factory=list)  # of the range, its upper end by its lower

    def add(self, tokens: float, truth: int) -> None:
        self.relative.append(abs(tokens - truth) / max(truth, FLOOR_TOKENS))
        self.logs.append(abs(log(max(tokens, FLOOR_TOKENS) / max(truth, FLOOR_TOKENS))))

    def words(self) -> str:
        return f"{median(self.relative):.3f}, in logarithms {sum(self.logs) / len(self.logs):.3f}"


WAYS = ("literal", "named", "ours", "prior", "files formula", "files ours", "task", "task after")


def measure(corpus: Path) -> tuple[dict[str, Score], int, int]:
    """Each session estimated from all others."""
    found = cases(corpus)
    scores = {way: Score([], []) for way in WAYS}
    sessions = sorted({case.session for case in found})
    for session in sessions:
        _one_session(session, found, scores)
    return scores, len(found), len(sessions)


def _one_session(session: str, found: list[Case], scores: dict[str, Score]) -> None:
    others = [case for case in found if case.session != session]
    words, files = fit(others, prior.NAMES), fit(others, (*prior.NAMES, "touched"))
    before: list[Ran] = []  # the requests before stand for tasks of the same work that were run
    for case in (case for case in found if case.session == session):
        rows = [Seen(one.known, one.grown, one.project == case.project) for one in others]
        past, used = Past(rows, words, files), case.used
        alone = Past((), words, files)
        typed = Asked(
            used.words,
            position=used.position,
            planning=used.planning,
            earlier_tokens=used.earlier_tokens,
        )
        listed = Asked(used.words, files=used.touched)
        truth = used.growth_tokens
        scores["literal"].add(used.words.formula_tokens(UNSTATED_FILES), truth)
        scores["named"].add(used.words.formula_tokens(), truth)
        scores["files formula"].add(used.words.formula_tokens(max(1, used.touched)), truth)
        for way, one in (
            ("ours", estimate(typed, past)),
            ("prior", estimate(Asked(used.words), alone)),
            ("files ours", estimate(listed, past)),
            ("task", estimate(Asked(used.words), past)),
            ("task after", estimate(Asked(used.words), replace(past, ran=tuple(before)))),
        ):
            scores[way].add(one.tokens, truth)
            scores[way].within += _covers(one, truth)
            scores[way].widths.append(one.high_tokens / one.low_tokens)
        before.append(Ran(used.words, None, truth))


def _covers(one: Estimate, truth: int) -> bool:
    return one.low_tokens <= max(truth, likeness.LEAST_GROWTH) <= one.high_tokens


def rows(corpus: Path | None) -> Iterator[Row]:
    if corpus is None or not transcripts(corpus):
        yield "estimates", "skipped: say CORPUS=DIR", ""
        return
    scores, count, sessions = measure(corpus)
    of = f"{count:,} requests of {sessions} sessions"

    def ratio(way: str, against: str) -> float:
        return median(scores[way].relative) / median(scores[against].relative)

    def covered(way: str) -> str:
        wide = median(scores[way].widths)
        return f"{scores[way].within / count:.1%}, its ends a factor of {wide:.0f} apart (median)"

    yield f"rule of thumb, median relative error ({of})", scores["literal"].words(), ""
    yield "the same, counting the files a prompt names", scores["named"].words(), ""
    yield "ours", scores["ours"].words(), ""
    yield "ours against the rule of thumb", f"{ratio('ours', 'literal'):.3f}x", "≤ 0.95x"
    yield "ours against it with named files", f"{ratio('ours', 'named'):.3f}x", ""
    yield "our 80 % range covers", covered("ours"), "75 to 85 %"
    yield "without any past: the prior", scores["prior"].words(), ""
    yield "without any past: the range covers", covered("prior"), ""
    yield "files known, rule of thumb", scores["files formula"].words(), ""
    yield "files known, ours", scores["files ours"].words(), ""
    yield "files known, ours against it", f"{ratio('files ours', 'files formula'):.3f}x", ""
    yield "files known, our range covers", covered("files ours"), ""
    yield "a task by its words alone", scores["task"].words(), ""
    yield "the same, put right by what was run before", scores["task after"].words(), "no worse"
    yield "put right, our range covers", covered("task after"), "75 to 85 %"


def _print_fit(corpus: Path) -> None:
    found = cases(corpus)
    for name, line in (
        ("WORDS", fit(found, prior.NAMES)),
        ("FILES", fit(found, (*prior.NAMES, "touched"))),
    ):
        print(f"{name}: start {line.start:.3f}, low {line.low:.3f}, high {line.high:.3f}")
        for term, slope in line.terms.items():
            print(f"    {term!r}: {slope:.3f},")
    print("WEIGHTS:")
    for name in likeness.WEIGHTS:
        spread = pstdev([case.known[name] for case in found])
        print(f"    {name!r}: {(2 if name in TWICE else 1) / spread:.2f},")
    grown = sorted(case.grown for case in found)
    print(f"median growth {exp(grown[len(grown) // 2]):,.0f} tokens")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--fit", action="store_true", help="print the numbers of the prior")
    asked = parser.parse_args()
    if asked.fit:
        _print_fit(asked.corpus)
        return
    for name, figure, wanted in rows(asked.corpus):
        print(f"{name}: {figure}{f' ({wanted})' if wanted else ''}")


if __name__ == "__main__":
    main()
