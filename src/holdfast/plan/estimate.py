"""How many tokens a piece of work will take: a point, a range, and what both rest on.

The past requests most like it say it: half of them took less than the point, and eight of ten lay
within the range (the fourth smallest of 39 to the fourth largest). With little past the prior
counts for more, with none it stands alone. Tasks that were run say how far off such estimates are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp

from holdfast.plan import likeness, prior, ran
from holdfast.plan.likeness import Asked
from holdfast.plan.nearest import Nearest
from holdfast.plan.prior import Line
from holdfast.plan.ran import Missed, Ran
from holdfast.plan.said import about, counted, span
from holdfast.plan.used import Used

NEIGHBOURS = (39, 29, 19, 9)  # of 10 k - 1 the k-th from either end bound eight in ten
PRIOR_WORTH = 20  # the prior counts as much as so many past requests (decision 0030)
MOST_TOKENS = 1 << 40
GIVEN = "given in the plan"
SHARE = "its share of what the plan gives"


@dataclass(frozen=True, slots=True)
class Estimate:
    """`low_tokens` to `high_tokens` holds eight times in ten; `basis` says how we know."""

    tokens: int
    low_tokens: int
    high_tokens: int
    basis: str

    @property
    def in_words(self) -> tuple[str, str]:
        """The number, and its range or whose word it is; what the plan gives stands as given."""
        if self.basis == GIVEN:
            return f"{self.tokens:,}", "as given"
        return about(self.tokens), span(self.low_tokens, self.high_tokens) or "a share"


@dataclass(frozen=True, slots=True)
class Seen:
    """One past request as estimates read it."""

    known: dict[str, float]
    grown: float
    here: bool  # in this project


@dataclass(frozen=True, slots=True)
class Past:
    """What was really used before; `words` and `files` are the lines of the prior."""

    seen: Sequence[Seen] = ()
    words: Line = prior.WORDS
    files: Line = prior.FILES
    ran: Sequence[Ran] = ()  # tasks of plans, in this project
    _missed: list[Missed] = field(default_factory=list, init=False, compare=False, repr=False)
    _nearest: dict[tuple[str, ...], Nearest] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def nearest(self, known: dict[str, float], count: int) -> list[Seen]:
        """By what is known; laid out once for a whole plan."""
        names = tuple(known)
        if names not in self._nearest:
            rows = [likeness.weighted(one.known, names) for one in self.seen]
            far = [0.0 if one.here else likeness.OTHER_PROJECT for one in self.seen]
            self._nearest[names] = Nearest(rows, far, names)
        asked = likeness.weighted(known, names)
        return [self.seen[at] for at in self._nearest[names].to(asked, count)]

    def missed(self) -> list[Missed]:
        """How far off each task that was run would have been estimated: once for a whole plan."""
        if not self._missed:
            self._missed[:] = [
                ran.missed(
                    one, _told_by(Asked(one.words, one.files), self).tokens, likeness.LEAST_GROWTH
                )
                for one in self.ran
            ]
        return self._missed


def seen(used: Used, here: bool) -> Seen:
    return Seen(likeness.of_used(used), likeness.growth(used.growth_tokens), here)


def given(tokens: int) -> Estimate:
    return Estimate(tokens, tokens, tokens, GIVEN)


def shared(tokens: int) -> Estimate:
    return Estimate(tokens, tokens, tokens, SHARE)


def estimate(asked: Asked, past: Past) -> Estimate:
    """By requests like it, put right by what tasks took that were run; a prompt that is typed into
    a session is no such task."""
    found = _told_by(asked, past)
    if not past.ran or asked.position is not None:
        return found
    missed = past.missed()
    factor = exp(ran.correction(asked.words, asked.files, missed))
    bounds = (found.tokens, found.low_tokens, found.high_tokens)
    point, low, high = (min(MOST_TOKENS, max(1, round(one * factor))) for one in bounds)
    return Estimate(
        point, low, high, f"{found.basis}; {ran.told(asked.words, asked.files, missed)}"
    )


def _told_by(asked: Asked, past: Past) -> Estimate:
    known = likeness.of_asked(asked)
    line = past.files if "touched" in known else past.words
    middle = line.at(known)
    bounds = (middle, middle + line.low, middle + line.high)
    count = next((k for k in NEIGHBOURS if k <= len(past.seen)), 0)
    if count == 0:
        return _stated(bounds, _no_past(len(past.seen)))
    near = past.nearest(known, count)
    share = PRIOR_WORTH / (PRIOR_WORTH + len(past.seen))
    told = _told(sorted(_carried(known, one, line) for one in near), count)
    mixed = tuple(a * share + b * (1 - share) for a, b in zip(bounds, told, strict=True))
    here = sum(one.here for one in near)
    return _stated(mixed, f"{count} past requests like it, {here} in this project")


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
