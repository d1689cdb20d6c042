"""How well recall finds: recall at 1 and 10 and MRR, by keyword and hybrid, on any labelled set.

python -m benchmarks.retrieval --items FILE.jsonl --queries FILE.jsonl

Items: {"id", "text", "thread"?, "position"?}; queries: {"id"?, "text", "relevant": [ids]}. Asked by
the very code `holdfast search` runs: the same index, candidates and order.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.recall_set import labelled
from benchmarks.search import engine
from holdfast.memory import embedders, sync, words
from holdfast.memory.embedders import NoEmbedder
from holdfast.memory.index import Index, SearchFilter
from holdfast.memory.item import TURN, Item
from holdfast.memory.recall import search_indexes

DEEPEST = 10
Row = tuple[str, str, str]


class Figures(NamedTuple):
    """Recall: the share of the relevant ones among the first; MRR: of the first relevant one."""

    recall_1: float
    recall_10: float
    mrr: float
    ms: float  # of one query, median

    def __str__(self) -> str:
        return f"r@1 {self.recall_1:.3f}, r@10 {self.recall_10:.3f}, MRR {self.mrr:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=Path, help="without it: our own set")
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--keep", type=Path, help="keep the index in this folder, for another run")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    items, queries = labelled()
    if given.items and given.queries:
        items, queries = _read(given.items), _read(given.queries)
    found = measure(items, queries, given.engine, given.keep)
    if given.json:
        print(json.dumps({name: one._asdict() for name, one in found.items()}))
        return
    for name, one in found.items():
        print(f"{name:10} {one}   ({one.ms:.1f} ms a query)")


def measure(
    items: list[dict[str, Any]],
    queries: list[dict[str, Any]],
    on: str = "sqlite",
    keep: Path | None = None,
) -> dict[str, Figures]:
    with engine(on, keep) as opened:
        index = opened("/set")
        take_in(index, items)
        found = {"keyword": _asked(index, queries, by_keyword=True)}
        try:
            sync.fill_vectors(index, embedders.current_embedder(), report=_progress)
            found["hybrid"] = _asked(index, queries, by_keyword=False)
        except NoEmbedder as error:
            print(f"hybrid: not measured: {error}", file=sys.stderr)
    return found


def take_in(index: Index, items: Sequence[dict[str, Any]]) -> None:
    """Each thread is a source; an item without one stands alone."""
    threads: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in items:
        threads[str(item.get("thread") or f"alone:{item['id']}")].append(item)
    alone = [members[0] for name, members in threads.items() if name.startswith("alone:")]
    if alone:
        _take(index, "alone", [_item(one, 2 * at) for at, one in enumerate(alone)])
    for name, members in threads.items():
        if not name.startswith("alone:"):
            _take(index, name, _in_order(members))


def _in_order(members: list[dict[str, Any]]) -> list[Item]:
    """As their positions say; a gap between two of them leaves no neighbours."""
    members = sorted(members, key=lambda one: one.get("position", 0))
    if any("position" not in one for one in members):
        return [_item(one, at) for at, one in enumerate(members)]
    first = min(0, members[0]["position"])
    return [_item(one, one["position"] - first) for one in members]


def _item(one: dict[str, Any], position: int) -> Item:
    return Item(id=str(one["id"]), kind=TURN, text=one["text"], position=position)


def _take(index: Index, source: str, items: Sequence[Item]) -> None:
    index.take(source, index.states().get(source, ""), "taken", items)


def _asked(index: Index, queries: Sequence[dict[str, Any]], *, by_keyword: bool) -> Figures:
    ones, tens, ranks, spent = [], [], [], []
    for query in queries:
        relevant = {str(one) for one in query["relevant"]}
        if not relevant:
            continue
        began = time.perf_counter()
        answer = search_indexes(
            [index], words.parse_query(query["text"]), DEEPEST, SearchFilter(cold=True), by_keyword
        )
        spent.append((time.perf_counter() - began) * 1000)
        ids = [one.id for one in answer.found]
        ones.append(len(relevant.intersection(ids[:1])) / len(relevant))
        tens.append(len(relevant.intersection(ids)) / len(relevant))
        ranks.append(next((1 / (at + 1) for at, one in enumerate(ids) if one in relevant), 0.0))
    count = max(1, len(tens))
    middle = sorted(spent)[len(spent) // 2] if spent else 0.0
    return Figures(sum(ones) / count, sum(tens) / count, sum(ranks) / count, middle)


def _progress(done: int, left: int) -> None:
    if sys.stderr.isatty() and done % 64 < 16:
        print(f"\r{done:,} embedded, {left:,} to go ", end="", file=sys.stderr)


def _read(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def rows() -> Iterator[Row]:
    """For `make bench`: our own set."""
    items, queries = labelled()
    about = f"{len(queries)} questions over {len(items):,} items of our own"
    for on in ("sqlite", "postgres"):
        found = measure(items, queries, on)
        for name, one in found.items():
            yield f"{name}, {about}, {on}", str(one), ""
        if "hybrid" in found:
            gain = found["hybrid"].recall_10 - found["keyword"].recall_10
            yield f"hybrid over keyword, r@10, {on}", f"+{gain:.3f}", "≥ +.10"


if __name__ == "__main__":
    main()
