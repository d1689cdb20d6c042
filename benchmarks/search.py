"""What a search costs: warm at 100,000 and 1,000,000 items on both engines, and cold from a shell.

python -m benchmarks.search [--items N] [--engine sqlite|postgres]

Texts are made of words as frequent as words are (Zipf), vectors of random clusters: embedding a
million texts takes half a day. The query's own embedding is measured with the real model, apart.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from sqlalchemy.engine import Connection

from benchmarks.databases import both
from holdfast.memory import words
from holdfast.memory.embed import vector
from holdfast.memory.embed.embedder import NoEmbedder
from holdfast.memory.index import shared_vectors
from holdfast.memory.index.embedded import Embedded
from holdfast.memory.index.shape import Index, Wanted
from holdfast.memory.index.shared import Shared
from holdfast.memory.item import TURN, Item
from holdfast.memory.recall import found_by
from holdfast.store.store import Store

SIZE, CLUSTERS = 384, 200
VOCABULARY, ZIPF = 60_000, 1.07
STOP = 150  # of the most frequent words: as many as a list of stop words has
THREAD = 1_000
QUERIES = 40
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
MODEL = "made up"
Row = tuple[str, str, str]
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu"


class Costs(NamedTuple):
    insert_per_s: float
    vectors_per_s: float
    one_p50: float  # ms: one project, by keyword
    one_hybrid_p50: float
    one_hybrid_p95: float
    all_hybrid_p50: float  # over all projects
    rss_mb: float


class Texts:
    """Sentences of made-up words, drawn as often as words are."""

    def __init__(self, seed: int = 7) -> None:
        self._dice = np.random.default_rng(seed)
        letters = random.Random(seed)
        syllables = _SYLLABLES.split()
        made = {"".join(letters.choices(syllables, k=letters.randint(2, 4))) for _ in range(99_000)}
        self._words = sorted(made)[:VOCABULARY]
        letters.shuffle(self._words)
        weights = 1 / np.arange(1, len(self._words) + 1) ** ZIPF
        self._edges = np.cumsum(weights / weights.sum())
        self._centres = vector.unit(self._dice.normal(size=(CLUSTERS, SIZE)))

    def text(self, count: int) -> str:
        at = np.searchsorted(self._edges, self._dice.random(count))
        return " ".join(self._words[min(int(n), len(self._words) - 1)] for n in at)

    def question(self) -> str:
        """As people ask: the words that stand in every text do not count."""
        at = np.searchsorted(self._edges, self._dice.uniform(self._edges[STOP], 1, 6))
        return " ".join(self._words[min(int(n), len(self._words) - 1)] for n in at)

    def some(self, count: int) -> list[str]:
        return [self.text(int(n)) for n in self._dice.integers(8, 50, count)]

    def vectors(self, count: int) -> vector.Array:
        chosen = self._centres[self._dice.integers(0, CLUSTERS, count)]
        return vector.unit(chosen + self._dice.normal(scale=0.04, size=(count, SIZE)))


def filled(index: Index, texts: Texts, count: int) -> tuple[float, float]:
    """Threads of a thousand items, and a vector for each; items and vectors a second."""
    spent = [0.0, 0.0]
    for first in range(0, count, THREAD):
        some = texts.some(min(THREAD, count - first))
        items = [
            Item(id=f"turn-{first + n}", kind=TURN, text=text, position=n, first_turn=n + 1)
            for n, text in enumerate(some)
        ]
        began = time.perf_counter()
        index.take(f"t{first}", "", "taken", items)
        spent[0] += time.perf_counter() - began
    index.begin_vectors(MODEL)
    if isinstance(index, Shared):  # one by one takes long: so much never comes at once
        index.store.write(lambda c: c.exec_driver_sql("DROP INDEX IF EXISTS recall_vectors_near"))
    for _ in range(0, count, THREAD):
        missing = index.without_vector(THREAD)
        made = vector.kept(texts.vectors(len(missing)))
        began = time.perf_counter()
        keys = [(place, told) for place, told, _ in missing]
        index.put_vectors(MODEL, dict(zip(keys, made, strict=True)))
        spent[1] += time.perf_counter() - began
    return count / spent[0], count / spent[1]


def measure(opened: Callable[[str], Index], items: int, projects: int) -> Costs:
    texts = Texts()
    indexes = [opened(f"/project/{n}") for n in range(projects)]
    rates = [filled(index, texts, items // projects) for index in indexes]
    settle(indexes)
    asked = [(words.asked(texts.question()), texts.vectors(1)[0]) for _ in range(QUERIES)]
    one = indexes[projects // 2 : projects // 2 + 1]
    for chosen in (one, indexes):  # what is loaded once is loaded now
        _timed(chosen, asked[:2], by_keyword=False)
    alone = _timed(one, asked, by_keyword=True)
    hybrid = _timed(one, asked, by_keyword=False)
    everywhere = hybrid if projects == 1 else _timed(indexes, asked, by_keyword=False)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Costs(
        median(one for one, _ in rates),
        median(one for _, one in rates),
        median(alone),
        median(hybrid),
        sorted(hybrid)[int(len(hybrid) * 0.95)],
        median(everywhere),
        memory,
    )


def settle(indexes: Sequence[Index]) -> None:
    """What PostgreSQL does by itself within a minute: count how frequent words are."""
    for index in indexes[:1]:
        if isinstance(index, Shared):
            index.store.write(_indexed)


def _indexed(connection: Connection) -> None:
    connection.exec_driver_sql("SET LOCAL maintenance_work_mem = '512MB'")
    connection.exec_driver_sql(shared_vectors.NEAR)
    connection.exec_driver_sql("ANALYZE recall_items, recall_vectors")


def _timed(
    indexes: Sequence[Index], asked: Sequence[tuple[words.Query, vector.Array]], *, by_keyword: bool
) -> list[float]:
    spent = []
    for query, near in asked:
        began = time.perf_counter()
        found_by(indexes, query, 10, Wanted(), {} if by_keyword else {MODEL: near})
        spent.append((time.perf_counter() - began) * 1000)
    return spent


@contextmanager
def engine(name: str) -> Iterator[Callable[[str], Index]]:
    if name == "sqlite":
        with tempfile.TemporaryDirectory(prefix="holdfast-search-") as folder:
            made: list[Embedded] = []

            def opened(project: str) -> Index:
                path = Path(folder, "recall", f"{len(made)}.db")
                made.append(Embedded(project, str(path)))
                return made[-1]

            yield opened
            for one in made:
                one.close()
        return
    with both() as urls:
        store = Store.open(urls["PostgreSQL"])
        yield lambda project: Shared(store, project)
        store.close()


def query_ms() -> float:
    """Embedding one question with the real model, warm."""
    from holdfast.memory.embed.minilm import minilm

    model = minilm()
    texts = [f"why did we change the {word} of the staging server" for word in "abcdefghij"]
    spent = []
    for text in texts:
        began = time.perf_counter()
        model.embed([text])
        spent.append((time.perf_counter() - began) * 1000)
    return median(spent[2:])


def cold(rounds: int = 15) -> tuple[float, float]:
    """`holdfast search` of a project with a session, as a multiple of a bare start: by keyword."""
    from benchmarks.hooks import write_transcript

    with tempfile.TemporaryDirectory(prefix="holdfast-cold-") as folder:
        project = Path(folder, "p")
        project.mkdir()
        home = Path(folder, "home")
        sessions = home / ".claude" / "projects" / str(project.resolve()).replace("/", "-")
        sessions.mkdir(parents=True)
        write_transcript(sessions / "s.jsonl", 5 << 20)
        environ = {**os.environ, "HOME": str(home), "HOLDFAST_HOME": str(home / ".holdfast")}
        holdfast = str(Path(sys.executable).with_name("holdfast"))
        search = [holdfast, "search", "low tide heights", "--json", "--limit", "5"]
        first = _spent(search, project, environ)
        bare, found = [], []
        for _ in range(rounds):
            bare.append(_spent(BARE, project, environ))
            found.append(_spent(search, project, environ))
    return median(found) / median(bare), first / median(bare)


def _spent(command: list[str], folder: Path, environ: dict[str, str]) -> float:
    """CPU of one process: the machine may be busy with others."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(large: bool = False) -> Iterator[Row]:
    """For `make bench`; a million items take a while, and more so on PostgreSQL: `large`."""
    ratio, first = cold()
    yield "cold `holdfast search`, by keyword", f"{ratio:.1f}x of a bare start", "≤ 10x"
    yield "the same, 5 MB of a session read first", f"{first:.1f}x", ""
    try:
        embed = query_ms()
        yield "embedding a question, warm", f"{embed:.1f} ms", ""
    except (NoEmbedder, ImportError) as slip:
        embed = 0.0
        yield "embedding a question", f"not measured: {slip}", ""
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
    yield f"{about}: insert, no vectors", f"{found.insert_per_s:,.0f} items/s", "≥ 1,000"
    yield f"{about}: vectors put in", f"{found.vectors_per_s:,.0f}/s", ""
    yield f"{about}: one project by keyword, p50", f"{found.one_p50:.1f} ms", wanted
    yield (
        f"{about}: one project, hybrid, p50",
        (
            f"{found.one_hybrid_p50:.1f} ms (p95 {found.one_hybrid_p95:.0f}); "
            f"{found.one_hybrid_p50 + embed:.1f} with the question's embedding"
        ),
        wanted,
    )
    if projects > 1:
        yield (
            f"{about}: all projects, hybrid, p50",
            f"{found.all_hybrid_p50:.1f} ms; {found.all_hybrid_p50 + embed:.1f} with embedding",
            wanted,
        )
    yield f"{about}: memory of the process", f"{found.rss_mb:,.0f} MB", ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--projects", type=int, default=1)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--cold", action="store_true", help="only the start from a shell")
    given = parser.parse_args()
    if given.cold:
        print("{:.2f}x, first {:.2f}x of a bare start".format(*cold()))
        return
    with engine(given.engine) as opened:
        found = measure(opened, given.items, given.projects)
    for row in _told(given.engine, given.items, given.projects, found, 0.0, ""):
        print(f"{row[0]:64} {row[1]}")


if __name__ == "__main__":
    main()
