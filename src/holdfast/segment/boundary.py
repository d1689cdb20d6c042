"""Where one topic ends and the next begins, judged from the steps on both sides of a gap.

A turn of the user begins a segment, unless its words answer the model, are very short, or continue
with the same files and words. Within one long turn, a segment begins where files and words change
together (TextTiling on what was said, touched and run). A compaction is no boundary. Two runs of
steps are compared by the files they touch and the words they use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt

from holdfast.segment.steps import SegmentStep

LEAST_WORDS = 5
SAME_FOLDER = 0.35  # weight of a file's folder beside the file itself
AHEAD = 8  # steps needed after a gap before it is judged
BEFORE, AFTER = 10, 5  # steps compared where the user speaks
BEFORE_WITHIN, AFTER_WITHIN = 14, 8  # steps compared within a turn, where changes are smaller
LEAST_STEPS = 3  # fewer steps are not a topic: they join the next one
LEAST_WITHIN = 10  # within one turn
MOST_STEPS = 90  # longer segments are cut at the weakest gap


def lexical(one: Sequence[SegmentStep], other: Sequence[SegmentStep]) -> float:
    """Return the cosine of their words, 0 to 1; -1 if either has too few words to compare."""
    left, right = (_bag(step.words for step in side) for side in (one, other))
    return _cosine(left, right, least=LEAST_WORDS)


def by_files(one: Sequence[SegmentStep], other: Sequence[SegmentStep]) -> float:
    """Return the cosine of their files and folders; -1 if either touches none."""
    return _cosine(_places(one), _places(other), least=1)


def _bag(tables: Iterable[Mapping[str, int]]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for table in tables:
        counts.update(table)
    return {word: 1 + log(count) for word, count in counts.items()}


def _places(steps: Sequence[SegmentStep]) -> dict[str, float]:
    found: dict[str, float] = {}
    for step in steps:
        for name, how in step.files.items():
            found[name] = found.get(name, 0.0) + how
            folder = name.rpartition("/")[0] + "/"
            found[folder] = found.get(folder, 0.0) + how * SAME_FOLDER
    return {name: sqrt(weight) for name, weight in found.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float], least: int) -> float:
    if len(one) < least or len(other) < least:
        return -1.0
    shared = sum(weight * other[key] for key, weight in one.items() if key in other)
    length = sqrt(sum(w * w for w in one.values())) * sqrt(sum(w * w for w in other.values()))
    return shared / length if length else -1.0


def is_boundary(steps: Sequence[SegmentStep], at: int) -> bool:
    """Return whether a segment begins with `steps[at]`, if all steps before it are one segment."""
    if at < LEAST_STEPS:
        return False
    if steps[at].is_prompted:
        return steps[at].asks and _turns_away(steps, at)
    return at >= LEAST_WITHIN and not _is_near_prompt(steps, at) and _moves_on(steps, at)


def weakest(steps: Sequence[SegmentStep]) -> int:
    """Return where to cut a segment that has become too long."""
    gaps = range(LEAST_WITHIN, len(steps) - AHEAD)
    return min(gaps, key=lambda at: (_likeness(steps, at), -at))


def _turns_away(steps: Sequence[SegmentStep], at: int) -> bool:
    """Compare files and words on both sides; without files, words alone.

    Most questions are about what was just done, so a question begins a topic only if it shares
    almost nothing.
    """
    left, right = steps[max(0, at - BEFORE) : at], steps[at : at + AFTER]
    files, words = by_files(left, right), lexical(left, right)
    if steps[at].inquires:
        return files < 0.1 and words < 0.15
    if files < 0:
        return words < 0.4
    return not (files > 0.6 and not 0 <= words <= 0.35)


def _is_near_prompt(steps: Sequence[SegmentStep], at: int) -> bool:
    """Return whether the user has just spoken or is about to. Only words count there: the last
    steps of a turn, its tests and its report, are no topic of their own."""
    return any(step.is_prompted for step in steps[at - 1 : at + AHEAD])


def _moves_on(steps: Sequence[SegmentStep], at: int) -> bool:
    """Return whether both files and words change here, and no gap nearby is a greater change."""
    files, words = _within(steps, at)
    if not (0 <= files < 0.08 and 0 <= words < 0.2):
        return False
    if not any(step.files for step in steps[at : at + 2]):
        return False  # tests and reports belong to what they end; the next topic begins later
    around = [one for one in range(at - 2, at + 3) if LEAST_STEPS <= one < len(steps) - 1]
    return _likeness(steps, at) <= min(_likeness(steps, one) for one in around)


def _likeness(steps: Sequence[SegmentStep], at: int) -> float:
    """Return how alike both sides of a gap are; sides that cannot be compared count as alike."""
    files, words = _within(steps, at)
    return (0.5 if files < 0 else files) + (0.5 if words < 0 else words)


def _within(steps: Sequence[SegmentStep], at: int) -> tuple[float, float]:
    left, right = steps[max(0, at - BEFORE_WITHIN) : at], steps[at : at + AFTER_WITHIN]
    return by_files(left, right), lexical(left, right)
