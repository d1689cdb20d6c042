"""Pack tasks into batches that fit, each after the tasks it depends on.

This is assembly line balancing: as few stations as possible, no task before one it needs, no
station over its time. The largest task that is ready and still fits goes in, until none does. If
the number of specs in a batch is limited, its last two places are better filled by the best pair:
largest first would leave the small ones for batches of their own. Both ways are tried, from both
ends, and the one with the fewest batches wins. If filling in the order of the list needs no more,
that order is kept. The parts of one spec stay in batches that follow each other. Equal input gives
equal batches.

Plans of at most a dozen tasks are then searched completely for one batch less: one in seventy-five
of that size has such a packing, and a batch is a session. Only full batches are tried, and none
after which the rest cannot fit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from holdfast.plan import batch_order
from holdfast.plan.batch_order import Load

MAX_LOADS = 12
WORTH_A_MOVE = 1  # batches: tasks leave the order of the list only if that saves more
MAX_BATCHES_TRIED = 3_000  # then the quick answer is used


def pack(loads: Sequence[Load], room: int, most_specs: int) -> list[list[int]]:
    """Batches of positions; in each, an order that respects the needs.

    A load that is larger than the room stays alone. The parts of one spec are in consecutive
    batches; packings that scatter them are not used.
    """
    needs = [list(load.needs) for load in loads]
    ahead = batch_order.find_followers(needs)
    ways = [(way, pairs) for way in ((needs, ahead), (ahead, needs)) for pairs in (False, True)]
    found = [_fill(_Open(loads, *way, most_specs), room, pairs) for way, pairs in ways]
    back = [[batch[::-1] for batch in reversed(one)] for one in found[2:]]
    listed = batch_order.fill_in_order(loads, room, most_specs)
    by_count = sorted([listed, *found[:2], *back], key=len)
    ordered = (batch_order.arrange(one, loads) for one in by_count)
    quick = next((one for one in ordered if _are_consecutive(one, loads)), listed)
    fewer = find_fewer(loads, room, most_specs, len(quick))
    best = batch_order.arrange(fewer, loads) if fewer else quick
    return best if _are_consecutive(best, loads) else quick


def pack_as_listed(loads: Sequence[Load], room: int, most_specs: int) -> list[list[int]]:
    """Batches in the order of the list, unless another packing saves more than one of them."""
    listed = batch_order.fill_as_listed(loads, room, most_specs)
    if listed and len(listed) <= _least(loads, room, most_specs) + WORTH_A_MOVE:
        return listed  # at once: a long plan takes seconds to pack
    packed = pack(loads, room, most_specs)
    if listed and not batch_order.keeps_units(packed, loads, room, most_specs):
        return listed
    return listed if listed and len(listed) <= len(packed) + WORTH_A_MOVE else packed


def _least(loads: Sequence[Load], room: int, most_specs: int) -> int:
    """A number of batches that no packing can be below."""
    by_size = -(-sum(min(load.size, room) for load in loads) // max(1, room))
    return max(by_size, -(-len({load.spec for load in loads}) // most_specs))


def relieve(
    batches: Sequence[Sequence[int]],
    loads: Sequence[Load],
    room: int,
    most_specs: int,
    excess: Callable[[Sequence[int]], int],
    first: int = 0,
) -> list[list[int]]:
    """The same number of batches, with tasks moved to a neighbour where that lowers the excess: how
    far the upper end of a batch exceeds what a window holds. Parts of a task are not moved, nor
    are tasks that go on with each other, and no task is moved into a batch before `first`."""
    found = [list(batch) for batch in batches]
    home = {at: index for index, batch in enumerate(found) for at in batch}
    followers = batch_order.find_followers([load.needs for load in loads])
    several = _group_specs(loads)
    joined = {near for at, load in enumerate(loads) if load.joins for near in (at, at - 1)}

    def fits(at: int, target: int) -> bool:
        specs = {loads[one].spec for one in (*found[target], at)}
        return (
            loads[at].size + sum(loads[one].size for one in found[target]) <= room
            and len(specs) <= most_specs
            and all(home[need] <= target for need in loads[at].needs)
            and all(home[one] >= target for one in followers[at])
            and _keeps_order(at, found[home[at]], found[target], target - home[at])
        )

    def gain(at: int, target: int) -> int:
        here, there = found[home[at]], found[target]
        after = excess([one for one in here if one != at]) + excess([*there, at])
        return excess(here) + excess(there) - after

    for index, batch in enumerate(found):
        while len(batch) > 1 and excess(batch) > 0:
            moves = [
                (gain(at, target), at, target)
                for at in batch
                if loads[at].spec not in several and at not in joined
                for target in (index + 1, index - 1)
                if first <= target < len(found) and fits(at, target)
            ]
            saved, at, target = max(moves, default=(0, 0, 0))
            if saved <= 0:
                break
            batch.remove(at)
            found[target].append(at)
            home[at] = target
    return [batch_order.order_batch(batch, loads) for batch in found]


def _keeps_order(at: int, here: Sequence[int], there: Sequence[int], step: int) -> bool:
    """Whether a task that moves to a neighbour stays where the list has it."""
    if step > 0:
        return at == max(here) and at < min(there)
    return at == min(here) and at > max(there)


def _are_consecutive(batches: Sequence[Sequence[int]], loads: Sequence[Load]) -> bool:
    """Whether the batches of every spec are consecutive."""
    last: dict[str, int] = {}
    for index, batch in enumerate(batches):
        for spec in {loads[at].spec for at in batch}:
            if last.get(spec, index) < index - 1:
                return False
            last[spec] = index
    return True


def _fill(open_: _Open, room: int, pairs: bool) -> list[list[int]]:
    batches: list[list[int]] = []
    while open_.ready:  # if nothing fits into an empty window, the smallest one goes alone
        batches.append(open_.batch(room, pairs) or [open_.alone()])
    return batches


class _Open:
    """Ready loads as (size, -position), so that of equal ones the first in the plan comes first."""

    def __init__(
        self,
        loads: Sequence[Load],
        needs: list[list[int]],
        followers: list[list[int]],
        most_specs: int,
    ) -> None:
        self._loads, self._followers, self._most = loads, followers, most_specs
        self._waits = [len(one) for one in needs]
        self.ready = sorted(
            (loads[at].size, -at) for at, count in enumerate(self._waits) if not count
        )
        self._parts = _group_specs(loads)
        for one in self.ready:
            if (parts := self._parts.get(loads[-one[1]].spec)) is not None:
                parts.append(one)

    def batch(self, room: int, pairs: bool) -> list[int]:
        found: list[int] = []
        specs: set[str] = set()
        while True:
            some = self._pair(room) if pairs and found and len(specs) == self._most - 2 else []
            some = some or self._largest(room, specs)
            if not some:
                return found
            for at in some:
                room -= self._loads[at].size
                specs.add(self._loads[at].spec)
            found += some

    def _pair(self, room: int) -> list[int]:
        """The two loads that fill the room best, if they do so better than the largest alone.

        Not all pairs are tried, as there may be thousands: two positions move towards each other,
        the smaller load growing while the larger one shrinks.
        """
        ready = self.ready
        high = bisect_right(ready, (room, 1)) - 1
        best, pair = ready[high][0] if high >= 0 else 0, None
        low = bisect_right(ready, (room - best, 1), 0, max(0, high))
        if low:
            first = bisect_left(ready, (ready[low - 1][0], -len(self._loads)))
            best, pair = best + ready[first][0], (high, first)
        while low < high and best < room:
            both = ready[low][0] + ready[high][0]
            if both > room:
                high -= 1
                continue
            if both > best:
                best, pair = both, (high, low)
            low += 1
        if pair is None:
            return []
        other = ready[pair[1]]
        larger = self._take(pair[0])  # may make others ready, so the other is looked up again
        return [larger, self._take(bisect_left(ready, other))]

    def alone(self) -> int:
        return self._take(0)

    def _largest(self, room: int, specs: set[str]) -> list[int]:
        if len(specs) < self._most:
            found = _find_largest(self.ready, room)
        else:  # only more loads of specs that are in the batch already
            parts = [self._parts[spec] for spec in specs if spec in self._parts]
            found = sorted(one for some in parts for one in _find_largest(some, room))[-1:]
        return [self._take(bisect_left(self.ready, one)) for one in found]

    def _take(self, index: int) -> int:
        one = self.ready.pop(index)
        parts = self._parts.get(self._loads[-one[1]].spec)
        if parts is not None:
            del parts[bisect_left(parts, one)]
        for follower in self._followers[-one[1]]:
            self._waits[follower] -= 1
            if not self._waits[follower]:
                self._add((self._loads[follower].size, -follower))
        return -one[1]

    def _add(self, one: tuple[int, int]) -> None:
        insort(self.ready, one)
        parts = self._parts.get(self._loads[-one[1]].spec)
        if parts is not None:
            insort(parts, one)


def _group_specs(loads: Sequence[Load]) -> dict[str, list[tuple[int, int]]]:
    """An empty list of ready loads for each spec with several loads."""
    counts = Counter(load.spec for load in loads)
    return {spec: [] for spec, count in counts.items() if count > 1}


def _find_largest(ready: list[tuple[int, int]], room: int) -> list[tuple[int, int]]:
    """The largest ready load that fits, if any does."""
    at = bisect_right(ready, (room, 1)) - 1
    return [ready[at]] if at >= 0 else []


class _TooMany(Exception):
    pass


def find_fewer(
    loads: Sequence[Load], room: int, most_specs: int, than: int
) -> list[list[int]] | None:
    """A packing with fewer than `than` batches; None if none was found."""
    if len(loads) > MAX_LOADS or any(load.size > room for load in loads):
        return None
    search = _Search(loads, room, most_specs)
    least = -(-sum(load.size for load in loads) // room)
    try:
        for count in range(least, than):
            found = search.within(0, count)
            if found is not None:
                return found
    except _TooMany:
        pass
    return None


class _Search:
    """A complete search. Sets of tasks are the bits of a number."""

    def __init__(self, loads: Sequence[Load], room: int, most_specs: int) -> None:
        self._loads, self._room, self._most = loads, room, most_specs
        self._needs = [sum(1 << need for need in load.needs) for load in loads]
        self._all = (1 << len(loads)) - 1
        self._seen = 0
        self.within = cache(self._within)

    def _within(self, done: int, count: int) -> list[list[int]] | None:
        """The rest of the tasks in `count` batches; None if that is impossible."""
        rest = [at for at in range(len(self._loads)) if not done >> at & 1]
        if not rest:
            return []
        if sum(self._loads[at].size for at in rest) > count * self._room:
            return None
        for batch in self._full_batches(done):
            after = self.within(done | sum(1 << at for at in batch), count - 1)
            if after is not None:
                return [batch, *after]
        return None

    def _full_batches(self, done: int) -> Iterator[list[int]]:
        """Every possible next batch that no further task fits into, each once."""
        tried: set[int] = set()
        waiting: list[list[int]] = [[]]
        while waiting:
            batch = waiting.pop()
            more = [at for at in range(len(self._loads)) if self._may_join(at, batch, done)]
            if not more and batch:
                self._seen += 1
                if self._seen > MAX_BATCHES_TRIED:
                    raise _TooMany
                yield batch
            for at in more:
                key = sum(1 << one for one in batch) | 1 << at
                if key not in tried:
                    tried.add(key)
                    waiting.append([*batch, at])

    def _may_join(self, at: int, batch: list[int], done: int) -> bool:
        taken = done | sum(1 << one for one in batch)
        if taken >> at & 1 or self._needs[at] & ~taken:
            return False
        specs = {self._loads[one].spec for one in (*batch, at)}
        size = sum(self._loads[one].size for one in (*batch, at))
        return len(specs) <= self._most and size <= self._room
