"""Files that belong together, in groups of a limited size.

The strongest ties come first: a source and its test (`cart.py` and `test_cart.py`), then imports,
changes made together in git, and a common folder. The remaining files fill up groups in the order
of their paths. No group is left with one file if another can spare some.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from posixpath import basename, dirname

from holdfast.plan.imports import PYTHON, SCRIPTS, find_imports
from holdfast.plan.project_files import find_changed_together, read_sources

READ = (*PYTHON, *SCRIPTS)  # suffixes of files whose imports are looked at
IMPORT_TIE = 2.0  # stronger than any history: 1.0 is "always changed together"
TEST_TIE = 4.0  # stronger than both together
TESTS = "source and test"
LEAST_TO_SHARE = 3  # files of a group that can spare one; of fewer, each takes a third of the room
# The naming of pytest, Go, Jest, Vitest, RSpec, JUnit, XCTest and similar tools.
_TEST = (
    re.compile(r"test_(?P<of>.+)\.\w+"),
    re.compile(r"(?P<of>.+)_(?:test|spec)\.\w+"),
    re.compile(r"(?P<of>.+)\.(?:test|spec)\.\w+"),
    re.compile(r"(?P<of>.+?)(?:Tests?|Spec)\.\w+"),
)
_TEST_FOLDERS = frozenset(("test", "tests", "spec", "specs", "__tests__"))
_STEM = re.compile(r"[^.]+")


@dataclass(frozen=True, slots=True)
class FileTie:
    left: str
    right: str
    strength: float
    why: str


@dataclass(frozen=True, slots=True)
class FileGroups:
    groups: tuple[tuple[str, ...], ...]
    why: str


def group_files(root: Path, files: Sequence[str], most: int) -> FileGroups:
    """As few groups of at most `most` files as possible, of similar size; every file once."""
    most = max(1, most)
    count = max(1, -(-len(files) // most))
    ties = find_ties(root, files)
    limits = range(-(-len(files) // count), most + 1)
    attempts = (_group(files, ties, limit, count) for limit in limits)
    few = (grouped for grouped in attempts if len(grouped.groups) <= count)
    return next(few, None) or _group(files, ties, most, count)


def _group(files: Sequence[str], ties: Sequence[FileTie], most: int, count: int) -> FileGroups:
    """Groups of at most `most` files, and `count` of them if there is a way."""
    joined = _Joined(files, most)
    used = Counter(tie.why for tie in ties if joined.join(tie.left, tie.right))
    used["folder"] = sum(joined.join(*pair) for pair in _folders(files))
    joined.fill_up()
    tests = list(find_test_files(files))
    groups = _shared_out(joined.groups(), tests, most, count)
    return FileGroups(_mixed(_without_singles(groups, tests, most), tests), _words(used))


def find_ties(root: Path, files: Sequence[str]) -> list[FileTie]:
    """Ties, strongest first; equal ones by name, so that the result is always the same."""
    sources = read_sources(root, [file for file in files if file.endswith(READ)])
    ties = [FileTie(*pair, IMPORT_TIE, "imports") for pair in find_imports(sources)]
    ties += [FileTie(*pair, TEST_TIE, TESTS) for pair in find_test_files(files)]
    changed = find_changed_together(root, files)
    ties += [FileTie(*pair, share, "changes in git") for pair, share in changed.items()]
    return sorted(_summed(ties), key=lambda tie: (-tie.strength, tie.left, tie.right))


def _summed(ties: Iterable[FileTie]) -> Iterator[FileTie]:
    """One tie per pair: importing and changing together counts more than either."""
    by_pair: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for tie in ties:
        pair = (min(tie.left, tie.right), max(tie.left, tie.right))
        by_pair[pair][tie.why] = tie.strength
    for pair, strengths in by_pair.items():
        strongest = max(strengths, key=strengths.__getitem__)
        yield FileTie(*pair, sum(strengths.values()), strongest)


def _folders(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Ties between neighbours in a folder, in the order of their names."""
    by_folder: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(files):
        by_folder[dirname(file)].append(file)
    for folder in sorted(by_folder):
        yield from pairwise(by_folder[folder])


class _Joined:
    def __init__(self, files: Sequence[str], most: int) -> None:
        self._most = max(1, most)
        self._group: dict[str, list[str]] = {file: [file] for file in files}

    def join(self, file: str, other: str) -> bool:
        """Join two groups; false if the result would be too large."""
        left, right = self._group[file], self._group[other]
        if left is right or len(left) + len(right) > self._most:
            return False
        left += right
        for file in right:
            self._group[file] = left
        return True

    def fill_up(self) -> None:
        """Join groups that are neighbours in the order of paths, while they fit."""
        firsts = [group[0] for group in self._sorted()]
        current = firsts[0] if firsts else ""
        for first in firsts[1:]:
            if not self.join(current, first):
                current = first

    def groups(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(sorted(group)) for group in self._sorted())

    def _sorted(self) -> list[list[str]]:
        distinct = {id(group): group for group in self._group.values()}.values()
        return sorted(distinct, key=min)


Group = tuple[str, ...]


def _shared_out(
    groups: tuple[Group, ...], tests: Sequence[tuple[str, str]], most: int, count: int
) -> tuple[Group, ...]:
    """At most `count` groups: the files of the smallest ones join others. Two groups that fill up
    first would leave a third one with a few test helpers."""
    result = list(groups)
    while len(result) > count:
        smallest = min(result, key=lambda group: (len(group), group))
        rest = [group for group in result if group != smallest]
        for unit in dict.fromkeys(_units(smallest, tests).values()):
            near = sorted(rest, key=lambda group: _far(group, unit))
            taker = next((group for group in near if len(group) + len(unit) <= most), None)
            if taker is None:
                return tuple(result)
            rest[rest.index(taker)] = tuple(sorted((*taker, *unit)))
        result = rest
    return tuple(sorted(result))


def _units(group: Group, tests: Sequence[tuple[str, str]]) -> dict[str, Group]:
    """For each file, what is never torn apart: a source with its tests, or the file alone."""
    units: dict[str, Group] = {file: (file,) for file in group}
    for source, test in tests:
        if source in units and test in units:
            joined = tuple(sorted({*units[source], *units[test]}))
            units |= dict.fromkeys(joined, joined)
    return units


def _without_singles(
    groups: tuple[Group, ...], tests: Sequence[tuple[str, str]], most: int
) -> tuple[Group, ...]:
    """A session for one file is a waste: the file joins another group, or gets one from it."""
    result = list(groups)
    for single in [group for group in groups if len(group) == 1]:
        if single not in result:  # another has joined it
            continue
        rest = [group for group in result if group != single]
        for other in sorted(rest, key=lambda group: _far(group, single)):
            if len(other) < most:
                changed = [tuple(sorted((*other, *single)))]
            elif unit := _spared(other, single, tests, most):
                changed = [tuple(file for file in other if file not in unit)]
                changed.append(tuple(sorted((*single, *unit))))
            else:
                continue
            result = [group for group in result if group not in (single, other)] + changed
            break
    return tuple(sorted(result))


def _mixed(groups: tuple[Group, ...], tests: Sequence[tuple[str, str]]) -> tuple[Group, ...]:
    """Groups without one of tests alone, if there are sources: such a group swaps half of its files
    with the group that has the most sources. A session would otherwise cover nothing."""
    result = list(groups)
    for group in [group for group in groups if not _count_sources(group)]:
        rich = max(result, key=lambda group: (_count_sources(group), group))
        every = dict.fromkeys(_units(rich, tests).values())
        units = [unit for unit in every if _count_sources(unit)]
        moved: Group = ()
        for unit in units[: len(units) // 2]:
            if len(moved) + len(unit) <= (len(group) + 1) // 2:
                moved += unit
        given = group[: len(moved)]
        if moved and given != group:
            result.remove(group)
            result.remove(rich)
            result.append(tuple(sorted((*group[len(moved) :], *moved))))
            result.append(tuple(sorted((*(file for file in rich if file not in moved), *given))))
    return tuple(sorted(result))


def _count_sources(group: Group) -> int:
    return sum(not is_test(file) and basename(file) != "__init__.py" for file in group)


def _far(group: Group, unit: Group) -> tuple[bool, int, Group]:
    """Sort key: groups with a file of the same folder first, then the large ones."""
    near = any(dirname(file) == dirname(unit[0]) for file in group)
    return not near, -len(group), group


def _spared(
    group: Group, single: Group, tests: Sequence[tuple[str, str]], most: int
) -> tuple[str, ...]:
    """The files a group can give away: a source with its tests, or a file without tests. At least
    two files stay."""
    if len(group) < LEAST_TO_SHARE:
        return ()
    units = _units(group, tests)
    for file in sorted(group, key=lambda file: (dirname(file) != dirname(single[0]), file)):
        unit = units[file]
        if len(group) - len(unit) >= 2 and len(unit) < most:
            return unit
    return ()


def _words(used: Mapping[str, int]) -> str:
    whys = [why for why in (TESTS, "imports", "changes in git", "folder") if used.get(why)]
    return " and ".join(filter(None, (", ".join(whys[:-1]), *whys[-1:]))) or "their paths"


def is_test(path: str) -> bool:
    """Whether it is a test by its name, or in a folder of tests."""
    *folders, name = path.split("/")
    return bool(_tested(name)) or not _TEST_FOLDERS.isdisjoint((*folders, name))


def find_test_files(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(source, test), each test once, with the nearest source of that name."""
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
    matches = (pattern.fullmatch(name) for pattern in _TEST)
    return next((match["of"] for match in matches if match), "")


def _shorter(of: str) -> Iterator[str]:
    """Names to try: a test `cart_totals` may test `cart_totals`, else `cart`."""
    parts = re.split(r"([_-])", of)
    for end in range(len(parts), 0, -2):
        yield "".join(parts[:end])


def _shared(source: str, test: str) -> int:
    """How many folders both paths share, from the right: `src/shop/cart.py`,
    `tests/shop/test_cart.py`."""
    both = zip(reversed(source.split("/")[:-1]), reversed(test.split("/")[:-1]), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
