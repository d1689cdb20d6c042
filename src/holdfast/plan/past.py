"""What requests really used on this machine, stored as numbers so that each is read only once.

Claude Code's transcripts are the truth. `plan/past.json` holds, for each, its size and time and a
row of numbers per request. If it is lost, broken or of another version, it is made again. No word
of a prompt is stored.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from holdfast.client import limit_settings
from holdfast.plan.estimate import (
    ASSUMED_FILES,
    FILE_TOKENS,
    Past,
    PastTask,
    apply_formula,
    tokens_of_size,
)
from holdfast.plan.past_requests import PastRequest, read_requests
from holdfast.text.numbers import Progress, silent
from holdfast.transcript import Unreadable
from holdfast.transcript.reader import read
from holdfast.transcript.steps import operations
from holdfast.wire import places

VERSION = 4
MOST_TRANSCRIPTS = 300  # the newest: 909 requests of 161 sessions were past enough
MOST_NEW_BYTES = 512 << 20  # read in one go; what is left is read the next time
MOST_BYTES = 16 << 20
MOST_REQUESTS = 2000
MOST_ROWS = 400  # of one session
FIELDS = 3  # multiplier, tokens by the formula, tokens used


def learn(
    project: Path,
    projects: Path,
    most_new_bytes: int = MOST_NEW_BYTES,
    progress: Progress = silent,
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
