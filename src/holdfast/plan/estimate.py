"""How many tokens a task will take: a formula, corrected by what similar tasks used.

    (characters of its text / 4 + tokens of its files) x multiplier of its kind x correction

Without a correction the formula is too low: half of 1,233 requests in public sessions took less
than 2.7 times as much, eight in ten between 1.1 and 7.3 times (`python -m benchmarks.estimates`).
What similar tasks used on this machine replaces that, read from Claude Code's transcripts.
`plan/past.json` holds a row of numbers per request, and no word of a prompt; it can be made again.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path

import msgspec

from holdfast.client import claude_folder
from holdfast.plan.project_files import ProjectFiles
from holdfast.plan.task import PlanTask
from holdfast.record.model import TurnCall, TurnPart
from holdfast.record.stream import read_turns
from holdfast.text.numbers import Progress, counted, rounded, silent
from holdfast.transcript import Unreadable
from holdfast.wire import mark, places

CHARS_PER_TOKEN = 4
FILE_TOKENS = 2_000  # of a file that is not there yet
MOST_FILE_TOKENS = 10_000  # larger files are read in parts
ASSUMED_FILES = 3  # of a task that names none, and of a folder
LEAST_TOKENS = 2_000  # one percent of the smallest window
MOST_TOKENS = 1 << 40
MULTIPLIERS = {"refactor": 2.0, "implement": 1.5, "add": 1.2, "fix": 1.0, "update": 0.8}
GIVEN = "as given in the plan"
PUBLIC = (1.1, 2.7, 7.3)  # a tenth, half and nine tenths of public requests took less
PUBLIC_WORTH = 6  # they count as much as so many tasks on this machine
ALIKE = 2.0  # tasks of the same kind are similar up to this factor between their formulas
VERSION = 5
MOST_TRANSCRIPTS = 300  # the newest: 909 requests of 161 sessions were past enough
MOST_NEW_BYTES = 512 << 20  # read in one go; what is left is read the next time
MOST_BYTES = 16 << 20
MOST_REQUESTS = 2000
MOST_ROWS = 400  # of one session
FILE_TOOLS = frozenset({"Read", "Edit", "MultiEdit", "Write", "NotebookEdit"})
MOST_FILES = 1000  # of one request
REPORT_TOOL = "StructuredOutput"  # with it a session of a run ends
_KIND = re.compile(rf"\b({'|'.join(MULTIPLIERS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TaskEstimate:
    """The range holds eight in ten tasks; `inputs` shows the numbers that the estimate is made of.
    `is_unknown`: the plan names no file, so that a number of files was assumed."""

    tokens: int
    low_tokens: int
    high_tokens: int
    inputs: str
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class PastTask:
    """What a request used on this machine, and what the formula says of it."""

    multiplier: float
    formula_tokens: int
    used_tokens: int
    here: bool = False  # in this project


@dataclass(frozen=True, slots=True)
class Correction:
    """By how much similar tasks exceeded the formula: a tenth, half and nine tenths of them."""

    low: float
    middle: float
    high: float
    basis: str


@dataclass(frozen=True, slots=True)
class Past:
    """What tasks used on this machine. Corrections are worked out once for each size."""

    tasks: Sequence[PastTask] = ()
    _known: dict[tuple[float, int], Correction] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def correction(self, multiplier: float, formula_tokens: int) -> Correction:
        size = round(8 * log(max(1, formula_tokens)))
        key = (multiplier, size)
        if key not in self._known:
            self._known[key] = _correct(self._alike(multiplier, exp(size / 8)))
        return self._known[key]

    def _alike(self, multiplier: float, formula_tokens: float) -> list[PastTask]:
        low, high = formula_tokens / ALIKE, formula_tokens * ALIKE
        alike = [
            task
            for task in self.tasks
            if task.multiplier == multiplier and low <= task.formula_tokens <= high
        ]
        here = [task for task in alike if task.here]
        return here if len(here) >= PUBLIC_WORTH else alike


def _correct(alike: Sequence[PastTask]) -> Correction:
    """The quantiles of similar tasks, mixed with those of public sessions."""
    count = len(alike)
    logs = sorted(
        log(max(task.used_tokens, LEAST_TOKENS) / max(1, task.formula_tokens)) for task in alike
    )
    places = (count // 10, count // 2, count - 1 - count // 10)
    own = [logs[place] if logs else 0.0 for place in places]
    share = count / (count + PUBLIC_WORTH)
    mixed = (exp(share * a + (1 - share) * log(b)) for a, b in zip(own, PUBLIC, strict=True))
    low, middle, high = mixed
    basis = "as in public sessions"
    if count:
        where = "in this project" if all(task.here for task in alike) else "on this machine"
        basis = f"as {counted(count, 'similar task')} {where}"
    return Correction(low, middle, high, basis)


def find_kind(words: str) -> tuple[str, float]:
    """The word in the first line with the largest multiplier, and that; ("", 1.0) without one."""
    kinds = (kind.lower() for kind in _KIND.findall(words.partition("\n")[0]))
    kind = max(kinds, key=lambda name: MULTIPLIERS[name], default="")
    return kind, MULTIPLIERS.get(kind, 1.0)


def apply_formula(chars: int, file_tokens: int, multiplier: float) -> int:
    return int((chars // CHARS_PER_TOKEN + file_tokens) * multiplier)


def tokens_of_size(size: int | None) -> int:
    """What a file of so many bytes counts for; None: it is not there yet."""
    return FILE_TOKENS if size is None else min(MOST_FILE_TOKENS, size // CHARS_PER_TOKEN)


def estimate_of_plan(tokens: int, inputs: str = GIVEN) -> TaskEstimate:
    return TaskEstimate(tokens, tokens, tokens, inputs)


class Estimator:
    """Estimates tasks of one project."""

    def __init__(self, past: Past, root: Path) -> None:
        self._past, self._files = past, ProjectFiles(root)

    def estimate(self, task: PlanTask) -> TaskEstimate:
        if task.size_tokens is not None:
            return estimate_of_plan(task.size_tokens)
        words = "\n".join([task.words, *(step.words for step in task.open_subtasks)])
        kind, multiplier = find_kind(task.title)
        file_tokens, files = self._measure(task.all_paths)
        formula = apply_formula(len(words), file_tokens, multiplier)
        correction = self._past.correction(multiplier, formula)
        low, tokens, high = (
            min(MOST_TOKENS, max(LEAST_TOKENS, rounded(round(formula * factor))))
            for factor in (correction.low, correction.middle, correction.high)
        )
        text = f"{len(words) // CHARS_PER_TOKEN:,} for its text"
        named = f" ({kind})" if kind else ""
        inputs = (
            f"({text} + {file_tokens:,} for {files}) x {multiplier}{named}"
            f" x {correction.middle:.1f} ({correction.basis})"
        )
        if tokens == LEAST_TOKENS:
            inputs += f", at least {LEAST_TOKENS:,}"
        return TaskEstimate(tokens, low, high, inputs, is_unknown="assumed" in files)

    def _measure(self, paths: Sequence[str]) -> tuple[int, str]:
        """What the files count for, and how many there are of each kind."""
        folders = sum(self._files.is_folder(path) for path in paths)
        sizes = [self._files.size(path) for path in paths]
        new = sizes.count(None) - folders
        there = len(paths) - folders - new
        large = sum(
            size is not None and size > MOST_FILE_TOKENS * CHARS_PER_TOKEN for size in sizes
        )
        tokens = sum(tokens_of_size(size) for size in sizes) - folders * FILE_TOKENS
        assumed = ASSUMED_FILES * (folders or not paths)
        notes = [counted(there, "file")] if there else []
        notes += [f"{counted(new, 'file')} to create"] if new else []
        notes += [f"{counted(assumed, 'file')} in {counted(folders, 'folder')}"] if folders else []
        notes += [f"{counted(assumed, 'file')}, assumed"] if not paths else []
        words = ", ".join(notes)
        words += f" (of large ones {MOST_FILE_TOKENS:,})" if large else ""
        return tokens + assumed * FILE_TOKENS, words


@dataclass(slots=True)
class PastRequest:
    """A request: its text, its kind, its files, what it used."""

    chars: int
    multiplier: float
    files: dict[str, None] = field(default_factory=dict)
    used_tokens: int = 0
    answers: int = 0
    has_worked: bool = False  # with any tool


class SummedTranscript(msgspec.Struct, frozen=True):
    """Of one transcript: multiplier, tokens by the formula, tokens used of each request."""

    at: tuple[int, int]
    project: str
    rows: list[tuple[float, int, int]]


class PastIndex(msgspec.Struct, frozen=True):
    version: int
    transcripts: dict[str, SummedTranscript]


def learn(
    project: Path, projects: Path, most_new_bytes: int = MOST_NEW_BYTES, progress: Progress = silent
) -> Past:
    """Past requests of this machine, marked if of this project; `projects` holds transcripts."""
    stored = _load()
    sums: dict[str, SummedTranscript] = {}
    budget = most_new_bytes
    newest = _newest(projects)
    for number, (path, size, changed_ns) in enumerate(newest):
        progress("reading past sessions", number, len(newest))
        before = stored.get(str(path))
        if size <= budget and (before is None or before.at != (size, changed_ns)):
            budget -= size
            before = _summed_up(path, size, changed_ns)
        if before is not None:  # the rows from before are better than none
            sums[str(path)] = before
    if sums != stored:
        _save(sums)
    # this project's before others', newer sessions before older ones
    tasks = [
        PastTask(*row, _is_here(summed.project, project))
        for summed in sums.values()
        for row in summed.rows
    ]
    return Past(sorted(tasks, key=lambda task: not task.here)[:MOST_REQUESTS])


def _newest(projects: Path) -> list[tuple[Path, int, int]]:
    transcripts: list[tuple[Path, int, int]] = []
    for path in projects.glob("*/*.jsonl"):
        with suppress(OSError):
            stat = path.stat()
            transcripts.append((path, stat.st_size, stat.st_mtime_ns))
    return sorted(transcripts, key=lambda file: (-file[2], str(file[0])))[:MOST_TRANSCRIPTS]


def _summed_up(path: Path, size: int, changed_ns: int) -> SummedTranscript:
    rows: list[tuple[float, int, int]] = []
    with suppress(Unreadable):  # deleted meanwhile, or not a transcript: it has no rows
        # a talk is no task
        rows = [_row(used) for used in read_requests(read_turns(path)) if used.has_worked]
    return SummedTranscript((size, changed_ns), claude_folder.project_of(path), rows[-MOST_ROWS:])


def _row(used: PastRequest) -> tuple[float, int, int]:
    """Files count with their size of today."""
    file_tokens = sum(tokens_of_size(_size(file)) for file in used.files)
    file_tokens = file_tokens or ASSUMED_FILES * FILE_TOKENS
    formula = apply_formula(used.chars, file_tokens, used.multiplier)
    return used.multiplier, formula, used.used_tokens


def _size(file: str) -> int | None:
    with suppress(OSError, ValueError):
        return Path(file).stat().st_size
    return None


def _is_here(where: str, project: Path) -> bool:
    if not where.startswith("/"):
        return False
    folder = Path(where)
    return folder.is_relative_to(project) or project.is_relative_to(folder)


def learned_file() -> str:
    return f"{places.home()}/plan/past.json"


def _load() -> dict[str, SummedTranscript]:
    try:
        index = msgspec.json.decode(places.read_small(learned_file(), MOST_BYTES), type=PastIndex)
    except (ValueError, RecursionError):
        return {}
    return index.transcripts if index.version == VERSION else {}


def _save(sums: dict[str, SummedTranscript]) -> None:
    """Save the index. If it cannot be written, the next plan reads the transcripts again."""
    with suppress(OSError):
        places.make_folder(f"{places.home()}/plan")
        places.replace_whole(learned_file(), msgspec.json.encode(PastIndex(VERSION, sums)))


def read_requests(parts: Iterable[TurnPart]) -> Iterator[PastRequest]:
    """Every answered request of a session that has ended or come to rest, in order. The first
    answer in a window counts with its words: what else it was sent is not the request's."""
    number, last, is_running = 0, 0, False
    request: PastRequest | None = None
    for part in parts:
        if part.turn != number:
            if request and request.answers:
                yield request
            number = part.turn
            request = PastRequest(len(part.asked), find_kind(part.asked)[1]) if part.asked else None
        for step in part.steps:
            if request and step.used_tokens:
                grown = step.used_tokens - last
                words = int((step.chars + request.chars * (not last)) / mark.CHARS_PER_TOKEN)
                request.used_tokens += grown if last and grown > 0 else words
                request.answers += 1
            last = step.used_tokens or last
        if request:
            _take_files(request, part.calls)
            is_running = any(call.tool != REPORT_TOOL for call in part.after.record.calls.values())
    if request and request.answers and not is_running:
        yield request


def _take_files(request: PastRequest, calls: Iterable[TurnCall]) -> None:
    for call in calls:
        path = call.input.get("file_path") or call.input.get("notebook_path")
        request.has_worked = True
        if call.tool in FILE_TOOLS and isinstance(path, str) and len(request.files) < MOST_FILES:
            request.files[path] = None
