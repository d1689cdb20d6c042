"""Which test file belongs to which source file, by their names: `test_cart.py` to `cart.py`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import takewhile
from posixpath import basename

# As pytest, Go, Jest and Vitest, RSpec, JUnit, XCTest and their like have them.
_TEST = (
    re.compile(r"test_(?P<of>.+)\.\w+"),
    re.compile(r"(?P<of>.+)_(?:test|spec)\.\w+"),
    re.compile(r"(?P<of>.+)\.(?:test|spec)\.\w+"),
    re.compile(r"(?P<of>.+?)(?:Tests?|Spec)\.\w+"),
)
_STEM = re.compile(r"[^.]+")


def pairs(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(source, test), each test once: with the source nearest to it of those it is named after."""
    by_stem: defaultdict[str, list[str]] = defaultdict(list)
    tests: dict[str, str] = {}
    for file in files:
        of = _tested(basename(file))
        if of:
            tests[file] = of
        elif stem := _STEM.match(basename(file)):
            by_stem[stem[0]].append(file)
    for test, of in tests.items():
        sources = next((by_stem[name] for name in _shorter(of) if name in by_stem), [])
        if sources:
            yield max(sources, key=lambda source: (_shared(source, test), source)), test


def _tested(name: str) -> str:
    found = (pattern.fullmatch(name) for pattern in _TEST)
    return next((one["of"] for one in found if one), "")


def _shorter(of: str) -> Iterator[str]:
    """`cart_totals` may test `cart_totals`, else `cart`."""
    parts = re.split(r"([_-])", of)
    for end in range(len(parts), 0, -2):
        yield "".join(parts[:end])


def _shared(one: str, other: str) -> int:
    """How many folders both have, from the right: `src/shop/cart.py`, `tests/shop/test_cart.py`."""
    both = zip(reversed(one.split("/")[:-1]), reversed(other.split("/")[:-1]), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
