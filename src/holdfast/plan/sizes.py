"""The size of a task: which files tell it, and its estimate.

Files that the plan lists for a task count, else the files and folders that its words name. A task
that finds something out or runs something is as large as what comes out, so the files in its words
do not tell its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import isdir, realpath

from holdfast.plan.estimates import estimate
from holdfast.plan.estimates.estimate import Past, TaskEstimate
from holdfast.plan.estimates.features import CHARS_PER_TOKEN, extract_task_features
from holdfast.plan.estimates.likeness import EstimateRequest
from holdfast.plan.files import project_files
from holdfast.plan.files.listing import list_files
from holdfast.plan.files.patterns import MARKS, Pattern
from holdfast.plan.kinds import is_a_search, runs_something
from holdfast.plan.named_paths import FILE, find_bare_names, find_files, find_paths
from holdfast.plan.task import PlanTask

DOCUMENTS = (".md", ".rst", ".txt", ".csv", ".json", ".svg")  # results are written to these
# Names with these endings are files even without a folder; `Node.js` and `click.core` are not.
ONLY_FILES = (*DOCUMENTS, ".toml", ".ini", ".cfg", ".yaml", ".yml", ".sql", ".sh", ".html", ".css")
WELL_KNOWN = {  # documents by the word for them: their names here, without a suffix
    "changelog": ("changelog", "changes", "history", "news"),
    "readme": ("readme",),
    "contributing": ("contributing",),
    "security": ("security",),
}
MOST_READ_TOKENS = 10_000  # of one file: larger ones are read in parts


@dataclass(frozen=True, slots=True)
class SizingFiles:
    """The files that tell the size of a task."""

    listed: int | None = None  # how many the plan lists; None if it lists none
    folders: int = 0
    named: tuple[str, ...] = ()  # in its words, if none are listed
    read: tuple[str, ...] = ()  # by name, listed or named: these have to be read


class TaskSizes:
    """Estimates the tasks of a plan. Many tasks of a long plan are alike, so those are estimated
    once."""

    def __init__(self, past: Past, root: Path) -> None:
        self._past, self._root = past, root
        self._known: dict[EstimateRequest, TaskEstimate] = {}
        self._in_texts: dict[str, SizingFiles] = {}

    def estimate(self, task: PlanTask) -> TaskEstimate:
        """How many tokens a task will take. An estimate in the plan wins."""
        if task.estimate_tokens is not None:
            return estimate.estimate_of_plan(task.estimate_tokens)
        files = self._files(task)
        asked = EstimateRequest(
            extract_task_features(task.title, task.words),
            files.listed,
            files.folders,
            len(files.named),
        )
        if asked not in self._known:
            self._known[asked] = estimate.estimate_request(asked, self._past)
        found = estimate.add_reading(self._known[asked], self._read_tokens(files.read))
        return replace(found, named_files=files.named)

    def _files(self, task: PlanTask) -> SizingFiles:
        if task.file_count is None and not task.folders:
            return self._in_words(task)
        if _lists_only_a_result(task) or _lists_what_it_runs(task, self._root):
            return SizingFiles()
        steps = (name for step in task.subtasks if not step.done for name in step.files)
        return SizingFiles(task.file_count, len(task.folders), read=(*task.files, *steps))

    def _in_words(self, task: PlanTask) -> SizingFiles:
        if is_a_search(task.title) or runs_something(task.title):
            return SizingFiles()
        steps = (step.words for step in task.subtasks if not step.done)
        text = "\n".join((task.words, *steps))
        if text not in self._in_texts:
            self._in_texts[text] = self._in_text(text)
        return self._in_texts[text]

    def _in_text(self, text: str) -> SizingFiles:
        if "everywhere" in text.lower():
            return SizingFiles()
        folders = [name for name in find_paths(text) if self._is_folder(name)]
        found = dict.fromkeys(self._files_in(text))
        whole = {PurePosixPath(name).name for name in found if "/" in name}
        files = tuple(name for name in found if name not in whole)
        if not folders:
            return SizingFiles(named=files, read=files)
        return SizingFiles(len(files) or None, len(folders), read=files)

    def _files_in(self, text: str) -> Iterator[str]:
        """The files in a text. A name without a folder is a file if the project has one of that
        name, or if its ending can be nothing else. The changelog is `CHANGELOG.md` or whatever it
        is called here."""
        for name in filter(FILE.fullmatch, find_paths(text)):
            plain = name.removeprefix("@")
            is_file = PurePosixPath(plain).suffix in ONLY_FILES
            if "/" in plain or plain in self._by_name or is_file:
                yield self._resolve(plain)
        for word in find_bare_names(text):
            known = self._documents.get(word.lower(), word)
            if ("/" in known or known[0].isupper()) and self._is_file(known):
                yield known

    def _resolve(self, name: str) -> str:
        """The file of the project that is meant; the end of its path is enough if one has it."""
        if "/" not in name:
            return self._by_name.get(name, name)
        alike = self._paths_by_name.get(PurePosixPath(name).name, ())
        ends = [path for path in alike if path == name or path.endswith(f"/{name}")]
        return name if name in ends or len(ends) != 1 else ends[0]

    def _is_file(self, name: str) -> bool:
        return bool(project_files.measure_files(self._root, [name]))

    def _is_folder(self, name: str) -> bool:
        folder = Pattern(name).folder if MARKS.intersection(name) else name
        path = project_files.resolve_inside(self._root, folder)
        return path is not None and path != Path(realpath(self._root)) and isdir(path)

    @cached_property
    def _by_name(self) -> dict[str, str]:
        """The path of each file of the project by its name alone; the name itself if there are
        several and none is at the top."""
        return {
            name: paths[0] if len(paths) == 1 else name
            for name, paths in self._paths_by_name.items()
        }

    @cached_property
    def _paths_by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._all:
            found.setdefault(PurePosixPath(path).name, []).append(path)
        return found

    @cached_property
    def _documents(self) -> dict[str, str]:
        """What the changelog, the readme and the like are called here."""
        stems = {path.partition(".")[0].lower(): path for path in self._all if "/" not in path}
        return {
            word: next(stems[name] for name in names if name in stems)
            for word, names in WELL_KNOWN.items()
            if not stems.keys().isdisjoint(names)
        }

    @cached_property
    def _all(self) -> list[str]:
        return list_files(realpath(self._root))

    def _read_tokens(self, files: Iterable[str]) -> int:
        """What it takes to read these files once, as far as they are there."""
        sizes = project_files.measure_files(self._root, files).values()
        return sum(min(size // CHARS_PER_TOKEN, MOST_READ_TOKENS) for size in sizes)


def _lists_only_a_result(task: PlanTask) -> bool:
    alone = len(task.files) == 1 and not task.folders and not task.subtasks
    return alone and is_a_search(task.title) and is_document(task.files[0])


def _lists_what_it_runs(task: PlanTask, root: Path) -> bool:
    """Whether it runs or measures files that are there. One that is not will be written."""
    if not task.files or task.subtasks or not runs_something(task.title):
        return False
    return project_files.MISSING not in find_odd_files(root, task).values()


def writes_documents(task: PlanTask) -> bool:
    """Whether all that it lists or names is documents."""
    files = task.files or tuple(find_files(task.title))
    return bool(files) and all(map(is_document, files))


def is_document(file: str) -> bool:
    return PurePosixPath(file).suffix in DOCUMENTS


def find_odd_files(root: Path, task: PlanTask) -> dict[str, str]:
    """Its files that are not there or outside the project, with which of the two it is."""
    return project_files.find_existing(root, [file for file in task.files if file not in task.held])
