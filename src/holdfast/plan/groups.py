"""Files that belong together, in groups of a limited size.

The strongest ties come first: imports, then changes made together in git, and a common folder.
Groups that are still small then join in the order of their paths. Imports of Python, JavaScript and
TypeScript are read line by line; a line of a text may then tie two files, no more.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath

from holdfast.files.git import LOG_SAFE, run_git
from holdfast.plan.project_files import GIT_SECONDS, read_sources

PYTHON = (".py", ".pyi")
SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs")
IMPORT_TIE = 2.0  # stronger than any history: 1.0 is "always changed together"
IMPORTS, CHANGES, FOLDER = "imports", "changes in git", "folder"
MOST_COMMITS = 400
MOST_FILES = 500  # that git is asked about in one go
WIDE = 30  # a commit of more files tells nothing about two of them
LEAST_TIMES = 2
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)", re.MULTILINE)
_MODULE = re.compile(r"(?:\bfrom|\bimport|\brequire)[ \t]*\(?[ \t]*['\"]([^'\"\n]+)['\"]")
_WORD = re.compile(r"[A-Za-z_]\w*")
Group = tuple[str, ...]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class FileGroups:
    groups: tuple[Group, ...]
    why: str


def group_files(root: Path, files: Sequence[str], most: int) -> FileGroups:
    """Groups of at most `most` files, of similar size; every file is in one of them."""
    count = max(1, -(-len(files) // max(1, most)))
    joined = _JoinedFiles(files, -(-len(files) // count))
    used = Counter(why for pair, why in find_ties(root, files) if joined.join(*pair))
    for limit in (-(-len(files) // count), max(1, most)):
        joined.fill_up(limit)
    whys = [why for why in (IMPORTS, CHANGES, FOLDER) if used[why]]
    words = " and ".join(filter(None, (", ".join(whys[:-1]), *whys[-1:])))
    return FileGroups(joined.groups(), words or "their paths")


def find_ties(root: Path, files: Sequence[str]) -> list[tuple[Pair, str]]:
    """Pairs of files and why they belong together, the strongest first, equal ones by name."""
    ties: defaultdict[Pair, dict[str, float]] = defaultdict(dict)
    sources = read_sources(root, [file for file in files if file.endswith((*PYTHON, *SCRIPTS))])
    for left, right in find_imports(sources):
        ties[min(left, right), max(left, right)][IMPORTS] = IMPORT_TIE
    for pair, share in find_changed_together(root, files).items():
        ties[pair][CHANGES] = share
    ordered = sorted(ties.items(), key=lambda tie: (-sum(tie[1].values()), tie[0]))
    strongest = [(pair, max(whys, key=whys.__getitem__)) for pair, whys in ordered]
    return [*strongest, *((pair, FOLDER) for pair in _find_neighbours(files))]


def _find_neighbours(files: Sequence[str]) -> Iterator[Pair]:
    """Files of a folder, each with the next one by name."""
    by_folder: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(files):
        by_folder[dirname(file)].append(file)
    for folder in sorted(by_folder):
        yield from pairwise(by_folder[folder])


class _JoinedFiles:
    def __init__(self, files: Sequence[str], most: int) -> None:
        self._most = most
        self._group: dict[str, list[str]] = {file: [file] for file in files}

    def join(self, file: str, other: str) -> bool:
        """Join the groups of two files; false if the result would be too large."""
        left, right = self._group[file], self._group[other]
        if left is right or len(left) + len(right) > self._most:
            return False
        left += right
        self._group.update(dict.fromkeys(right, left))
        return True

    def fill_up(self, most: int) -> None:
        """Join groups that are neighbours in the order of paths, while they fit."""
        self._most = most
        for left, right in pairwise([group[0] for group in self.groups()]):
            self.join(left, right)

    def groups(self) -> tuple[Group, ...]:
        distinct = {id(group): group for group in self._group.values()}.values()
        return tuple(sorted(tuple(sorted(group)) for group in distinct))


def find_imports(sources: Mapping[str, bytes]) -> Iterator[Pair]:
    """(importer, imported), both among the given files."""
    files = _by_module(sources)
    for name, source in sources.items():
        text = source.decode("utf-8", "replace")
        find = _python_modules if name.endswith(PYTHON) else _script_modules
        targets = {files.get(path, "") for path in find(dirname(name), text)}
        yield from ((name, target) for target in sorted(targets - {"", name}))


def _by_module(names: Mapping[str, bytes]) -> dict[str, str]:
    """Files by path without suffix, and by its ends of two parts or more: `shop/cart`."""
    modules: dict[str, str] = {}
    for name in sorted(names):
        path = PurePosixPath(name).with_suffix("")
        parts = (path.parent if path.name in ("__init__", "index") else path).parts
        for start in range(max(1, len(parts) - 1)):
            modules.setdefault("/".join(parts[start:]), name)
    return modules


def _python_modules(folder: str, text: str) -> Iterator[str]:
    """What a file imports, as paths: also of neighbours, because scripts import those."""
    listed = [name.split() for names in _IMPORT.findall(text) for name in names.split(",")]
    dotted = [words[0] for words in listed if words]
    for dots, module, names in _FROM.findall(text):
        members = [module, *(f"{module}.{name}" for name in _WORD.findall(names))]
        if dots:
            above = normpath(join(folder, *[".."] * (len(dots) - 1)))
            yield from (
                normpath(join(above, name.strip(".").replace(".", "/"))) for name in members
            )
        else:
            dotted += members
    for name in dotted:
        path = name.replace(".", "/")
        yield from (path, join(folder, path))


def _script_modules(folder: str, text: str) -> Iterator[str]:
    """What a file imports, as paths. `@/` and `~/` are the top of the sources: any folder above."""
    for name in _MODULE.findall(text):
        path = name.removesuffix(PurePosixPath(name).suffix) if name.endswith(SCRIPTS) else name
        if path.startswith("."):
            yield normpath(join(folder, path))
        elif path.startswith(("@/", "~/")):
            tops = [PurePosixPath(folder), *PurePosixPath(folder).parents]
            yield from (normpath(join(top, path[2:])) for top in tops)


def find_changed_together(root: Path, files: Sequence[str]) -> dict[Pair, float]:
    """For each two files, in which share of the rarer one's commits both changed; at least two."""
    # For a file outside the repository git fails, also for the other files of the question.
    asked = [file for file in files if not file.startswith(("/", "../"))][:MOST_FILES]
    commits = _commits(root, asked) if len(asked) > 1 else []
    alone = Counter(file for commit in commits for file in commit)
    both: Counter[Pair] = Counter()
    for commit in commits:
        if len(commit) <= WIDE:
            both.update(combinations(sorted(commit), 2))
    return {
        pair: times / min(alone[file] for file in pair)
        for pair, times in sorted(both.items())
        if times >= LEAST_TIMES
    }


def _commits(root: Path, files: Sequence[str]) -> list[set[str]]:
    """For each commit, which of these files it changed; none if there is no history."""
    words = ["log", f"-n{MOST_COMMITS}", "--no-merges", *LOG_SAFE, "--relative", "--name-only"]
    words += ["-z", "--format=%x01", "--", *files]
    printed = run_git(str(root), *words, seconds=GIT_SECONDS) or b""
    commits, wanted = printed.decode("utf-8", "replace").split("\x01"), set(files)
    return [{name.strip("\n") for name in commit.split("\0")} & wanted for commit in commits]
