"""Where one topic ends and the next begins: judged from the turns on both sides of a gap.

A request of the user's begins a segment, unless it goes on with the same files and words; yes,
answers, corrections and remarks never do. Within one request the work moves on where files and
words change together, most of all where a task is finished or another begun (TextTiling, on what
was asked, said, touched and run). A compaction is no boundary: the work goes on behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.segment.likeness import by_files, lexical
from holdfast.segment.plain import is_pasted
from holdfast.segment.turn import Turn

AHEAD = 8  # turns that must have come after a gap before it is judged
BEFORE, AFTER = 10, 5  # turns compared where the user speaks
BEFORE_WITHIN, AFTER_WITHIN = 14, 8  # and within a request, where less tells of a change
LEAST_TURNS = 3  # fewer are dust: they stay with what follows
LEAST_WITHIN = 10  # within one request
MOST_TURNS = 90  # then the weakest gap is taken
SUBSTANTIAL_CHARS = 40
_GOES_ON = frozenset({"answer", "aside"})
_FURTHER = (
    "also ",
    "and ",
    "additionally",
    "plus ",
    "auch ",
    "außerdem",
    "und ",
    "aussi ",
    "también",
)


def is_boundary(turns: Sequence[Turn], at: int) -> bool:
    """Whether a segment begins with `turns[at]`, where all before it are of one segment."""
    if at < LEAST_TURNS:
        return False
    if turns[at].is_prompted:
        return _asks_anew(turns, at)
    if at < LEAST_WITHIN or _is_near_prompt(turns, at):
        return False
    return _moves_on(turns, at)


def weakest(turns: Sequence[Turn]) -> int:
    """The gap to take where a segment has become too long."""
    gaps = range(LEAST_WITHIN, len(turns) - AHEAD)
    return min(gaps, key=lambda at: (_likeness(turns, at), -at))


def _asks_anew(turns: Sequence[Turn], at: int) -> bool:
    """By kind and length of the words; by files and words of the turns on both sides."""
    turn = turns[at]
    if turn.kind in _GOES_ON:
        return False
    files, words = _compared(turns, at)
    aside = turn.kind == "question" or is_pasted(turn.asked)
    if aside or turn.asked_chars < SUBSTANTIAL_CHARS:
        return files < 0.1 and words < 0.15
    if files < 0:  # no file tells: the words alone
        return words < 0.4
    further = turn.asked[:20].lower().startswith(_FURTHER)
    if further or turn.answers:
        return words < 0.5 and not (files > 0.4 and words > 0.3)
    return not (files > 0.6 and not 0 <= words <= 0.35)


def _is_near_prompt(turns: Sequence[Turn], at: int) -> bool:
    """Where the user has just spoken, or is about to, the words decide: the last steps of a
    request, its tests and its report, are no topic of their own."""
    return any(turn.is_prompted for turn in turns[at - 1 : at + AHEAD])


def _moves_on(turns: Sequence[Turn], at: int) -> bool:
    """Other files and other words, both; less of a change will do where the task list turns."""
    files, words = _within(turns, at)
    if files < 0 or words < 0:
        return False
    if not any(turn.files for turn in turns[at : at + 2]):
        return False  # tests and reports end what they are about; what comes next begins later
    switched = turns[at - 1].finished or turns[at].finished or turns[at].began
    if switched and files < 0.2 and words < 0.25:
        return True
    if files >= 0.08 or words >= (0.2 if turns[at - 1].passed else 0.15):
        return False
    around = [one for one in range(at - 2, at + 3) if LEAST_TURNS <= one < len(turns) - 1]
    return _likeness(turns, at) <= min(_likeness(turns, one) for one in around)


def _likeness(turns: Sequence[Turn], at: int) -> float:
    """Of both sides of a gap; what cannot be compared counts as alike."""
    files, words = _within(turns, at)
    return (0.5 if files < 0 else files) + (0.5 if words < 0 else words)


def _compared(turns: Sequence[Turn], at: int) -> tuple[float, float]:
    left, right = turns[max(0, at - BEFORE) : at], turns[at : at + AFTER]
    return by_files(left, right), lexical(left, right)


def _within(turns: Sequence[Turn], at: int) -> tuple[float, float]:
    left, right = turns[max(0, at - BEFORE_WITHIN) : at], turns[at : at + AFTER_WITHIN]
    return by_files(left, right), lexical(left, right)
