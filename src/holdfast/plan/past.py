"""What requests really used on this machine: how much the window grew from one prompt to the next.

Claude Code's transcripts are the truth. `plan/past.json` holds, for each, its size and time and a
row of numbers per request, so that each is read only once. If it is lost, broken or of another
version, it is made again. No word of a prompt is stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.client import limit_settings
from holdfast.plan.estimate import (
    ASSUMED_FILES,
    FILE_TOKENS,
    Past,
    PastTask,
    apply_formula,
    find_kind,
    tokens_of_size,
)
from holdfast.record.user_input import is_of_a_run, split_tasks
from holdfast.text.numbers import Progress, silent
from holdfast.transcript import Unreadable
from holdfast.transcript.blocks import ToolUse
from holdfast.transcript.entries import Boundary, Prompt, Summary
from holdfast.transcript.reader import read
from holdfast.transcript.steps import Follower, Operation, operations
from holdfast.transcript.user_words import find_words
from holdfast.window import history
from holdfast.wire import mark, places

VERSION = 4
MOST_TRANSCRIPTS = 300  # the newest: 909 requests of 161 sessions were past enough
MOST_NEW_BYTES = 512 << 20  # read in one go; what is left is read the next time
MOST_BYTES = 16 << 20
MOST_REQUESTS = 2000
MOST_ROWS = 400  # of one session
FIELDS = 3  # multiplier, tokens by the formula, tokens used
FILE_TOOLS = frozenset({"Read", "Edit", "MultiEdit", "Write", "NotebookEdit"})
MOST_FILES = 1000  # of one request
REPORT_TOOL = "StructuredOutput"  # with it a session of a run ends


@dataclass(slots=True)
class PastRequest:
    """A request: its text, the files that it read or changed, and what it used. A session of a run
    is one with several tasks; what it used is shared by them."""

    chars: int
    multipliers: tuple[float, ...]  # of its tasks; one for a request that was typed
    files: dict[str, None] = field(default_factory=dict)
    used_tokens: int = 0
    answers: int = 0
    is_of_a_run: bool = False
    is_running: bool = False  # its last answer called a tool


def learn(
    project: Path, projects: Path, most_new_bytes: int = MOST_NEW_BYTES, progress: Progress = silent
) -> Past:
    """The past requests of this machine, marked if of this project. `projects` is Claude Code's
    folder of transcripts."""
    stored = _load()
    sums: dict[str, Any] = {}
    budget = most_new_bytes
    newest = _newest(projects)
    for at, (path, size, changed_ns) in enumerate(newest):
        progress("reading past sessions", at, len(newest))
        before = stored.get(str(path))
        if isinstance(before, dict) and before.get("at") == [size, changed_ns]:
            sums[str(path)] = before
        elif size <= budget:
            budget -= size
            sums[str(path)] = _summed_up(path, size, changed_ns)
        elif isinstance(before, dict):
            sums[str(path)] = before  # the rows from before are better than none
    if sums != stored:
        _save(sums)
    tasks = [task for summed in sums.values() for task in _tasks(summed, project)]
    # this project's before others', newer sessions before older ones
    return Past(sorted(tasks, key=lambda task: not task.here)[:MOST_REQUESTS])


def _tasks(summed: dict[str, Any], project: Path) -> Iterator[PastTask]:
    here = _is_here(str(summed.get("project") or ""), project)
    rows = summed.get("rows")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, list) and len(row) == FIELDS and all(map(_is_number, row)):
            multiplier, formula_tokens, used_tokens = row
            yield PastTask(multiplier, formula_tokens, used_tokens, here)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < 1 << 53


def _newest(projects: Path) -> list[tuple[Path, int, int]]:
    """The newest transcripts: one folder per project, one file per session."""
    transcripts: list[tuple[Path, int, int]] = []
    for path in projects.glob("*/*.jsonl"):
        with suppress(OSError):
            stat = path.stat()
            transcripts.append((path, stat.st_size, stat.st_mtime_ns))
    return sorted(transcripts, key=lambda file: (-file[2], str(file[0])))[:MOST_TRANSCRIPTS]


def _summed_up(path: Path, size: int, changed_ns: int) -> dict[str, Any]:
    rows: list[list[float]] = []
    with suppress(Unreadable):  # deleted meanwhile, or not a transcript: it has no rows
        rows = [row for used in read_requests(operations(read(path))) for row in _rows(used)]
    return {
        "at": [size, changed_ns],
        "project": limit_settings.project_of(path),
        "rows": rows[-MOST_ROWS:],
    }


def _rows(used: PastRequest) -> Iterator[list[float]]:
    """A row for each task; none for a request that touched no file, which is a talk. The files
    count with their size of today: it is not known what it was."""
    count = len(used.multipliers)
    file_tokens = sum(tokens_of_size(_size(file)) for file in used.files)
    if used.is_of_a_run and not used.files:
        file_tokens = count * ASSUMED_FILES * FILE_TOKENS
    if not file_tokens:
        return
    for multiplier in used.multipliers:
        formula = apply_formula(used.chars // count, file_tokens // count, multiplier)
        yield [multiplier, formula, used.used_tokens // count]


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
    return os.path.join(places.home(), "plan", "past.json")  # noqa: PTH118 (as `places` has it)


def _load() -> dict[str, Any]:
    try:
        value = json.loads(places.read_small(learned_file(), MOST_BYTES) or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or value.get("version") != VERSION:
        return {}
    files = value.get("transcripts")
    return files if isinstance(files, dict) else {}


def _save(sums: dict[str, Any]) -> None:
    """Save the index. If it cannot be written, the next plan reads the transcripts again."""
    data = json.dumps({"version": VERSION, "transcripts": sums}, separators=(",", ":")).encode()
    with suppress(OSError):
        Path(learned_file()).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        places.replace_whole(learned_file(), data)


def read_requests(items: Iterable[Operation | Boundary | Summary]) -> Iterator[PastRequest]:
    """Every answered request of a session that has ended or come to rest, in order."""
    last: int | None = None  # what the newest answer left in the window
    request: PastRequest | None = None
    for item in items:
        if isinstance(item, Boundary) and item.resets_window:
            last = None
        if not isinstance(item, Operation):
            continue
        for prompt in _prompts(item.before):
            if request and request.answers:
                yield request
            request = prompt
        total = history.total_tokens(item, mark.CHARS_PER_TOKEN)
        if item.usage.total_tokens:
            grown = max(0, total - _start(item, total, last))
            last = total
            if request:
                request.used_tokens += grown
                request.answers += 1
        if request:
            _take_calls(request, item)
        for prompt in _prompts(item.after):
            if request and request.answers:
                yield request
            request = prompt
    if request and request.answers and not request.is_running:
        yield request


def _start(operation: Operation, total: int, last: int | None) -> int:
    """What was in the window before an answer. If the window shrank since the last one (cleared
    results, dropped thinking of earlier turns), that is what the answer was asked with."""
    sent = operation.usage.input_side_tokens
    if last is None:
        typed = sum(len(entry.text) for entry in operation.before if isinstance(entry, Prompt))
        return max(0, sent - int(typed / mark.CHARS_PER_TOKEN))
    return last if total >= last else min(sent, total)


def _prompts(followers: Iterable[Follower]) -> Iterator[PastRequest]:
    for entry in followers:
        if isinstance(entry, Prompt) and not entry.is_meta:
            typed = find_words(entry.texts, entry.line.author).typed
            if typed:
                yield _request(typed)


def _request(typed: str) -> PastRequest:
    if not is_of_a_run(typed):
        return PastRequest(len(typed), (find_kind(typed)[1],))
    tasks = split_tasks(typed)
    chars = sum(len(title) + len(body) for _, title, body in tasks)
    return PastRequest(chars, tuple(find_kind(title)[1] for _, title, _ in tasks), is_of_a_run=True)


def _take_calls(request: PastRequest, operation: Operation) -> None:
    calls = [block for block in operation.blocks if isinstance(block, ToolUse)]
    request.is_running = any(call.name != REPORT_TOOL for call in calls)
    for call in calls:
        path = call.input.get("file_path") or call.input.get("notebook_path")
        if call.name in FILE_TOOLS and isinstance(path, str) and len(request.files) < MOST_FILES:
            request.files[path] = None
