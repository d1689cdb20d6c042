"""How well the growth of a request is estimated from what is known when it is typed.

    python -m benchmarks.estimates --corpus DIR          the figures, leave one repository out
    python -m benchmarks.estimates --corpus DIR --fit    the numbers in plan/estimates

The error is |estimate - truth| / max(truth, 2,000): 2,000 tokens are one percent of the smallest
window, and being wrong by half of nothing harms nobody. No request is left out. A median of
relative errors can be had cheaply by guessing low, so the error in logarithms stands beside it.
Prior and past are fitted anew for every repository without its sessions; what the session itself
did before the prompt is known. A range that is too wide to be stated covers nothing: of tasks that
list files or name folders, how many are stated stands beside.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log
from pathlib import Path
from statistics import median, pstdev

from benchmarks import folder_tasks, whole_reads
from benchmarks.readings import transcripts
from holdfast.plan.estimates import features, likeness
from holdfast.plan.estimates.estimate import (
    Past,
    PastCase,
    TaskEstimate,
    estimate_request,
    names_early,
)
from holdfast.plan.estimates.features import UNSTATED_FILES, FittedLine
from holdfast.plan.estimates.likeness import EstimateRequest
from holdfast.plan.estimates.past_requests import PastRequest, read_requests
from holdfast.plan.estimates.past_runs import RunTask
from holdfast.plan.kinds import KINDS
from holdfast.transcript.reader import read
from holdfast.transcript.steps import operations

FLOOR_TOKENS = 2000
RIDGE = 20.0
LEAST_OF_KIND = 20
TWICE = frozenset({"chars", "formula", "lines", "position", "planning"})
Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Case:
    session: str
    project: str
    used: PastRequest
    known: dict[str, float]
    grown: float
    in_folder: bool  # it names one


def cases(corpus: Path) -> list[Case]:
    """Every answered request; a project is a folder of the corpus."""
    by_project: defaultdict[str, list[Path]] = defaultdict(list)
    for path in transcripts(corpus):
        by_project[path.parent.name].append(path)
    return [case for project in by_project for case in _cases(project, by_project[project])]


def _cases(project: str, paths: Sequence[Path]) -> Iterator[Case]:
    sessions = [(path, list(operations(read(path)))) for path in paths]
    folders = {name for _, told in sessions for name in folder_tasks.folders_of(told)}
    for path, told in sessions:
        found = list(read_requests(told))
        for used, in_folder in zip(found, folder_tasks.named(told, found, folders), strict=True):
            known = likeness.describe_past(used) | likeness.describe_folders(_listed(used))
            grown = likeness.log_growth(used.growth_tokens)
            yield Case(str(path), project, used, known, grown, in_folder)


def _listed(used: PastRequest) -> int:
    """How many files a plan would list beside a folder: those named that are also touched."""
    return min(used.words.files, used.touched)


@dataclass(frozen=True, slots=True)
class Lines:
    words: FittedLine
    files: FittedLine
    folders: FittedLine
    kinds: dict[int, FittedLine]
    named: FittedLine


def lines(some: Sequence[Case]) -> Lines:
    """A kind of which there are too few has none."""
    touched = [case for case in some if case.used.touched]
    kinds = {kind: [one for one in some if one.used.words.kind == kind] for kind in KINDS}
    return Lines(
        fit(some, features.NAMES),
        fit(touched, (*features.NAMES, "touched")),
        fit([case for case in touched if case.in_folder], ("named",), ridge=0.0),
        {kind: middle(chosen) for kind, chosen in kinds.items() if len(chosen) >= LEAST_OF_KIND},
        fit([case for case in touched if names_early(case.used)], ("named_files",), ridge=0.0),
    )


def middle(some: Sequence[Case]) -> FittedLine:
    """The median, and the tenths around it."""
    grown = sorted(case.grown for case in some)
    half, tenth = grown[len(grown) // 2], len(grown) // 10
    return FittedLine(half, {}, grown[tenth] - half, grown[-tenth - 1] - half)


def fit(some: Sequence[Case], names: Sequence[str], ridge: float = RIDGE) -> FittedLine:
    """A line through the logarithms, its slopes held back a little; then its residuals' tenths."""
    columns = {name: [case.known[name] for case in some] for name in names}
    means = {name: sum(values) / len(values) for name, values in columns.items()}
    spread = {name: pstdev(values) or 1.0 for name, values in columns.items()}
    rows = [[(case.known[n] - means[n]) / spread[n] for n in names] for case in some]
    mean = sum(case.grown for case in some) / len(some)
    slopes = _ridge(rows, [case.grown - mean for case in some], ridge)
    terms = {name: slope / spread[name] for name, slope in zip(names, slopes, strict=True)}
    start = mean - sum(terms[name] * means[name] for name in names)
    bare = FittedLine(start, terms, 0.0, 0.0)
    left = sorted(case.grown - bare.at(case.known) for case in some)
    return FittedLine(start, terms, left[len(left) // 10], left[-(len(left) // 10) - 1])


def _ridge(rows: list[list[float]], wanted: list[float], ridge: float) -> list[float]:
    size = len(rows[0])
    matrix = [
        [sum(row[i] * row[j] for row in rows) + (ridge if i == j else 0.0) for j in range(size)]
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
    stated: int = 0  # the range is narrow enough to be shown
    widths: list[float] = field(default_factory=list)  # of the range, its upper end by its lower

    def add(self, tokens: float, truth: int) -> None:
        self.relative.append(abs(tokens - truth) / max(truth, FLOOR_TOKENS))
        self.logs.append(abs(log(max(tokens, FLOOR_TOKENS) / max(truth, FLOOR_TOKENS))))

    def words(self) -> str:
        return f"{median(self.relative):.3f}, in logarithms {sum(self.logs) / len(self.logs):.3f}"


WAYS: tuple[str | int, ...] = (
    "literal",
    "named",
    "ours",
    "prior",
    "files formula",
    "task",
    "task after",
)
IN_WORDS = ("named files", "one named file", "named files, no past")
LISTED: tuple[str | int, ...] = ("files", "files, no past", "folders", *IN_WORDS, *KINDS)


def measure(corpus: Path) -> tuple[dict[str | int, Score], int, int]:
    """Each repository estimated from all others."""
    found = cases(corpus)
    scores: dict[str | int, Score] = {way: Score([], []) for way in (*WAYS, *LISTED)}
    for project in sorted({case.project for case in found}):
        _one_project(project, found, scores)
    return scores, len(found), len({case.session for case in found})


def _one_project(project: str, found: list[Case], scores: dict[str | int, Score]) -> None:
    others = [case for case in found if case.project != project]
    fitted = lines(others)
    rows = [_seen(one) for one in others]
    past = Past(
        rows,
        fitted.words,
        fitted.files,
        folders=fitted.folders,
        kinds=fitted.kinds,
        named=fitted.named,
    )
    alone = replace(past, seen=())
    before: defaultdict[str, list[RunTask]] = defaultdict(
        list
    )  # they stand for tasks that were run
    for case in (case for case in found if case.project == project):
        _one(case, past, alone, before[case.session], scores)
        before[case.session].append(RunTask(case.used.words, None, case.used.growth_tokens))


def _seen(case: Case) -> PastCase:
    used = case.used
    return PastCase(
        case.known, case.grown, False, used.words.kind, used.touched > 0, names_early(used)
    )


def _one(
    case: Case, past: Past, alone: Past, before: list[RunTask], scores: dict[str | int, Score]
) -> None:
    used, truth = case.used, case.used.growth_tokens
    typed = EstimateRequest(
        used.words,
        position=used.position,
        planning=used.planning,
        earlier_tokens=used.earlier_tokens,
    )
    listed = EstimateRequest(used.words, files=used.touched)
    scores["literal"].add(used.words.formula_tokens(UNSTATED_FILES), truth)
    scores["named"].add(used.words.formula_tokens(), truth)
    if used.touched:  # as a plan lists them; one that touches none is a talk, and no task
        scores["files formula"].add(used.words.formula_tokens(used.touched), truth)
    asked: list[tuple[str | int, TaskEstimate]] = [
        ("ours", estimate_request(typed, past)),
        ("prior", estimate_request(EstimateRequest(used.words), alone)),
        ("task", estimate_request(EstimateRequest(used.words), past)),
        (
            "task after",
            estimate_request(EstimateRequest(used.words), replace(past, ran=tuple(before))),
        ),
    ]
    if used.touched:
        asked += [
            ("files", estimate_request(listed, past)),
            ("files, no past", estimate_request(listed, alone)),
        ]
    if names_early(used):
        count = likeness.count_named(used)
        named = EstimateRequest(used.words, named=count)
        ways = IN_WORDS[:2] if count == 1 else IN_WORDS[:1]
        asked += [(way, estimate_request(named, past)) for way in ways]
        asked.append((IN_WORDS[2], estimate_request(named, alone)))
    if used.touched and case.in_folder:
        asked.append(
            (
                "folders",
                estimate_request(EstimateRequest(used.words, _listed(used), folders=1), past),
            )
        )
    if used.words.kind:
        asked.append((used.words.kind, estimate_request(EstimateRequest(used.words), past)))
    for way, one in asked:
        scores[way].add(one.tokens, truth)
        scores[way].within += _covers(one, truth)
        scores[way].stated += not one.is_unknown
        scores[way].widths.append(one.high_tokens / one.low_tokens)


def _covers(one: TaskEstimate, truth: int) -> bool:
    return one.low_tokens <= max(truth, likeness.LEAST_GROWTH) <= one.high_tokens


def rows(corpus: Path | None) -> Iterator[Row]:
    if corpus is None or not transcripts(corpus):
        yield "estimates", "not measured: say CORPUS=DIR", ""
        return
    scores, count, sessions = measure(corpus)
    of = f"{count:,} requests of {sessions} sessions"

    def ratio(way: str, against: str) -> float:
        return median(scores[way].relative) / median(scores[against].relative)

    def covered(way: str | int) -> str:
        score = scores[way]
        share = score.within / max(1, len(score.widths))
        return f"{share:.1%}, its ends a factor of {median(score.widths):.1f} apart (median)"

    def stated(way: str | int) -> str:
        score = scores[way]
        return f"{covered(way)}; stated for {score.stated:,} of {len(score.widths):,}"

    yield f"rule of thumb, median relative error ({of})", scores["literal"].words(), ""
    yield "the same, counting the files a prompt names", scores["named"].words(), ""
    yield "ours", scores["ours"].words(), ""
    yield "ours against the rule of thumb", f"{ratio('ours', 'literal'):.3f}x", "≤ 0.95x"
    yield "ours against it with named files", f"{ratio('ours', 'named'):.3f}x", ""
    yield "our 80 % range covers", covered("ours"), "75 to 85 %"
    yield "without any past: the prior", scores["prior"].words(), ""
    yield "without any past: the range covers", covered("prior"), ""
    yield "files known, rule of thumb", scores["files formula"].words(), ""
    yield "files known, ours", scores["files"].words(), ""
    yield "files known, ours against it", f"{ratio('files', 'files formula'):.3f}x", ""
    yield "tasks that list the files they touch", stated("files"), "75 to 85 %, below 10"
    yield "the same without any past", stated("files, no past"), "75 to 85 %, below 10"
    yield "tasks that name files in their words", stated("named files"), "75 to 85 %, below 10"
    yield "the same without any past", stated("named files, no past"), "75 to 85 %, below 10"
    yield "those of them that name one file", stated("one named file"), ""
    yield "tasks that name folders", stated("folders"), "75 to 85 %, below 10"
    for kind, (words, _, _) in KINDS.items():
        if scores[kind].widths:
            yield f"tasks whose words say: {words}", stated(kind), "stated where below 10"
    yield "a task by its words alone", scores["task"].words(), ""
    yield "the same, put right by what was run before", scores["task after"].words(), "no worse"
    yield "put right, our range covers", covered("task after"), "75 to 85 %"


def _print_fit(corpus: Path) -> None:
    found = cases(corpus)
    fitted = lines(found)
    named = [("WORDS", fitted.words), ("FILES", fitted.files), ("FOLDERS", fitted.folders)]
    named.append(("NAMED", fitted.named))
    for name, line in (*named, *((KINDS[kind][0], one) for kind, one in fitted.kinds.items())):
        print(f"{name}: start {line.start:.3f}, low {line.low:.3f}, high {line.high:.3f}")
        for term, slope in line.terms.items():
            print(f"    {term!r}: {slope:.3f},")
    print("WEIGHTS:")
    for name in likeness.WEIGHTS:
        spread = pstdev([case.known[name] for case in found])
        print(f"    {name!r}: {(2 if name in TWICE else 1) / spread:.2f},")
    grown = sorted(case.grown for case in found)
    print(f"median growth {exp(grown[len(grown) // 2]):,.0f} tokens")
    read = whole_reads.shares(corpus)
    ends = [read[len(read) * tenth // 10] for tenth in (1, 5, 9)]
    print("READINGS:", ", ".join(f"{share:.1f}" for share in ends), f"of {len(read)} requests")


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
