"""How well tasks are packed into batches, and how long it takes.

Optimal, where it can be known: up to eleven tasks, by the fewest batches over every set of tasks
that can be done first. Beyond, a bound no packing can beat: the sum of sizes against the room, the
number of tasks against the specs a batch may have, and, for every k, how many tasks are larger than
a (k + 1)-th of the room, of which a batch holds k at most. Room use is the optimum's (or the
bound's) number of batches by ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from math import ceil
from pathlib import Path
from random import Random
from statistics import mean
from tempfile import TemporaryDirectory

from holdfast.plan.batch_order import Load
from holdfast.plan.estimates.estimate import Past, make_case
from holdfast.plan.estimates.features import extract_features
from holdfast.plan.estimates.past_requests import PastRequest
from holdfast.plan.formats import read
from holdfast.plan.packing import pack
from holdfast.plan.planner import make_workflow
from holdfast.plan.room import fresh_room

ROOM = 120_000
SPECS = 3
SIZES = ((5_000, 80_000), (2_000, 40_000), (20_000, 70_000), (40_000, 60_000), (5_000, 119_000))
SMALL, LARGE = 11, 200
INSTANCES = 12  # of each kind of sizes
Row = tuple[str, str, str]


def an_instance(chance: Random, count: int, edges: int, sizes: tuple[int, int]) -> list[Load]:
    """Random sizes, and random pairs of which the later waits for the earlier."""
    chosen: set[tuple[int, int]] = set()
    while len(chosen) < edges:
        first, second = sorted(chance.sample(range(count), 2))
        chosen.add((first, second))
    needs: list[list[int]] = [[] for _ in range(count)]
    for first, second in sorted(chosen):
        needs[second].append(first)
    return [
        Load(chance.randint(*sizes), tuple(some), f"spec-{at}") for at, some in enumerate(needs)
    ]


def optimum(loads: list[Load]) -> int:
    """The fewest batches there can be, by trying every batch after every set that was done."""
    count = len(loads)
    needs = [sum(1 << need for need in load.needs) for load in loads]
    fits = [batch for batch in range(1, 1 << count) if _fits(batch, loads)]

    @cache
    def fewest(done: int) -> int:
        if done == (1 << count) - 1:
            return 0
        after = (done | batch for batch in fits if not batch & done and _may(batch, done, needs))
        return 1 + min(fewest(state) for state in after)

    return fewest(0)


def _fits(batch: int, loads: list[Load]) -> bool:
    chosen = [load for at, load in enumerate(loads) if batch >> at & 1]
    return len(chosen) <= SPECS and sum(load.size for load in chosen) <= ROOM


def _may(batch: int, done: int, needs: list[int]) -> bool:
    """What each of them needs is done, or in the batch itself."""
    return all(not needs[at] & ~(done | batch) for at in range(len(needs)) if batch >> at & 1)


def bound(loads: list[Load]) -> int:
    large = (
        ceil(sum(load.size > ROOM / (k + 1) for load in loads) / k) for k in range(1, SPECS + 1)
    )
    return max(ceil(sum(load.size for load in loads) / ROOM), ceil(len(loads) / SPECS), *large)


def room_use(count: int, best: Callable[[list[Load]], int]) -> list[float]:
    """Of every instance: the optimum's number of batches by ours."""
    found = []
    for sizes in SIZES:
        for seed in range(INSTANCES):
            chance = Random(seed)
            edges = chance.choice((0, count // 2, 3 * count // 2, 3 * count))
            loads = an_instance(chance, count, min(edges, count * (count - 1) // 4), sizes)
            found.append(best(loads) / len(pack(loads, ROOM, SPECS)))
    return found


def pace() -> float:
    """1,000 tasks, 3,000 dependencies: our time by that of a plain topological sort."""
    loads = an_instance(Random(1), 1000, 3000, SIZES[0])
    graph = {at: load.needs for at, load in enumerate(loads)}
    plain = _quickest(lambda: list(TopologicalSorter(graph).static_order()))
    return _quickest(lambda: pack(loads, ROOM, SPECS)) / plain


def _quickest(work: Callable[[], object], times: int = 9) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


VERBS = ("Fix", "Add", "Refactor", "Implement", "Update", "Rename", "Commit", "Investigate")


def whole_plan(text: str, root: Path) -> float:
    """Seconds of one core to read, estimate and batch it, with 2,000 past requests."""
    chance = Random(2)
    used = (
        PastRequest(
            extract_features(f"{chance.choice(VERBS)} {'x' * chance.randint(1, 400)}"),
            0,
            0,
            False,
            0,
            n % 9,
            900 * (n % 40),
        )
        for n in range(2_000)
    )
    past = Past([make_case(one, here=False) for one in used])
    start = time.process_time()
    make_workflow(
        read.read_plan(text, "markdown", root), fresh_room(200_000, 0.6, SPECS, ""), past, root
    )
    return time.process_time() - start


def many_tasks(count: int = 10_000) -> str:
    """Two in three list files, every fourth waits for one before it."""
    chance = Random(3)
    lines = []
    for n in range(1, count + 1):
        lines.append(f"- [ ] {chance.choice(VERBS)} thing {n} {'x' * chance.randint(0, 60)}")
        if n % 3:
            lines.append(f"  - files: {', '.join(f'src/{n}/{k}.py' for k in range(n % 8 + 1))}")
        if n % 4 == 0:
            lines.append(f"  - depends: {chance.randint(max(1, n - 50), n - 1)}")
    return "\n".join(lines)


def in_folders(root: Path, count: int = 300) -> str:
    """Each names two of thirty folders of 1,000 files."""
    for folder in range(30):
        (root / f"d{folder}").mkdir()
        for n in range(1_000):
            (root / f"d{folder}/{n}.py").touch()
    return "\n".join(
        f"- [ ] Fix thing {n}\n  - files: d{n % 30}, d{(n + 7) % 30}" for n in range(count)
    )


def rows() -> Iterator[Row]:
    for words, found in (
        (f"{SMALL} tasks, against the exact optimum", room_use(SMALL, optimum)),
        (f"{LARGE} tasks, against a bound no packing beats", room_use(LARGE, bound)),
    ):
        figure = f"{mean(found):.1%} (worst {min(found):.1%}, {len(found)} instances)"
        yield f"room use, {words}", figure, "≥ 85 %"
    yield "1,000 tasks, 3,000 dependencies", f"{pace():.1f}x of a topological sort", "≤ 20x"
    with TemporaryDirectory() as folder:
        yield (
            "10,000 tasks",
            f"{whole_plan(many_tasks(), Path(folder)):.1f} s of one core",
            "≤ 10 s",
        )
        seconds = whole_plan(in_folders(Path(folder)), Path(folder))
        yield "300 tasks that name folders of 1,000 files", f"{seconds:.1f} s of one core", "≤ 10 s"


if __name__ == "__main__":
    for name, figure, wanted in rows():
        print(f"{name}: {figure} ({wanted})")
