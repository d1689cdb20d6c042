"""One order from two scores, and one result per turn.

Words and meaning count 1:1, each as a share of its best score, where the best match holds all
words of the query; where it holds few of them, words count less. An item also gets a share of its
neighbours' score, because an answer often lacks the words of its question. Where the query asks
for a kind of thing, items of that kind get a share more. Combining scores beats combining ranks
clearly (recall at 10 of .678 against .561 on conversations); recency and diversity gave nothing.

A turn is scored by its best words and its best meaning, in whichever of its items. The result is
its best item, with the others that were found, what was decided in the turn and what the model
said last. Words of the user and the model's last ones count more than what the model says in
between, which announces ("Now I add the button:") and tells little, and that more than a
subagent's report and than checkpoints and segments, which quote turns. Items that say the same are
one result. What neither words nor meaning speak for is no result.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from holdfast.memory.index.interface import TURN_POSITIONS, Index, Scores
from holdfast.memory.item import CHECKPOINT, DECISION, FOREIGN, MESSAGE, SEGMENT, TURN, Item
from holdfast.memory.words import ALONE, plain

BESIDE = 0.3
LEAST_COVERAGE = 0.2
UNKNOWN = 0.5  # score by meaning of an item without a vector, as a share of its score by words
USER, MODEL, AGENT = "user", "model", "agent"
SPEAKERS = frozenset((USER, MODEL, AGENT))
DECIDED = 1.15  # by the user, in answer to a question
TYPED, REPORTED = 1.1, 0.6  # by the user; by a subagent
CONCLUDED = 1.1  # by the model at the end of a turn
DERIVED = 0.8  # checkpoints and segments: they quote turns, which are the better result
# factor for the meaning of short texts in the middle of a turn
ANNOUNCED, ANNOUNCED_CHARS = 0.7, 250
# A short message without a word of the query: the share of the best meaning that it needs, and the
# factor for its meaning.
NEAR, BRIEFLY, BRIEF_CHARS = 0.6, 0.5, 40
TYPED_CHARS = 800  # a longer text was pasted
MOST_OTHERS = 2  # items of a turn shown with its best
MOST_DECISIONS = 3  # the last of a turn
SAME = 0.8  # two texts that share this much of their words say the same
LEAST_WORDS = 6  # texts with fewer words are the same only if all words are


class Rank(NamedTuple):
    """The score of an item, and its parts."""

    score: float
    keyword: float
    vector: float
    beside: float
    kind: float = 0.0  # it is of the kind that the query asks for


class Best(NamedTuple):
    """The highest scores of all indexes that are searched together."""

    keyword: float = 0.0
    vector: float = 0.0

    @classmethod
    def from_scores(cls, keyword: Iterable[Scores], vector: Iterable[Scores]) -> Best:
        return cls(_highest(keyword), _highest(vector))

    def told_by(self, coverage: float) -> Best:
        """Adjust the best score by words, which stands for a text with all words of the query.

        `coverage` is the share of them in the best match. Its square root is used, so that a few
        rare words still count.
        """
        return self._replace(keyword=self.keyword / max(coverage, LEAST_COVERAGE) ** 0.5)


def _highest(all_scores: Iterable[Scores]) -> float:
    return max((max(scores.values(), default=0.0) for scores in all_scores), default=0.0)


def share(scores: Scores, best: float) -> Scores:
    """Scale scores to 0 to 1; negative ones become 0."""
    if best <= 0:
        return {}
    return {place: max(0.0, score / best) for place, score in scores.items()}


def rank_places(
    keyword: Scores, vector: Scores, best: Best, most: int, asked: Scores | None = None
) -> dict[int, Rank]:
    """Return the best `most` places. A missing score counts as 0. `asked` are scores of items of
    the kind that the query asks for."""
    asked = asked or {}
    by_word, by_meaning = share(keyword, best.keyword), share(vector, best.vector)
    if by_meaning:
        unknown = by_word.keys() - by_meaning.keys()
        by_meaning |= {place: UNKNOWN * by_word[place] for place in unknown}
    alone = {
        place: by_word.get(place, 0.0) + by_meaning.get(place, 0.0)
        for place in by_word.keys() | by_meaning.keys()
    }
    beside = dict.fromkeys(alone, 0.0)
    for place, score in alone.items():
        for neighbour in (place - 1, place + 1):
            beside[neighbour] = beside.get(neighbour, 0.0) + BESIDE * score
    beside |= {place: 0.0 for place in asked if place not in beside}
    total = {
        place: alone.get(place, 0.0) + more + asked.get(place, 0.0)
        for place, more in beside.items()
    }
    # The query asks only for a kind: those items keep their own order, whatever their words.
    total |= {place: listed for place, listed in asked.items() if listed >= ALONE}
    first = heapq.nsmallest(most, total, key=lambda place: (-total[place], place))
    return {
        place: Rank(
            total[place],
            by_word.get(place, 0.0),
            by_meaning.get(place, 0.0),
            beside[place],
            asked.get(place, 0.0),
        )
        for place in first
    }


class Hit(NamedTuple):
    """One item that was found."""

    rank: Rank
    place: int
    item: Item
    of: Index

    @property
    def turn(self) -> int:
        """The place where its turn begins."""
        return self.place - self.place % TURN_POSITIONS


class TurnResult(NamedTuple):
    """The best item of a turn, or an item that belongs to no turn."""

    hit: Hit
    rank: Rank
    others: tuple[Item, ...] = ()  # also found in the same turn
    came_of_it: tuple[Item, ...] = ()  # the turn's decisions, and the model's last words
    asked: Item | None = None  # the words that began the turn
    answered: Item | None = None  # the user's answer, if the turn ended with a question


def results(hits: Sequence[Hit], limit: int, *, by_turn: bool = True) -> list[TurnResult]:
    """Return the best results; without `by_turn`, each item is a result of its own."""
    together: dict[Hashable, list[Hit]] = {}
    for hit in hits:
        key = _result_key(hit) if by_turn and not hit.rank.kind else hit.place
        together.setdefault((id(hit.of), key), []).append(hit)
    last = _last_words(hits)
    found = [_result(some, last) for some in together.values()]
    if by_turn:  # who asks for one kind gets the nearest of it, however far
        found = [one for one in found if one.rank.score > 0]
    # What came with a repository is behind everything of our own. A stable sort: equal ones keep
    # their order.
    found.sort(key=lambda one: (one.hit.item.by == FOREIGN, -one.rank.score))
    return _with_what_came(_distinct(found, limit))


def _result_key(hit: Hit) -> Hashable:
    """Return the key of the result that a hit belongs to: its turn, its segment, or the checkpoints
    of its session, because each checkpoint repeats the ones before it."""
    if is_of_turn(hit.item):
        return TURN, hit.turn
    if hit.item.kind == SEGMENT:
        return SEGMENT, hit.item.id.partition(".")[0]
    if hit.item.kind == CHECKPOINT and hit.item.session:
        return CHECKPOINT, hit.item.session
    return hit.place


def is_of_turn(item: Item) -> bool:
    """Return whether an item belongs to a turn: those of a transcript are in blocks, one per
    turn."""
    return (item.kind == TURN and item.by in SPEAKERS) or (
        item.kind == DECISION and item.by == USER
    )


def _last_words(hits: Sequence[Hit]) -> set[tuple[int, int]]:
    """Return the model's last words in all turns that were found, as (index, place)."""
    starts: dict[int, set[int]] = {}
    for hit in hits:
        if hit.item.by == MODEL and is_of_turn(hit.item):
            starts.setdefault(id(hit.of), set()).add(hit.turn)
    indexes = {id(hit.of): hit.of for hit in hits}
    return {
        (key, place)
        for key, some in starts.items()
        for place in indexes[key].last_words(sorted(some))
    }


def _result(hits: list[Hit], last: set[tuple[int, int]]) -> TurnResult:
    weighed = sorted(
        ((hit, _weigh(hit, is_last=(id(hit.of), hit.place) in last)) for hit in hits),
        key=lambda one: -one[1].score,
    )
    best, rank = weighed[0]
    others = tuple(hit.item for hit, _ in weighed[1 : 1 + MOST_OTHERS])
    by_words = max(one.keyword for _, one in weighed)
    by_meaning = max(one.vector for _, one in weighed)
    # Neighbours count only if nothing was found in the turn itself.
    if is_of_turn(best.item) and not rank.kind and (by_words or by_meaning):
        rank = Rank(by_words + by_meaning, by_words, by_meaning, 0.0)
    return TurnResult(best, rank, others)


def _weigh(hit: Hit, *, is_last: bool) -> Rank:
    item, rank = hit.item, hit.rank
    if rank.kind:  # the query asks for its kind
        return rank
    if item.kind == MESSAGE:
        return _weigh_message(item, rank)
    is_models = item.by == MODEL and is_of_turn(item)
    if is_models and not is_last and len(item.text) < ANNOUNCED_CHARS:
        less = (1 - ANNOUNCED) * rank.vector
        rank = rank._replace(score=rank.score - less, vector=rank.vector - less)
    by = CONCLUDED if is_models and is_last else weight(item)
    return Rank(*(by * part for part in rank))


def _weigh_message(item: Item, rank: Rank) -> Rank:
    """Messages come from many senders, so one tells nothing about the next. A greeting is near to
    many questions and answers none."""
    meaning = rank.vector
    if not rank.keyword and len(item.text) < BRIEF_CHARS:
        meaning = BRIEFLY * meaning if meaning >= NEAR else 0.0
    return Rank(rank.keyword + meaning, rank.keyword, meaning, 0.0)


def weight(item: Item) -> float:
    """Return the weight of an item, by who said it."""
    if item.kind in (CHECKPOINT, SEGMENT):
        return DERIVED
    if item.by == AGENT:
        return REPORTED
    if item.by != USER:
        return 1.0
    if item.kind == DECISION:
        return DECIDED
    return TYPED if item.kind == TURN and len(item.text) < TYPED_CHARS else 1.0


def _distinct(found: Iterable[TurnResult], limit: int) -> list[TurnResult]:
    """Keep only the best of several results that say nearly the same."""
    kept: list[TurnResult] = []
    known: list[frozenset[str]] = []
    for one in found:
        if len(kept) == limit:
            break
        words = _words(one.hit.item)
        if not any(_is_same(words, other) for other in known):
            kept.append(one)
            known.append(words)
    return kept


def _words(item: Item) -> frozenset[str]:
    """Return the words that identify an item; an answer of the user includes its question."""
    text = f"{item.title}\n{item.text}" if item.by == USER else item.text
    return frozenset(plain(text or item.more))


def _is_same(some: frozenset[str], other: frozenset[str]) -> bool:
    if min(len(some), len(other)) < LEAST_WORDS:
        return some == other
    return len(some & other) >= SAME * len(some | other)


def _with_what_came(found: list[TurnResult]) -> list[TurnResult]:
    """Add the decisions and last words of their turns, with one query per index."""
    starts: dict[int, set[int]] = {}
    for one in found:
        if is_of_turn(one.hit.item):
            starts.setdefault(id(one.hit.of), set()).add(one.hit.turn)
    indexes = {id(one.hit.of): one.hit.of for one in found}
    came = {key: _what_came(indexes[key], sorted(some)) for key, some in starts.items()}
    return [
        _complete(one, came[id(one.hit.of)].get(one.hit.turn, {}))
        if is_of_turn(one.hit.item)
        else one
        for one in found
    ]


def _complete(one: TurnResult, came: dict[int, Item]) -> TurnResult:
    asked, answered = came.get(one.hit.turn), _answer(came.get(one.hit.turn + TURN_POSITIONS))
    seen = {one.hit.item.id, *(other.id for other in one.others)}
    rest = tuple(
        item
        for place, item in came.items()
        if item.text and item.id not in seen and place % TURN_POSITIONS
    )
    return one._replace(came_of_it=rest, asked=asked, answered=answered)


def _answer(item: Item | None) -> Item | None:
    """Return the item that began the next turn, if it answers a question of the model."""
    return item if item and (item.kind, item.by) == (DECISION, USER) else None


def _first_and_last(places: list[int]) -> list[int]:
    return [*places[:1], *places[1:][-MOST_DECISIONS:]]


def _what_came(index: Index, starts: Sequence[int]) -> dict[int, dict[int, Item]]:
    """Return items by turn and place: the words that began it, its decisions, the model's last
    words, and the words that began the next turn."""
    decided: dict[int, list[int]] = {}
    last: dict[int, int] = {}
    for place, kind, by in index.in_turns(starts):
        start = place - place % TURN_POSITIONS
        if by == USER and (kind == DECISION or place == start):
            decided.setdefault(start, []).append(place)
        elif by == MODEL:
            last[start] = place
    chosen = {start: _first_and_last(decided.get(start, [])) for start in starts}
    for start, place in last.items():
        chosen[start].append(place)
    for start, places in chosen.items():
        places.append(start + TURN_POSITIONS)
    items = index.at({place for some in chosen.values() for place in some})
    return {
        start: {place: items[place] for place in some if place in items}
        for start, some in chosen.items()
    }
