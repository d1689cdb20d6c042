"""How many tokens a piece of work will take: a point, a range, and what both rest on.

The past requests most like it say it: half of them took less than the point, and eight of ten lay
within the range. Which are like it: where files are listed, requests that touched files; where the
words tell a kind of work (a commit, a rename), requests of that kind; else any. With little past
the prior counts for more, with none it stands alone. Tasks that were run say how far off such
estimates are.

Words alone rarely tell: eight in ten requests with the same words lie a factor of forty apart. Such
a range is no number anybody can plan with, so the size is called unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp

from holdfast.plan.estimates import likeness, past_runs, prior
from holdfast.plan.estimates.features import COMMIT, KINDS, TESTS
from holdfast.plan.estimates.likeness import Asked
from holdfast.plan.estimates.nearest import Nearest
from holdfast.plan.estimates.past_requests import Used
from holdfast.plan.estimates.past_runs import Missed, Ran
from holdfast.plan.estimates.prior import Line
from holdfast.text.numbers import SMALL_TOKENS, about, counted, span

NEIGHBOURS = (39, 29, 19, 9)  # of 10 k - 1 the k-th from either end bound eight in ten
PRIOR_WORTH = 20  # the prior counts as much as so many past requests (decision 0030)
MOST_TOKENS = 1 << 40
WIDEST = 10  # a range whose ends lie farther apart is no number
GIVEN = "given in the plan"
SHARE = "its share of what the plan gives"
UNKNOWN = "unknown"
LIST_FILES = "list the files"
GIVE_ONE = "write an estimate"  # of what no list of files would tell
FILES = "files"  # the pool of requests that touched files


@dataclass(frozen=True, slots=True)
class Estimate:
    """`low_tokens` to `high_tokens` holds eight times in ten; `basis` says how we know."""

    tokens: int
    low_tokens: int
    high_tokens: int
    basis: str
    is_unknown: bool = False  # the range is too wide to plan with: it gets a session of its own
    advice: str = LIST_FILES  # what would make it known

    @property
    def in_words(self) -> tuple[str, str]:
        """The number, and its range or whose word it is; what the plan gives stands as given."""
        if self.basis == GIVEN:
            return f"{self.tokens:,}", "as given"
        if self.is_unknown:
            return UNKNOWN, self.advice
        return about(self.tokens), span(self.low_tokens, self.high_tokens) or "a share"


@dataclass(frozen=True, slots=True)
class Seen:
    """One past request as estimates read it."""

    known: dict[str, float]
    grown: float
    here: bool  # in this project
    kind: int = 0
    touched: bool = True  # any file


@dataclass(frozen=True, slots=True)
class Past:
    """What was really used before; the lines are those of the prior."""

    seen: Sequence[Seen] = ()
    words: Line = prior.WORDS
    files: Line = prior.FILES
    ran: Sequence[Ran] = ()  # tasks of plans, in this project
    folders: Line = prior.FOLDERS
    kinds: Mapping[int, Line] = field(default_factory=lambda: prior.KINDS)
    _missed: list[Missed] = field(default_factory=list, init=False, compare=False, repr=False)
    _pools: dict[str | int, _Pool] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def pool(self, of: str | int) -> _Pool:
        """Requests that touched files, those of a kind, or (0) all; laid out once for a plan."""
        if of not in self._pools:
            self._pools[of] = _Pool([one for one in self.seen if _is_of(one, of)])
        return self._pools[of]

    def missed(self) -> list[Missed]:
        """How far off each task that was run would have been estimated: once for a whole plan."""
        if not self._missed:
            self._missed[:] = [
                past_runs.missed(
                    one, _told_by(Asked(one.words, one.files), self).tokens, likeness.LEAST_GROWTH
                )
                for one in self.ran
            ]
        return self._missed


def _is_of(one: Seen, of: str | int) -> bool:
    return one.touched if of == FILES else of in (0, one.kind)


class _Pool:
    def __init__(self, seen: Sequence[Seen]) -> None:
        self.seen = seen
        self._nearest: dict[tuple[str, ...], Nearest] = {}
        self._ends: dict[int, tuple[float, float]] = {}

    def nearest(self, known: dict[str, float], count: int) -> list[Seen]:
        names = tuple(known)
        if names not in self._nearest:
            rows = [likeness.weighted(one.known, names) for one in self.seen]
            far = [0.0 if one.here else likeness.OTHER_PROJECT for one in self.seen]
            self._nearest[names] = Nearest(rows, far, names)
        asked = likeness.weighted(known, names)
        return [self.seen[at] for at in self._nearest[names].to(asked, count)]

    def ends(self, line: Line) -> tuple[float, float]:
        """A tenth of all lie farther below the line than this, a tenth farther above it; both from
        the middle. Of a few neighbours the ends of a range would be chance."""
        if id(line) not in self._ends:
            off = sorted(one.grown - line.at(one.known) for one in self.seen)
            tenth, middle = len(off) // 10, off[len(off) // 2]
            self._ends[id(line)] = (off[tenth] - middle, off[-tenth - 1] - middle)
        return self._ends[id(line)]


def seen(used: Used, here: bool) -> Seen:
    return Seen(
        likeness.of_used(used),
        likeness.growth(used.growth_tokens),
        here,
        used.words.kind,
        used.touched > 0,
    )


def given(tokens: int) -> Estimate:
    return Estimate(tokens, tokens, tokens, GIVEN)


def shared(tokens: int) -> Estimate:
    return Estimate(tokens, tokens, tokens, SHARE)


def all_of(room_tokens: int, found: Estimate) -> Estimate:
    return replace(found, tokens=room_tokens, low_tokens=room_tokens, high_tokens=room_tokens)


def estimate(asked: Asked, past: Past) -> Estimate:
    found = _corrected(asked, past)
    wide = found.high_tokens > WIDEST * max(found.low_tokens, SMALL_TOKENS)
    names_files = asked.files or asked.folders or asked.words.kind in (COMMIT, TESTS)
    return replace(found, is_unknown=wide, advice=GIVE_ONE if names_files else LIST_FILES)


def _corrected(asked: Asked, past: Past) -> Estimate:
    """By requests like it, put right by what tasks took that were run; a prompt that is typed into
    a session is no such task."""
    found = _told_by(asked, past)
    if not past.ran or asked.position is not None:
        return found
    missed = past.missed()
    named = (asked.files or 0) + asked.folders or None  # as a run has them: names of either
    factor = exp(past_runs.correction(asked.words, named, missed))
    bounds = (found.tokens, found.low_tokens, found.high_tokens)
    point, low, high = (min(MOST_TOKENS, max(1, round(one * factor))) for one in bounds)
    return Estimate(
        point, low, high, f"{found.basis}; {past_runs.told(asked.words, named, missed)}"
    )


def _told_by(asked: Asked, past: Past) -> Estimate:
    if asked.folders:
        return _in_folders(asked, past)
    known = likeness.of_asked(asked)
    if asked.files is not None:
        return _of_pool(known, past.pool(FILES), past.files, past, " that touched files")
    kind = asked.words.kind if asked.position is None else 0
    pool = past.pool(kind)
    if kind and (kind in past.kinds or len(pool.seen) >= NEIGHBOURS[-1]):
        line = past.kinds.get(kind, past.words)
        return _of_pool(known, pool, line, past, f" to {KINDS[kind][0]}")
    return _of_pool(known, past.pool(0), past.words, past, " like it")


def _in_folders(asked: Asked, past: Past) -> Estimate:
    """By what requests took that name folders, and as many files: nobody reads a whole folder."""
    middle = past.folders.at(likeness.of_folders(asked.files or 0))
    bounds = (middle, middle + past.folders.low, middle + past.folders.high)
    return _stated(bounds, "past requests of public sessions that name folders")


def _of_pool(known: dict[str, float], pool: _Pool, line: Line, past: Past, which: str) -> Estimate:
    middle = line.at(known)
    bounds = (middle, middle + line.low, middle + line.high)
    count = next((k for k in NEIGHBOURS if k <= len(pool.seen)), 0)
    if count == 0:
        return _stated(bounds, _no_past(len(past.seen)))
    near = pool.nearest(known, count)
    share = PRIOR_WORTH / (PRIOR_WORTH + len(pool.seen))
    told = _told(sorted(_carried(known, one, line) for one in near), count)
    if "touched" in known:
        low, high = pool.ends(line)
        told = (told[0], told[0] + low, told[0] + high)
    mixed = tuple(a * share + b * (1 - share) for a, b in zip(bounds, told, strict=True))
    here = sum(one.here for one in near)
    return _stated(mixed, f"{count} past requests{which}, {here} in this project")


def _carried(known: dict[str, float], one: Seen, line: Line) -> float:
    """Where the files are known: what it would have taken with as many, and these words."""
    if "touched" not in known:
        return one.grown
    return one.grown + line.at(known) - line.at(one.known)


def _told(grown: list[float], count: int) -> tuple[float, float, float]:
    edge = (count + 1) // 10
    return grown[count // 2], grown[edge - 1], grown[-edge]


def _no_past(count: int) -> str:
    own = f"{counted(count, 'past request')} of your own, too few" if count else "none of your own"
    return f"past requests of public sessions, {own} to learn from"


def _stated(logs: Sequence[float], basis: str) -> Estimate:
    point, low, high = (min(MOST_TOKENS, round(exp(min(value, 40.0)))) for value in logs)
    return Estimate(point, min(low, point), max(high, point), basis)
