"""How well the formula tells what a request takes that reads or changes files.

    python -m benchmarks.estimates --corpus DIR

The error is the logarithm of estimate by truth, as a factor: 2.0 is twice as much or half. Each
request is estimated three times: by the formula alone, corrected as in public sessions, and by what
similar requests used in the other sessions of its repository. The files of these sessions are not
at hand, so each counts with 2,000 tokens.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from statistics import median

from benchmarks.readings import transcripts
from holdfast.plan.estimate import (
    FILE_TOKENS,
    LEAST_TOKENS,
    Past,
    PastTask,
    apply_formula,
    read_requests,
)
from holdfast.record.stream import read_turns

Row = tuple[str, str, str]
Sessions = dict[str, dict[str, list[PastTask]]]  # by repository and session


@dataclass(slots=True)
class Score:
    logs: list[float] = field(default_factory=list)
    within: int = 0
    widths: list[float] = field(default_factory=list)

    def words(self) -> str:
        return f"a factor of {exp(median(self.logs)):.2f} (median)"

    def covered(self) -> str:
        share = self.within / max(1, len(self.logs))
        return f"{share:.1%}, its ends a factor of {median(self.widths):.1f} apart (median)"


def read_sessions(corpus: Path) -> Sessions:
    """Every answered request that touched files."""
    sessions: Sessions = defaultdict(dict)
    for path in transcripts(corpus):
        tasks = [
            PastTask(
                used.multiplier,
                apply_formula(used.chars, FILE_TOKENS * len(used.files), used.multiplier),
                used.used_tokens,
                here=True,
            )
            for used in read_requests(read_turns(path))
            if used.files
        ]
        sessions[path.parent.name][str(path)] = tasks
    return sessions


def measure(sessions: Sessions) -> dict[str, Score]:
    scores = {way: Score() for way in ("formula", "public", "ours")}
    for repository in sessions.values():
        for session, tasks in repository.items():
            others = [task for name, some in repository.items() if name != session for task in some]
            pasts = {"public": Past(), "ours": Past(others)}
            for task in tasks:
                _add(scores["formula"], task, 1.0, 1.0, 1.0)
                for way, past in pasts.items():
                    found = past.correction(task.multiplier, task.formula_tokens)
                    _add(scores[way], task, found.low, found.middle, found.high)
    return scores


def _add(score: Score, task: PastTask, low: float, middle: float, high: float) -> None:
    truth = max(LEAST_TOKENS, task.used_tokens)
    ends = [max(LEAST_TOKENS, task.formula_tokens * factor) for factor in (low, middle, high)]
    score.logs.append(abs(log(ends[1] / truth)))
    score.within += ends[0] <= truth <= ends[2]
    score.widths.append(ends[2] / ends[0])


def find_quantiles(sessions: Sessions) -> Sequence[float]:
    """By how much a tenth, half and nine tenths of all requests exceed the formula: `PUBLIC`."""
    tasks = (task for some in sessions.values() for tasks in some.values() for task in tasks)
    ratios = sorted(max(LEAST_TOKENS, one.used_tokens) / one.formula_tokens for one in tasks)
    return [ratios[len(ratios) * tenth // 10] for tenth in (1, 5, 9)]


def rows(corpus: Path | None) -> Iterator[Row]:
    if corpus is None or not transcripts(corpus):
        yield "estimates", "not measured: say CORPUS=DIR", ""
        return
    sessions = read_sessions(corpus)
    scores = measure(sessions)
    of = f"{len(scores['formula'].logs):,} requests that touched files"
    yield f"the formula alone is off by ({of})", scores["formula"].words(), ""
    yield "corrected as in public sessions", scores["public"].words(), ""
    yield "corrected by other sessions of the repository", scores["ours"].words(), "no worse"
    yield "the 80 % range covers, as in public sessions", scores["public"].covered(), "75 to 85 %"
    yield "by other sessions of the repository", scores["ours"].covered(), "75 to 85 %"
    quantiles = ", ".join(f"{one:.1f}" for one in find_quantiles(sessions))
    yield "a tenth, half and nine tenths exceed the formula by", quantiles, ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    for name, figure, target in rows(parser.parse_args().corpus):
        print(f"{name}: {figure}" + (f" (target: {target})" if target else ""))


if __name__ == "__main__":
    main()
