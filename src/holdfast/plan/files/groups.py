"""Files that belong together, in groups of a bounded size.

The strongest ties first: a source and its test, then imports, changes made together in git, and a
common folder. What is left over fills up groups in the order of its paths. No group is left with
one file where another can spare some.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from posixpath import dirname

from holdfast.plan.files import changed_together, python_imports, script_imports, test_files
from holdfast.plan.files.project_files import sources

IMPORT_TIE = 2.0  # stronger than any history: 1.0 is "always changed together"
TEST_TIE = 4.0  # stronger than both together
TESTS = "tests of one source"
LEAST_TO_SHARE = 3  # files of a group that can spare one; of fewer, each takes a third of the room


@dataclass(frozen=True, slots=True)
class Tie:
    one: str
    other: str
    strength: float
    why: str


@dataclass(frozen=True, slots=True)
class Grouped:
    groups: tuple[tuple[str, ...], ...]
    why: str


def group(root: Path, files: Sequence[str], most: int) -> Grouped:
    """Groups of at most `most` files, and about as large as each other; every file once."""
    count = -(-len(files) // max(1, most))
    found = ties(root, files)
    even = _group(files, found, -(-len(files) // max(1, count)))
    return even if len(even.groups) <= count else _group(files, found, most)


def _group(files: Sequence[str], found: Sequence[Tie], most: int) -> Grouped:
    joined = _Joined(files, most)
    used = Counter(tie.why for tie in found if joined.join(tie.one, tie.other))
    used["folder"] = sum(joined.join(one, other) for one, other in _folders(files))
    joined.fill_up()
    groups = _without_singles(joined.groups(), list(test_files.pairs(files)), most)
    return Grouped(groups, _words(used))


def ties(root: Path, files: Sequence[str]) -> list[Tie]:
    """Strongest first; equal ones in the order of their names, so that every run agrees."""
    python = sources(root, [file for file in files if file.endswith((".py", ".pyi"))])
    scripts = sources(root, [file for file in files if file.endswith(script_imports.SUFFIXES)])
    found = [
        Tie(one, other, IMPORT_TIE, "imports")
        for one, other in (*python_imports.pairs(python), *script_imports.pairs(scripts))
    ]
    found += [Tie(*pair, TEST_TIE, TESTS) for pair in test_files.pairs(files)]
    changed = changed_together.pairs(root, files)
    found += [Tie(*pair, share, "changes in git") for pair, share in changed.items()]
    return sorted(_summed(found), key=lambda tie: (-tie.strength, tie.one, tie.other))


def _summed(found: Iterable[Tie]) -> Iterator[Tie]:
    """One tie per pair: importing and changing together is more than either."""
    by_pair: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for tie in found:
        pair = (min(tie.one, tie.other), max(tie.one, tie.other))
        by_pair[pair][tie.why] = tie.strength
    for (one, other), strengths in by_pair.items():
        yield Tie(one, other, sum(strengths.values()), max(strengths, key=strengths.__getitem__))


def _folders(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Neighbours in one folder, in the order of their names."""
    by_folder: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(files):
        by_folder[dirname(file)].append(file)
    for folder in sorted(by_folder):
        yield from pairwise(by_folder[folder])


class _Joined:
    def __init__(self, files: Sequence[str], most: int) -> None:
        self._most = max(1, most)
        self._group: dict[str, list[str]] = {file: [file] for file in files}

    def join(self, one: str, other: str) -> bool:
        """True if the two groups became one; not when that would be too large."""
        left, right = self._group[one], self._group[other]
        if left is right or len(left) + len(right) > self._most:
            return False
        left += right
        for file in right:
            self._group[file] = left
        return True

    def fill_up(self) -> None:
        """Groups beside each other in the order of paths, while both fit into one."""
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


def _without_singles(
    groups: tuple[Group, ...], tests: Sequence[tuple[str, str]], most: int
) -> tuple[Group, ...]:
    """A session for one file is a waste: it joins another group, or gets a file from one."""
    found = list(groups)
    for single in [group for group in groups if len(group) == 1]:
        if single not in found:  # another has joined it
            continue
        rest = sorted((one for one in found if one != single), key=lambda one: _far(one, single))
        for other in rest:
            if len(other) < most:
                changed = [tuple(sorted((*other, *single)))]
            elif unit := _spared(other, single, tests, most):
                changed = [tuple(file for file in other if file not in unit)]
                changed.append(tuple(sorted((*single, *unit))))
            else:
                continue
            found = [one for one in found if one not in (single, other)] + changed
            break
    return tuple(sorted(found))


def _far(group: Group, single: Group) -> tuple[bool, int, Group]:
    """Groups with a file of its folder first, then the large ones."""
    near = any(dirname(file) == dirname(single[0]) for file in group)
    return not near, -len(group), group


def _spared(
    group: Group, single: Group, tests: Sequence[tuple[str, str]], most: int
) -> tuple[str, ...]:
    """What it can do without: a source with its tests, or a file that has none; never so much that
    it would be the one with a single file."""
    if len(group) < LEAST_TO_SHARE:
        return ()
    units = {file: {file} for file in group}
    for one, other in tests:
        if one in units and other in units:
            joined = units[one] | units[other]
            units |= dict.fromkeys(joined, joined)
    for file in sorted(group, key=lambda file: (dirname(file) != dirname(single[0]), file)):
        unit = units[file]
        if len(group) - len(unit) >= 2 and len(unit) < most:
            return tuple(sorted(unit))
    return ()


def _words(used: Mapping[str, int]) -> str:
    said = [why for why in (TESTS, "imports", "changes in git", "folder") if used.get(why)]
    return " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:]))) or "their paths"
