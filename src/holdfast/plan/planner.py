"""From a plan to its workflow: estimate every task, cut what does not fit, batch the pieces.

Tasks keep the order of the file; only phases and `depends` change it. A batch closes when the next
piece does not fit. A task that does not fit is cut along its subtasks, else into groups of files
that belong together. One that has none of these, or that the plan keeps whole (`split: no`), stays
whole, with a warning.

Files belong together by imports, then by changes made together in git, and by a common folder;
groups that are still small then join in the order of their paths. Imports of Python, JavaScript and
TypeScript are read line by line; a line of a text may then tie two files, no more.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from heapq import heapify, heappop, heappush
from itertools import combinations, pairwise
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath

from holdfast.files.git import LOG_SAFE, run_git
from holdfast.plan import project_files
from holdfast.plan.estimate import Estimator, Past, TaskEstimate, estimate_of_plan
from holdfast.plan.load import rank
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import PlanTask, TaskPlan, digest
from holdfast.plan.workflow import TaskBatch, TaskPiece, Workflow
from holdfast.text.numbers import Progress, listed, named, short, silent, step_of

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
    sources = project_files.read_sources(
        root, [file for file in files if file.endswith((*PYTHON, *SCRIPTS))]
    )
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
    printed = run_git(str(root), *words, seconds=project_files.GIT_SECONDS) or b""
    commits, wanted = printed.decode("utf-8", "replace").split("\x01"), set(files)
    return [{name.strip("\n") for name in commit.split("\0")} & wanted for commit in commits]


MOST_NAMED = 12
TITLE_CHARS = 60
Pieces = list[TaskPiece]
SHARE = "its share of what the plan gives"
Estimate = Callable[[PlanTask], TaskEstimate]
Grouper = Callable[[tuple[str, ...], int], FileGroups]


def make_workflow(
    plan: TaskPlan,
    room: PlanRoom,
    past: Past,
    root: Path,
    progress: Progress = silent,
    side_by_side: bool = False,
) -> Workflow:
    """The workflow of the open tasks. `side_by_side`: those with [P] get own batches."""
    open_ = order_tasks([task for task in plan.tasks if not task.done])
    estimate = Estimator(past, root).estimate
    groups = cache(partial(group_files, root))  # many tasks of a plan name the same files
    parts: dict[str, Pieces] = {}
    for at, task in enumerate(open_):
        progress("estimating tasks", at, len(open_))
        parts[task.id] = split_task(task, room.fresh_tokens, estimate, groups)
    pieces = list(_waiting(open_, parts))
    batches = tuple(_batches(pieces, room, side_by_side))
    return Workflow(
        title=plan.title,
        room=room,
        batches=batches,
        done=tuple(task.id for task in plan.tasks if task.done),
        warnings=(*plan.notes, *_notes(open_, batches, root)),
        past_tasks=len(past.tasks),
    )


def order_tasks(tasks: Sequence[PlanTask]) -> list[PlanTask]:
    """The tasks by phase and place; one that depends on a later task comes right after it."""
    listed_ = sorted(tasks, key=rank)
    place = {task.id: at for at, task in enumerate(listed_)}
    waits = [len({name for name in task.depends if name in place}) for task in listed_]
    freed: dict[int, list[int]] = {}
    for at, task in enumerate(listed_):
        for name in {name for name in task.depends if name in place}:
            freed.setdefault(place[name], []).append(at)
    ready = [at for at, count in enumerate(waits) if not count]
    heapify(ready)
    ordered: list[PlanTask] = []
    while ready:
        at = heappop(ready)
        ordered.append(listed_[at])
        for later in freed.get(at, ()):
            waits[later] -= 1
            if not waits[later]:
                heappush(ready, later)
    return ordered


def _waiting(tasks: Sequence[PlanTask], parts: dict[str, Pieces]) -> Iterator[TaskPiece]:
    """Every part waits for all parts of the tasks that its task depends on, except done ones."""
    ends = {name: tuple(piece.task.id for piece in pieces) for name, pieces in parts.items()}
    for task in tasks:
        before = [end for name in task.depends for end in ends.get(name, ())]
        own = set(ends[task.id])
        for piece in parts[task.id]:
            steps = [name for name in piece.task.depends if name in own]
            waits = tuple(dict.fromkeys([*before, *steps]))
            same = waits == piece.task.depends
            yield piece if same else replace(piece, task=replace(piece.task, depends=waits))


def _batches(
    pieces: Iterable[TaskPiece], room: PlanRoom, side_by_side: bool
) -> Iterator[TaskBatch]:
    """Next fit, for fresh windows; the first may go into the session at work."""
    chosen: Pieces = []
    is_first = True
    for piece in pieces:
        if chosen and not _joins(chosen, piece, room, side_by_side):
            yield _batch(chosen, room, is_first, side_by_side)
            chosen, is_first = [], False
        chosen.append(piece)
    if chosen:
        yield _batch(chosen, room, is_first, side_by_side)


def _joins(
    chosen: Sequence[TaskPiece], piece: TaskPiece, room: PlanRoom, side_by_side: bool
) -> bool:
    """Whether a piece goes into the same batch: it fits, and the phase and limits allow it."""
    tokens = sum(other.estimate.tokens for other in chosen) + piece.estimate.tokens
    tasks = {other.task.spec for other in (*chosen, piece)}
    if tokens > room.fresh_tokens or len(tasks) > room.specs:
        return False
    if chosen[0].task.phase != piece.task.phase:
        return False
    if not side_by_side or not (chosen[0].task.parallel or piece.task.parallel):
        return True
    return chosen[0].task.parallel and _runs_beside(chosen, piece)


def _runs_beside(chosen: Sequence[TaskPiece], piece: TaskPiece) -> bool:
    """Whether a piece may run beside: marked, same heading, no waiting, no shared file."""
    if not piece.task.parallel or piece.task.section != chosen[0].task.section:
        return False
    names = {other.task.id for other in chosen}
    paths = {path for other in chosen for path in other.task.all_paths}
    return names.isdisjoint(piece.task.depends) and paths.isdisjoint(piece.task.all_paths)


def _batch(chosen: Pieces, room: PlanRoom, is_first: bool, side_by_side: bool) -> TaskBatch:
    """If the current session has less room than a fresh one, the upper end of a batch must fit."""
    parallel = side_by_side and len(chosen) > 1 and all(piece.task.parallel for piece in chosen)
    fresh = TaskBatch(tuple(chosen), room.fresh_tokens, fresh=True, parallel=parallel)
    upper = fresh.tokens if room.now_tokens >= room.fresh_tokens else fresh.high_tokens
    if is_first and room.here and upper <= room.now_tokens:
        return replace(fresh, room_tokens=room.now_tokens, fresh=False)
    return fresh


def _notes(tasks: Sequence[PlanTask], batches: Sequence[TaskBatch], root: Path) -> Iterator[str]:
    """What the user should know before the plan is run."""
    for piece in (piece for batch in batches for piece in batch.pieces):
        if piece.warning:
            yield f'"{short(named(piece.task.shown), TITLE_CHARS)}": {piece.warning}'
    paths = [path for task in tasks for path in task.all_paths]
    for why, files in (
        ("not there yet, so taken as files to create", project_files.find_missing(root, paths)),
        (project_files.OUTSIDE, project_files.find_outside(root, paths)),
    ):
        if files:
            yield f"{why}: {listed([named(file) for file in files], MOST_NAMED)}"


def split_task(
    task: PlanTask, room_tokens: int, estimate: Estimate, groups: Grouper
) -> list[TaskPiece]:
    """Pieces of at most `room_tokens` each, if there is a way to cut the task."""
    size = estimate(task)
    if size.tokens <= room_tokens:
        return [TaskPiece(task, size)]
    if not task.whole and task.open_subtasks:
        return list(_steps(task, room_tokens, estimate, groups))
    if not task.whole and len(task.paths) > 1:
        return _parts(task, room_tokens, estimate, groups)
    return [TaskPiece(task, size, warning=_too_large(size, room_tokens, _why_whole(task)))]


def _why_whole(task: PlanTask) -> str:
    if task.whole:
        return "the plan says `split: no`"
    names = "only one file and no subtasks" if task.paths else "neither subtasks nor files"
    return f"it names {names} to cut it by"


def _steps(
    task: PlanTask, room_tokens: int, estimate: Estimate, groups: Grouper
) -> Iterator[TaskPiece]:
    """The steps as pieces, in their order: each waits for all pieces of the open step before."""
    before: tuple[str, ...] = ()
    share = _share_of_a_step(task)
    for step in task.open_subtasks:
        takes_share = step.size_tokens is None and share is not None
        sized = replace(step, size_tokens=share) if takes_share else step
        pieces = split_task(sized, room_tokens, estimate, groups)
        if takes_share:
            pieces = [
                replace(part, estimate=replace(part.estimate, inputs=SHARE)) for part in pieces
            ]
        for piece in pieces:
            waiting = replace(piece.task, depends=before, phase=task.phase, parallel=False)
            cut = piece.cut or step_of(task.title)
            yield replace(piece, task=waiting, cut=cut, of=task)
        before = tuple(piece.task.id for piece in pieces)


def _share_of_a_step(task: PlanTask) -> int | None:
    """The size of the task, less that of other steps, for each step without one; None: no rest."""
    given = [step.size_tokens for step in task.subtasks if step.size_tokens is not None]
    rest, takers = (task.size_tokens or 0) - sum(given), len(task.subtasks) - len(given)
    return -(-rest // takers) if rest > 0 and takers else None


def _parts(
    task: PlanTask, room_tokens: int, estimate: Estimate, groups: Grouper
) -> list[TaskPiece]:
    if task.size_tokens is not None:
        estimate = _share_equally(task, task.size_tokens)
    grouped = _fitting_groups(task, room_tokens, estimate, groups)
    pieces = []
    for at, paths in enumerate(grouped.groups, 1):
        part = _part(task, paths, f"{at} of {len(grouped.groups)}")
        size = estimate(part)
        warning = ""
        if size.tokens > room_tokens:
            warning = _too_large(size, room_tokens, "it cannot be cut further")
        pieces.append(TaskPiece(part, size, f"grouped by {grouped.why}", warning))
    return pieces


def _fitting_groups(
    task: PlanTask, room_tokens: int, estimate: Estimate, groups: Grouper
) -> FileGroups:
    """Groups that fit. Files differ in size, so that fewer of them may fit than in the middle."""
    most = max(1, len(task.paths) * room_tokens // estimate(task).tokens)
    while True:
        grouped = groups(task.paths, most)
        sizes = (estimate(replace(task, paths=paths)).tokens for paths in grouped.groups)
        if most == 1 or max(sizes) <= room_tokens:
            return grouped
        most = max(1, most * 3 // 4)


def _share_equally(task: PlanTask, size_tokens: int) -> Estimate:
    """Divides the plan's number for the task equally among its files."""
    return lambda part: estimate_of_plan(
        -(-size_tokens * len(part.paths) // len(task.paths)), SHARE
    )


def _part(task: PlanTask, paths: tuple[str, ...], part: str) -> PlanTask:
    """A part with these files. Its id is made from them, so it stays when other tasks change."""
    name = f"{task.id}/{digest(list(paths))[:10]}"
    part = "" if part == "1 of 1" else part
    return replace(task, id=name, part=part, files=paths, paths=paths)


def _too_large(size: TaskEstimate, room_tokens: int, why: str) -> str:
    return f"about {size.tokens:,} tokens do not fit into {room_tokens:,}, and {why}"
