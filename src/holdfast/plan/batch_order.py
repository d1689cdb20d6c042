"""Keep the order of the list in batches, unless something requires another order.

A list of tasks is mostly written in the order in which its author would work, even if it does not
say which task waits for which. So batches are filled in that order if this needs no more of them,
and batches made in any other way are at least sorted by it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

LOOK_AHEAD = 50  # ready tasks; taking one from farther down would break the order


@dataclass(frozen=True, slots=True)
class Load:
    """A task as packing sees it. `needs` are positions of other loads; `spec` is the task of the
    plan that it counts as; `joins`: it goes on with the load listed before it."""

    size: int
    needs: tuple[int, ...]
    spec: str
    joins: bool = False


def fill_in_order(loads: Sequence[Load], room: int, most_specs: int) -> list[list[int]]:
    """Fill each batch with the next tasks that fit; one that is too large stays alone."""
    listed = ListQueue(loads, most_specs)
    batches: list[list[int]] = []
    while listed.ready:
        first = listed.first()
        too_large = loads[listed.ready[first]].size > room
        batches.append([listed.take(first)] if too_large else listed.batch(room))
    return [order_batch(batch, loads) for batch in batches]


def fill_as_listed(loads: Sequence[Load], room: int, most_specs: int) -> list[list[int]]:
    """Fill each batch with the next tasks of the list until one does not fit; nothing if a task
    waits for one that is listed after it. Tasks that go on with the one before begin together."""
    batches: list[list[int]] = []
    left = 0
    specs: set[str] = set()
    for unit in _units(loads, room, most_specs):
        if any(need > at for at in unit for need in loads[at].needs):
            return []
        size, own = sum(loads[at].size for at in unit), {loads[at].spec for at in unit}
        if size > left or len(specs | own) > most_specs or not batches:
            batches.append([])
            left, specs = room, set()
        batches[-1] += unit
        specs |= own
        left -= size
    return batches


def _units(loads: Sequence[Load], room: int, most_specs: int) -> list[list[int]]:
    """The positions of loads that stay together: one each, or one with those that go on with it, as
    far as they fit into a batch."""
    found: list[list[int]] = []
    for at, load in enumerate(loads):
        unit = [*found[-1], at] if found and load.joins else [at]
        is_one = len({loads[one].spec for one in unit}) <= most_specs
        if len(unit) > 1 and is_one and sum(loads[one].size for one in unit) <= room:
            found[-1] = unit
        else:
            found.append([at])
    return found


def keeps_units(
    batches: Sequence[Sequence[int]], loads: Sequence[Load], room: int, most_specs: int
) -> bool:
    """Whether all loads that fit together are in one batch."""
    home = {at: index for index, batch in enumerate(batches) for at in batch}
    units = _units(loads, room, most_specs)
    return all(len({home[at] for at in unit}) == 1 for unit in units)


class ListQueue:
    """Ready tasks by their position in the list. A spec of several loads continues in the next
    batch, and no other such spec starts before its last load."""

    def __init__(self, loads: Sequence[Load], most_specs: int) -> None:
        self._loads, self._most = loads, most_specs
        self._followers = find_followers([load.needs for load in loads])
        self._waits = [len(load.needs) for load in loads]
        self._left = Counter[str](load.spec for load in loads)
        self._begun = ""
        self.ready: list[int] = []
        several = (spec for spec, count in self._left.items() if count > 1)
        self._parts: dict[str, list[int]] = {spec: [] for spec in several}  # those that are ready
        for at, count in enumerate(self._waits):
            if not count:
                self._add(at)

    def first(self) -> int:
        """The next load of a spec that has started, else the next one of the list."""
        own = self._of_begun()
        return own[0] if own else 0

    def batch(self, room: int) -> list[int]:
        """The next loads that fit together."""
        found: list[int] = []
        specs: set[str] = set()
        while (index := self._next(room, specs)) is not None:
            at = self.take(index)
            room -= self._loads[at].size
            specs.add(self._loads[at].spec)
            found.append(at)
        return found

    def take(self, index: int) -> int:
        at = self.ready.pop(index)
        spec = self._loads[at].spec
        if spec in self._parts:
            self._parts[spec].remove(at)
        self._left[spec] -= 1
        if self._left[spec] or spec == self._begun:
            self._begun = spec if self._left[spec] else ""
        for follower in self._followers[at]:
            self._waits[follower] -= 1
            if not self._waits[follower]:
                self._add(follower)
        return at

    def _add(self, at: int) -> None:
        insort(self.ready, at)
        if (parts := self._parts.get(self._loads[at].spec)) is not None:
            insort(parts, at)

    def _of_begun(self) -> list[int]:
        parts = self._parts[self._begun] if self._begun else []
        return [bisect_left(self.ready, at) for at in parts]

    def _next(self, room: int, specs: set[str]) -> int | None:
        own = self._of_begun()  # none, although it has started: it waits for others
        order: list[int] = [*own, *range(min(LOOK_AHEAD, len(self.ready)))]
        for index in order:
            load = self._loads[self.ready[index]]
            fits = load.size <= room and (load.spec in specs or len(specs) < self._most)
            is_whole = load.spec not in self._parts
            # A divided task begins when it is next in the list: others would stand in between.
            if fits and (is_whole or load.spec == self._begun or (not own and not index)):
                return index
        return None


def arrange(batches: Sequence[Sequence[int]], loads: Sequence[Load]) -> list[list[int]]:
    """The same batches with the same tasks, sorted by the order of the list."""
    home = {at: index for index, batch in enumerate(batches) for at in batch}
    needs = [
        {home[need] for at in batch for need in loads[at].needs if need in home} - {index}
        for index, batch in enumerate(batches)
    ]
    order = _sorted(needs, [min(batch) for batch in batches])
    return [order_batch(batches[index], loads) for index in order]


def order_batch(batch: Sequence[int], loads: Sequence[Load]) -> list[int]:
    """The tasks of one batch in the order of the list, each after those that it needs."""
    if len(batch) < 2:
        return list(batch)
    listed = sorted(batch)
    place = {at: index for index, at in enumerate(listed)}
    needs = [{place[need] for need in loads[at].needs if need in place} for at in listed]
    return [listed[index] for index in _sorted(needs, range(len(listed)))]


def _sorted(needs: Sequence[Collection[int]], rank: Sequence[int]) -> list[int]:
    """Topological order; of those that could come next, the one with the lowest rank."""
    followers, waits = find_followers(needs), [len(some) for some in needs]
    ready = [(rank[at], at) for at, count in enumerate(waits) if not count]
    heapify(ready)
    found: list[int] = []
    while ready:
        at = heappop(ready)[1]
        found.append(at)
        for follower in followers[at]:
            waits[follower] -= 1
            if not waits[follower]:
                heappush(ready, (rank[follower], follower))
    return found


def find_followers(needs: Sequence[Collection[int]]) -> list[list[int]]:
    """For each position, the positions that need it."""
    found: list[list[int]] = [[] for _ in needs]
    for at, some in enumerate(needs):
        for need in some:
            found[need].append(at)
    return found
