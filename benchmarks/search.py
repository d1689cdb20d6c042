"""What a search costs, warm, at 100,000 and 1,000,000 items on both engines; and cold from a shell.

python -m benchmarks.search [--items N] [--projects N] [--engine sqlite|postgres] [--keep DIR]

The question's own embedding is measured with the real model, apart. A figure is the lowest of three
runs' medians: what a machine does beside it only adds. CPU is of this process and of the server.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.databases import both, kept
from benchmarks.search_cold import cold, query_ms
from benchmarks.search_texts import MODEL, SIZE, Texts, copied, filled, settle
from holdfast.hub.store.store import Store
from holdfast.memory import vector, words
from holdfast.memory.embedders import NoEmbedder
from holdfast.memory.index import Index, SearchFilter
from holdfast.memory.postgres_index import Shared
from holdfast.memory.recall import each, rank_results
from holdfast.memory.sqlite_index import Embedded

QUERIES, RUNS = 40, 3
Row = tuple[str, str, str]
Asked = Sequence[tuple[words.Query, vector.Array]]


class Spent(NamedTuple):
    """Of one question, in ms: the lowest median, of that run the slowest twentieth, CPU."""

    p50: float
    p95: float
    cpu: float

    def said(self, embed: float = 0.0) -> str:
        told = f"{self.p50:.0f} ms (p95 {self.p95:.0f}, CPU {self.cpu:.0f})"
        return told + (f"; {self.p50 + embed:.0f} ms with its embedding" if embed else "")


class Costs(NamedTuple):
    insert_per_s: float  # 0: it was there already
    vectors_per_s: float
    one_keyword: Spent
    one_hybrid: Spent
    all_hybrid: Spent | None
    rss_mb: float


def measure(opened: Callable[[str], Index], items: int, projects: int) -> Costs:
    texts = Texts()
    indexes = [opened(f"/project/{n}") for n in range(projects)]
    empty = [index for index in indexes if not index.counts().items]
    rates = list(_filled(empty, texts, items // projects))
    if empty:
        settle(indexes)
    asked = [(words.parse_query(texts.question()), texts.vectors(1)[0]) for _ in range(QUERIES)]
    one = indexes[projects // 2 : projects // 2 + 1]
    return Costs(
        median([one for one, _ in rates] or [0.0]),
        median([one for _, one in rates] or [0.0]),
        _spent(one, asked, by_keyword=True),
        _spent(one, asked, by_keyword=False),
        _spent(indexes, asked, by_keyword=False) if projects > 1 else None,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def _filled(empty: Sequence[Index], texts: Texts, count: int) -> Iterator[tuple[float, float]]:
    for number, index in enumerate(empty):
        if number and isinstance(index, Shared):
            copied(empty[0], index, turn=number * SIZE // len(empty))
        else:
            yield filled(index, texts, count)


def _spent(indexes: Sequence[Index], asked: Asked, *, by_keyword: bool) -> Spent:
    _timed(indexes, asked, by_keyword=by_keyword)  # what is loaded once is loaded now
    runs = []
    for _ in range(RUNS):
        began = _cpu_s(indexes)
        some = sorted(_timed(indexes, asked, by_keyword=by_keyword))
        cpu = (_cpu_s(indexes) - began) / len(asked) * 1000
        runs.append(Spent(median(some), some[int(len(some) * 0.95)], cpu))
    return min(runs)


def _timed(indexes: Sequence[Index], asked: Asked, *, by_keyword: bool) -> list[float]:
    """As `recall` does it: what the indexes were made with is asked before the question is."""
    spent = []
    for query, near in asked:
        began = time.perf_counter()
        has = any(told.vectors for told in each(lambda one: one.counts(), indexes))
        rank_results(
            indexes, query, 10, SearchFilter(), {MODEL: near} if has and not by_keyword else {}
        )
        spent.append((time.perf_counter() - began) * 1000)
    return spent


def _cpu_s(indexes: Sequence[Index]) -> float:
    """Of this process, and of the server's processes that work for it."""
    own = time.process_time()
    if not isinstance(indexes[0], Shared):
        return own
    query = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
    pids = [pid for (pid,) in indexes[0].ask(query)]
    stats = [Path(f"/proc/{pid}/stat") for pid in pids]
    ticks = [one.read_text().rsplit(")", 1)[1].split()[11:13] for one in stats if one.exists()]
    return own + sum(int(user) + int(system) for user, system in ticks) / os.sysconf("SC_CLK_TCK")


@contextmanager
def engine(name: str, keep: Path | None = None) -> Iterator[Callable[[str], Index]]:
    """What opens an index; in `keep` it stays for another run."""
    with ExitStack() as open_:
        if name == "sqlite":
            made = tempfile.TemporaryDirectory(prefix="holdfast-search-")
            folder = keep or Path(open_.enter_context(made))
            yield lambda project: open_.enter_context(closing(_file(folder, project)))
            return
        urls = open_.enter_context(kept(keep) if keep else both())
        store = open_.enter_context(closing(Store.open(urls["PostgreSQL"])))
        yield lambda project: Shared(store, project)


def _file(folder: Path, project: str) -> Embedded:
    return Embedded(project, str(folder / "recall" / f"{Path(project).name}.db"))


def rows(large: bool = False) -> Iterator[Row]:
    """For `make bench`; a million items take a while, and more so on PostgreSQL: `large`."""
    starts = cold()
    yield (
        "cold `holdfast search --json`, by keyword",
        f"{starts.as_json:.1f}x of a bare start",
        "≤ 10x",
    )
    yield "the same for people, without --json", f"{starts.for_people:.1f}x", "≤ 10x"
    yield "the same, 5 MB of a session read first", f"{starts.first:.1f}x", ""
    try:
        embed = query_ms()
        yield "embedding a question, warm", f"{embed:.1f} ms", ""
    except (NoEmbedder, ImportError) as error:
        embed = 0.0
        yield "embedding a question", f"not measured: {error}", ""
    sizes = [(100_000, 1, "≤ 50 ms")] + ([(1_000_000, 10, "≤ 200 ms")] if large else [])
    for name in ("sqlite", "postgres"):
        for items, projects, wanted in sizes:
            with engine(name) as opened:
                found = measure(opened, items, projects)
            yield from _told(name, items, projects, found, embed, wanted)


def _told(
    name: str, items: int, projects: int, found: Costs, embed: float, wanted: str
) -> Iterator[Row]:
    about = f"{name}, {items:,} items in {projects} project{'s' if projects > 1 else ''}"
    if found.insert_per_s:
        yield f"{about}: insert, no vectors", f"{found.insert_per_s:,.0f} items/s", "≥ 1,000"
        yield f"{about}: vectors put in", f"{found.vectors_per_s:,.0f}/s", ""
    yield f"{about}: one project by keyword, p50", found.one_keyword.said(), wanted
    yield f"{about}: one project, hybrid, p50", found.one_hybrid.said(embed), wanted
    if found.all_hybrid:
        yield f"{about}: all projects, hybrid, p50", found.all_hybrid.said(embed), wanted
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    yield (
        f"{about}: memory of the process",
        f"{found.rss_mb:,.0f} MB; load of the machine {load}",
        "",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--projects", type=int, default=1)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--keep", type=Path, help="a folder in which what was loaded stays")
    parser.add_argument("--cold", action="store_true", help="only the start from a shell")
    given = parser.parse_args()
    if given.cold:
        print("{:.2f}x, for people {:.2f}x, first {:.2f}x of a bare start".format(*cold()))
        return
    with engine(given.engine, given.keep) as opened:
        found = measure(opened, given.items, given.projects)
    for row in _told(given.engine, given.items, given.projects, found, query_ms(), ""):
        print(f"{row[0]:64} {row[1]}")


if __name__ == "__main__":
    main()
