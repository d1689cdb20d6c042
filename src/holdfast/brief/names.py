"""Items from the names that were written or read: few for each file, those of most worth."""

import builtins
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from math import exp, log

from holdfast.brief.complement import HeldBySummary
from holdfast.brief.files_and_commands import TERSE_CHARS, chances, file_heats, ranked
from holdfast.brief.item import BriefItem, times
from holdfast.record.model import FLOOR, Record, heat_at

NAME_WORTH = 0.03
SHOWN_WORTH = 0.0002
MOST_NAMES = 400
# A wall of names helps nobody: a file has few, and more the likelier it is to be worked on again.
FEW, MORE = 8, 20
BEYOND = 0.3  # what the next few are worth
# Of the language or of a test framework.
_COMMON_WORDS = (
    "TestCase setUp tearDown setUpClass tearDownClass beforeEach afterEach beforeAll afterAll "
    "toBe toEqual toContain toThrow toHaveLength toBeDefined toHaveBeenCalled toHaveBeenCalledWith "
    "mockReturnValue mockResolvedValue"
)
_COMMON = frozenset((*_COMMON_WORDS.split(), *dir(builtins)))


def names(record: Record, held: HeldBySummary, limit: int) -> Iterator[BriefItem]:
    """Each under its file: those written, and, where there is room, those only read."""
    likely = chances(file_heats(record))
    inside: Counter[str] = Counter()
    read = _read(record, held) if limit >= TERSE_CHARS else ()
    for item in chain(_written(record, held, limit), read):
        inside[item.under] += 1
        few = FEW + MORE * likely.get(item.under, 0.0)
        if inside[item.under] > few:
            item.worth *= BEYOND if inside[item.under] <= min(few + FEW, FEW + MORE) else 0.0
        yield item


def _written(record: Record, held: HeldBySummary, limit: int) -> Iterator[BriefItem]:
    """Rare ones before those that are everywhere; each under the file it was written or read in."""
    now = record.op
    heats = {
        key: (heat_at(one, now) + FLOOR * one.count) * log(1 + max(now, 1) / (1 + one.count))
        for key, one in record.names.items()
        if key != _stem(one.file)
        and not held.name(key)
        and not is_everywhere(key)
        and not _is_gone(record, one.file)
    }
    read_in = {name: file for file, found in record.shown.items() for name in found}
    for rank, (key, chance) in enumerate(ranked(heats, limit, MOST_NAMES)):
        one = record.names[key]
        reason = f"written {times(one.count)}, last at step {one.op}"
        file = one.file or read_in.get(key, "")
        yield BriefItem("names", key, NAME_WORTH * chance, reason, under=file, order=rank)


def is_everywhere(word: str) -> bool:
    """Not of this work."""
    if word in _COMMON or word.startswith("__"):
        return True
    return word.startswith("assert") and word[6:7].isupper()


def _is_gone(record: Record, file: str) -> bool:
    known = record.files.get(file)
    return known is not None and known.gone


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _read(record: Record, held: HeldBySummary) -> Iterator[BriefItem]:
    """Names in the files read last that nobody has written yet."""
    rank = 0
    for file, found in reversed(record.shown.items()):
        for name in [] if held.text(file) or _is_gone(record, file) else found:
            if name not in record.names and not held.name(name) and not is_everywhere(name):
                worth = SHOWN_WORTH * exp(-rank / 60)
                yield BriefItem(
                    "names", name, worth, "in a file read lately", under=file, order=1e3 + rank
                )
                rank += 1
