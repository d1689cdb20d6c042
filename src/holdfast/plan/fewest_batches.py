"""The fewest batches there can be, by looking at all of them: for plans of a dozen tasks or less.

One instance in seventy-five of that size needs a batch less than the quick way finds, and a batch
is a session. Only full batches are tried, and none where what is left cannot fit any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from holdfast.plan.load import Load

MOST_LOADS = 12
MOST_BATCHES_SEEN = 3_000  # then the quick way's answer stands


class _TooMany(Exception):
    pass


def fewer(loads: Sequence[Load], room: int, most_specs: int, than: int) -> list[list[int]] | None:
    """A packing into fewer than so many batches; None where there is none, or none was found."""
    if len(loads) > MOST_LOADS or any(load.size > room for load in loads):
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
    """Sets of tasks are bits of a number."""

    def __init__(self, loads: Sequence[Load], room: int, most_specs: int) -> None:
        self._loads, self._room, self._most = loads, room, most_specs
        self._needs = [sum(1 << need for need in load.needs) for load in loads]
        self._all = (1 << len(loads)) - 1
        self._seen = 0
        self.within = cache(self._within)

    def _within(self, done: int, count: int) -> list[list[int]] | None:
        """The rest in so many batches."""
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
        """Every batch that can come next and takes nothing more, each once."""
        tried: set[int] = set()
        waiting: list[list[int]] = [[]]
        while waiting:
            batch = waiting.pop()
            more = [at for at in range(len(self._loads)) if self._may_join(at, batch, done)]
            if not more and batch:
                self._seen += 1
                if self._seen > MOST_BATCHES_SEEN:
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
