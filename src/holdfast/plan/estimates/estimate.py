"""How many tokens a piece of work will take: a point, a range, and what both rest on.

The past requests most like it say it: half of them took less than the point, and eight of ten lay
within the range. Which are like it: where files are listed, requests that touched files; where
files are named in the words, requests early in a session that named files; where the words tell a
kind of work (a commit, a rename), requests of that kind; else any. With little past the prior
counts for more, with none it stands alone. Tasks that were run say how far off such estimates are.

Other words rarely tell: eight in ten requests with the same words lie a factor of forty apart. Such
a range is no number anybody can plan with, so the size is called unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp

from holdfast.plan.estimates import features, likeness, past_runs
from holdfast.plan.estimates.features import UNSTATED_FILES, FittedLine
from holdfast.plan.estimates.likeness import EstimateRequest, Nearest
from holdfast.plan.estimates.past_requests import PastRequest
from holdfast.plan.estimates.past_runs import EstimateError, RunTask
from holdfast.plan.kinds import COMMIT, INVESTIGATE, KINDS, TESTS
from holdfast.text.numbers import about, counted, rounded, span

NEIGHBOURS = (39, 29, 19, 9)  # of 10 k - 1 the k-th from either end bound eight in ten
PRIOR_WORTH = 20  # the prior counts as much as so many past requests (decision 0030)
MOST_TOKENS = 1 << 40
COUNTS = frozenset(("touched", "named_files"))  # known numbers of files
WIDEST = 10  # a range whose ends lie farther apart is no number
SMALL_HIGH = 12_500  # a tenth of a room: a task that rarely takes more is known, however little
GIVEN = "given in the plan"
SHARE = "its share of what the plan gives"
UNKNOWN = "unknown"
FILES, NAMED = "files", "named"  # the pools of requests that touched files, and that named them
EARLY = 3  # requests before it: later ones work on files that the session has read
# What 190 public requests took that read files whole, 10,000 tokens or more, divided by the size of
# these files: a tenth took less than the first, half less than the second, a tenth more than the
# third. Printed by `python -m benchmarks.estimates --corpus DIR --fit`.
READINGS = (1.8, 2.8, 5.5)


@dataclass(frozen=True, slots=True)
class TaskEstimate:
    """The range `low_tokens` to `high_tokens` holds in eight of ten cases; `basis` says how we
    know."""

    tokens: int
    low_tokens: int
    high_tokens: int
    basis: str
    is_unknown: bool = False  # the range is too wide to plan with: it gets a session of its own
    named_files: tuple[str, ...] = ()  # those in its words that tell its size

    @property
    def shown_tokens(self) -> int:
        """The number that people see. An estimate in the plan stays as given."""
        return self.tokens if self.basis == GIVEN else rounded(self.tokens)

    @property
    def in_words(self) -> tuple[str, str]:
        """The number, and its range or its basis."""
        if self.basis == GIVEN:
            return f"{self.tokens:,}", "as given"
        if self.is_unknown:
            return UNKNOWN, ""
        return about(self.tokens), span(self.low_tokens, self.high_tokens) or "a share"


@dataclass(frozen=True, slots=True)
class PastCase:
    """One past request, reduced to what an estimate needs."""

    known: dict[str, float]
    grown: float
    here: bool  # in this project
    kind: int = 0
    touched: bool = True  # any file
    is_early_and_names: bool = False  # files, before the session had read many, and to change them


@dataclass(frozen=True, slots=True)
class Past:
    """What past requests used; the lines are those of the prior."""

    seen: Sequence[PastCase] = ()
    words: FittedLine = features.WORDS
    files: FittedLine = features.FILES
    ran: Sequence[RunTask] = ()  # tasks of plans, in this project
    folders: FittedLine = features.FOLDERS
    kinds: Mapping[int, FittedLine] = field(default_factory=lambda: features.LINES_BY_KIND)
    named: FittedLine = features.NAMED
    _missed: list[EstimateError] = field(
        default_factory=list, init=False, compare=False, repr=False
    )
    _pools: dict[str | int, _Pool] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def pool(self, of: str | int) -> _Pool:
        """Requests that touched or named files, those of a kind, or (0) all. Built once per
        plan."""
        if of not in self._pools:
            self._pools[of] = _Pool([one for one in self.seen if _is_of(one, of)])
        return self._pools[of]

    def missed(self) -> list[EstimateError]:
        """The estimation error of each task that was run. Computed once per plan."""
        if not self._missed:
            self._missed[:] = [
                past_runs.measure_error(
                    one,
                    _estimate_from(EstimateRequest(one.words, one.files), self).tokens,
                    likeness.LEAST_GROWTH,
                )
                for one in self.ran
            ]
        return self._missed


def _is_of(one: PastCase, of: str | int) -> bool:
    if of == NAMED:
        return one.is_early_and_names
    return one.touched if of == FILES else of in (0, one.kind)


class _Pool:
    def __init__(self, seen: Sequence[PastCase]) -> None:
        self.seen = seen
        self._nearest: dict[tuple[str, ...], Nearest] = {}
        self._ends: dict[int, tuple[float, float]] = {}

    def nearest(self, known: dict[str, float], count: int) -> list[PastCase]:
        names = tuple(known)
        if names not in self._nearest:
            rows = [likeness.weight_features(one.known, names) for one in self.seen]
            far = [0.0 if one.here else likeness.OTHER_PROJECT for one in self.seen]
            self._nearest[names] = Nearest(rows, far, names)
        asked = likeness.weight_features(known, names)
        return [self.seen[at] for at in self._nearest[names].to(asked, count)]

    def ends(self, line: FittedLine) -> tuple[float, float]:
        """How far below and above the line a tenth of all requests lie. All are used, because the
        ends of a range from a few neighbours would be chance."""
        if id(line) not in self._ends:
            off = sorted(one.grown - line.at(one.known) for one in self.seen)
            tenth, middle = len(off) // 10, off[len(off) // 2]
            self._ends[id(line)] = (off[tenth] - middle, off[-tenth - 1] - middle)
        return self._ends[id(line)]


def make_case(used: PastRequest, here: bool) -> PastCase:
    return PastCase(
        likeness.describe_past(used),
        likeness.log_growth(used.growth_tokens),
        here,
        used.words.kind,
        used.touched > 0,
        names_early(used),
    )


def names_early(used: PastRequest) -> bool:
    """Whether a past request is like a task of a plan that names files: it named them early in its
    session, and neither ran something nor only looked for something."""
    finds = used.words.kind in (TESTS, INVESTIGATE)
    return likeness.count_named(used) > 0 and used.position <= EARLY and not finds


def estimate_of_plan(tokens: int) -> TaskEstimate:
    return TaskEstimate(tokens, tokens, tokens, GIVEN)


def estimate_of_share(tokens: int) -> TaskEstimate:
    return TaskEstimate(tokens, tokens, tokens, SHARE)


def fill_room(room_tokens: int, found: TaskEstimate) -> TaskEstimate:
    return replace(found, tokens=room_tokens, low_tokens=room_tokens, high_tokens=room_tokens)


def estimate_request(asked: EstimateRequest, past: Past) -> TaskEstimate:
    found = _corrected(asked, past)
    tells = asked.files or asked.folders or asked.named or asked.words.kind == COMMIT
    is_small = bool(tells) and found.high_tokens <= SMALL_HIGH
    wide = found.high_tokens > WIDEST * max(1, found.low_tokens) and not is_small
    return replace(found, is_unknown=wide)


def add_reading(found: TaskEstimate, read_tokens: int) -> TaskEstimate:
    """The estimate, but no less than work on files of this size takes."""
    least = [round(share * read_tokens) for share in READINGS]
    return replace(
        found,
        low_tokens=max(found.low_tokens, least[0]),
        tokens=max(found.tokens, least[1]),
        high_tokens=max(found.high_tokens, least[2]),
    )


def _corrected(asked: EstimateRequest, past: Past) -> TaskEstimate:
    """The estimate from similar requests, corrected by what run tasks took. It is not corrected
    for a prompt that is typed into a session."""
    found = _estimate_from(asked, past)
    if not past.ran or asked.position is not None:
        return found
    missed = past.missed()
    named = (asked.files or asked.named) + asked.folders or None  # as a run has them
    factor = exp(past_runs.correct_estimate(asked.words, named, missed))
    bounds = (found.tokens, found.low_tokens, found.high_tokens)
    point, low, high = (min(MOST_TOKENS, max(1, round(one * factor))) for one in bounds)
    return TaskEstimate(
        point, low, high, f"{found.basis}; {past_runs.describe_runs(asked.words, named, missed)}"
    )


def _estimate_from(asked: EstimateRequest, past: Past) -> TaskEstimate:
    if asked.folders:
        return _in_folders(asked, past)
    if asked.files is not None:
        return _of_files(asked, past)
    known = likeness.describe_request(asked)
    if asked.named:
        return _of_pool(known, past.pool(NAMED), past.named, past, " that named files")
    kind = asked.words.kind if asked.position is None else 0
    pool = past.pool(kind)
    if kind and (kind in past.kinds or len(pool.seen) >= NEIGHBOURS[-1]):
        line = past.kinds.get(kind, past.words)
        return _of_pool(known, pool, line, past, f" to {KINDS[kind][0]}")
    return _of_pool(known, past.pool(0), past.words, past, " like it")


def _of_files(asked: EstimateRequest, past: Past) -> TaskEstimate:
    known = likeness.describe_request(asked)
    return _of_pool(known, past.pool(FILES), past.files, past, " that touched files")


def _in_folders(asked: EstimateRequest, past: Past) -> TaskEstimate:
    """Estimate from requests that name folders and as many files: nobody reads a whole folder. But
    it takes no less than the listed files alone, nor than a folder so small that it is counted file
    by file."""
    files = max(asked.files or 0, UNSTATED_FILES)
    middle = past.folders.at(likeness.describe_folders(files))
    bounds = (middle, middle + past.folders.low, middle + past.folders.high)
    found = _stated(bounds, "past requests of public sessions that name folders")
    listed = _of_files(replace(asked, files=files), past)
    return max(found, listed, key=lambda one: one.tokens)


def _of_pool(
    known: dict[str, float], pool: _Pool, line: FittedLine, past: Past, which: str
) -> TaskEstimate:
    middle = line.at(known)
    bounds = (middle, middle + line.low, middle + line.high)
    count = next((k for k in NEIGHBOURS if k <= len(pool.seen)), 0)
    if count == 0:
        return _stated(bounds, _no_past(len(past.seen)))
    near = pool.nearest(known, count)
    share = PRIOR_WORTH / (PRIOR_WORTH + len(pool.seen))
    pooled = _quantiles(sorted(_move_to(known, one, line) for one in near), count)
    if not COUNTS.isdisjoint(known):
        low, high = pool.ends(line)
        pooled = (pooled[0], pooled[0] + low, pooled[0] + high)
    mixed = tuple(a * share + b * (1 - share) for a, b in zip(bounds, pooled, strict=True))
    here = sum(one.here for one in near)
    return _stated(mixed, f"{count} past requests{which}, {here} in this project")


def _move_to(known: dict[str, float], one: PastCase, line: FittedLine) -> float:
    """Move a past request to the known number of files and these words."""
    if COUNTS.isdisjoint(known):
        return one.grown
    return one.grown + line.at(known) - line.at(one.known)


def _quantiles(grown: list[float], count: int) -> tuple[float, float, float]:
    edge = (count + 1) // 10
    return grown[count // 2], grown[edge - 1], grown[-edge]


def _no_past(count: int) -> str:
    own = f"{counted(count, 'past request')} of your own, too few" if count else "none of your own"
    return f"past requests of public sessions, {own} to learn from"


def _stated(logs: Sequence[float], basis: str) -> TaskEstimate:
    point, low, high = (min(MOST_TOKENS, round(exp(min(value, 40.0)))) for value in logs)
    return TaskEstimate(point, min(low, point), max(high, point), basis)
