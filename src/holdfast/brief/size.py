"""How long a brief gets. At a compaction there are two: the first grows for the user's words, the
second for the words and the open work that the first had no room for."""

import os
from collections.abc import Callable, Iterable

import msgspec

from holdfast.brief import quotes
from holdfast.brief.item import MOST_UNITS, BriefItem, chars_for
from holdfast.budget.compartments import units
from holdfast.record.model import Record
from holdfast.wire import places
from holdfast.wire.mark import CHARS_PER_TOKEN

DEFAULT_TOKENS = 2000
REMARK_CHARS = 2_000  # of a first brief, for what the model said at work

# The hook that tells the second brief may add an alert and three messages of other agents: 1,190.
MOST_SECOND_TOKENS = int((MOST_UNITS - 1_190) / CHARS_PER_TOKEN)
SECOND_UNITS = chars_for(MOST_SECOND_TOKENS)
FULL_UNITS = 9_500  # a first brief of this size has left something out
SECOND_REST_UNITS = 2_000  # of it for files, commands and notes
OPEN_UNITS = 3_000  # of a second brief for open work at least, if it needs them
LATER_UNITS = 5_000  # so much of a second brief is free for words, however much else is open


class BriefSize(msgspec.Struct, frozen=True):
    """In the client's characters: of the brief, of the user's words in it, and of those that may
    wait for the second brief."""

    limit: int
    words: int
    later: int = 0


def wanted_tokens(project: str) -> int:
    """The size the user set. Loading settings takes as long as 1.6 interpreter starts, and a
    compaction waits for us: if there is no settings file, they are not loaded."""
    named = "HOLDFAST_BRIEF_TOKENS" in os.environ
    if not named and b"brief_tokens" not in places.read_small(f"{places.home()}/settings.toml"):
        return DEFAULT_TOKENS
    from holdfast.settings import load

    return load.load(project).whole("brief_tokens")


def is_full(first: str) -> bool:
    """Whether a first brief is as long as the client accepts. Then the session is long, and more of
    it is missing than usual."""
    return units(first) >= FULL_UNITS


def usual_size(limit: int) -> BriefSize:
    return BriefSize(limit, quotes.share_of(limit))


def first_size(record: Record, usual: int, *, is_followed: bool) -> BriefSize:
    """Return the size at which all words of the user fit, or the largest that the client accepts.
    Beside the words there is no more room than in a brief of the default size: else a larger brief
    would hold fewer of them."""
    words = quotes.share_of(usual)
    limit = min(MOST_UNITS, usual + max(0, quotes.needed_units(record) - words))
    most_rest = chars_for(DEFAULT_TOKENS) - quotes.share_of(chars_for(DEFAULT_TOKENS))
    rest = min(usual - words, most_rest)
    return BriefSize(limit, limit - rest, LATER_UNITS if is_followed else 0)


def second_size(
    record: Record,
    usual: int,
    is_held: Callable[[BriefItem], bool],
    open_work: Iterable[BriefItem],
) -> BriefSize:
    """Return the size at which the missing words and the open work fit beside the usual rest."""
    words = quotes.share_of(usual)
    rest = min(usual - words, SECOND_REST_UNITS)
    work = sum(units(one.text) + quotes.PER_LINE for one in open_work)
    missing = max(words, quotes.missing_units(record, is_held))
    limit = min(SECOND_UNITS, max(usual, rest + missing + work))
    return BriefSize(limit, max(words, limit - rest - min(work, OPEN_UNITS)))
