"""How costs grow: with the size of a transcript, the number of sessions, the number of items.

    python -m benchmarks.growth [--short] [--json]

The other benchmarks measure; this one asks them at several sizes. `make report` draws the curves.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

MB = 1_000_000


class Curve(NamedTuple):
    """One line of a picture: what was measured at each size."""

    title: str  # of the picture; curves of one title share it
    label: str
    x_axis: str
    y_axis: str
    x: Sequence[float]
    y: Sequence[float]


class Sizes(NamedTuple):
    hook_mb: Sequence[int] = (1, 10, 100, 1_000)
    record_mb: Sequence[int] = (1, 5, 20, 100)
    sessions: Sequence[int] = (10, 100, 1_000)
    items: Sequence[int] = (1_000, 10_000, 100_000)


SHORT = Sizes((1, 10, 100), (1, 5, 20), (10, 30, 100), (1_000, 3_000, 10_000))
DRAWN_ROUTES = ("sessions", "actions of a project", "the hierarchy")


def hook(sizes: Sizes) -> list[Curve]:
    from benchmarks import hooks

    ratios = hooks.growth([size * MB for size in sizes.hook_mb])
    title, axis = "The hook after a tool call", "MB of transcript"
    return [Curve(title, "hook", axis, "times a bare start of Python", sizes.hook_mb, ratios)]


def record(sizes: Sizes) -> list[Curve]:
    from benchmarks import long_sessions, made_up

    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        path, found = Path(name, "session.jsonl"), []
        for size in sizes.record_mb:
            made_up.write(path, size * MB)
            found.append(long_sessions.seconds(path))
    title, axis = "Reading a session for the first time", "MB of transcript"
    return [Curve(title, "record", axis, "seconds of CPU", sizes.record_mb, found)]


def sessions(sizes: Sizes) -> list[Curve]:
    from benchmarks import lists

    found = lists.measure(sizes.sessions)
    title, axis = "Lists of the API, PostgreSQL", f"sessions of {lists.ACTIONS:,} actions"
    return [
        Curve(title, name, axis, "ms", sizes.sessions, [1e3 * one[name] for one in found])
        for name in DRAWN_ROUTES
    ]


def items(sizes: Sizes) -> list[Curve]:
    """Each size in an index of its own."""
    from benchmarks import search

    by_words, by_both = [], []
    for count in sizes.items:
        with search.engine("sqlite") as opened:
            found = search.measure(opened, count, 1)
        by_words.append(found.one_keyword.p50)
        by_both.append(found.one_hybrid.p50)
    title, axis = "Search in one project, SQLite, without the question's embedding", "items"
    return [
        Curve(title, "by words", axis, "ms, median", sizes.items, by_words),
        Curve(title, "by words and meaning", axis, "ms, median", sizes.items, by_both),
    ]


MEASURES: dict[str, Callable[[Sizes], list[Curve]]] = {
    "hook": hook,
    "record": record,
    "sessions": sessions,
    "items": items,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="small sizes: seconds, not minutes")
    parser.add_argument("--only", action="append", choices=MEASURES, help="measure this alone")
    parser.add_argument("--json", action="store_true", help="print the curves as one line of JSON")
    given = parser.parse_args()
    sizes = SHORT if given.short else Sizes()
    curves = [curve for name in given.only or MEASURES for curve in MEASURES[name](sizes)]
    if given.json:
        print(json.dumps(curves))
        return
    for curve in curves:
        points = ", ".join(f"{x:,}: {y:.3g}" for x, y in zip(curve.x, curve.y, strict=True))
        print(f"{curve.title}, {curve.label} ({curve.y_axis} by {curve.x_axis}): {points}")


if __name__ == "__main__":
    main()
