"""The size of a task: which files tell it, its estimate, and when it shows only in the work."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from holdfast.plan.estimates import estimate
from holdfast.plan.estimates.estimate import OPEN_ENDED, Past, TaskEstimate
from holdfast.plan.estimates.features import (
    WordFeatures,
    begins_with_work,
    edits_what_it_names,
    extract_task_features,
    find_bare_names,
    is_a_search,
    is_open_ended,
    named_files,
    runs_something,
)
from holdfast.plan.estimates.likeness import EstimateRequest
from holdfast.plan.files import project_files
from holdfast.plan.task import PlanTask

DOCUMENTS = (".md", ".rst", ".txt", ".csv", ".json", ".svg")  # results are written to these


WELL_KNOWN = frozenset(("changelog", "readme", "contributing", "security"))
NOT_STATED = (None, 0)
_SUFFIX = re.compile(
    r"\.(?:md|rst|txt|csv|json|ya?ml|toml|cfg|ini|lock|xml|svg|html?|css|scss|[jt]sx?|mjs|vue|py|pyi|ipynb"
    r"|go|rs|java|kt|rb|php|swift|cs|c|h|cc|cpp|hpp|sql|sh|proto|tf|gradle|env)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TaskSizes:
    """Estimates the tasks of a plan. Many tasks of a long plan are alike, so those are estimated
    once. `open_ended`: the ids of tasks whose size shows only in the work."""

    past: Past
    root: Path
    open_ended: frozenset[str] = frozenset()
    _known: dict[tuple[WordFeatures, int | None, int], TaskEstimate] = field(default_factory=dict)
    _in_texts: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def estimate(self, task: PlanTask) -> TaskEstimate:
        """How many tokens a task will take. An estimate in the plan wins."""
        if task.estimate_tokens is not None:
            return estimate.estimate_of_plan(task.estimate_tokens)
        words = extract_task_features(task.title, task.words)
        counted = self.count_files(task)
        key = (words, *counted)
        if key not in self._known:
            self._known[key] = estimate.estimate_request(EstimateRequest(*key), self.past)
        found = self._known[key]
        if task.file_count is None and counted != NOT_STATED:
            found = replace(found, named_files=self._in_words(task))
        if not found.is_unknown or counted != NOT_STATED:
            return found
        is_open = task.spec in self.open_ended or is_open_ended(task.title)
        return replace(found, advice=OPEN_ENDED) if is_open else found

    def of_plan(self, tasks: Iterable[PlanTask]) -> TaskSizes:
        """These sizes, with the tasks that are open-ended: by their own words, or because they
        depend on one that is. What such a task will change is not known before that is done."""
        found: set[str] = set()
        for task in tasks:
            is_open = is_open_ended(task.title) or not found.isdisjoint(task.depends)
            if is_open and task.estimate_tokens is None and self.count_files(task) == NOT_STATED:
                found.add(task.id)
        return replace(self, open_ended=frozenset(found))

    def count_files(self, task: PlanTask) -> tuple[int | None, int]:
        """How many files and folders tell the size of a task; none if the plan does not say. A file
        that a search writes its result to, or that is only run, does not tell it."""
        if task.file_count is None and not task.folders:
            return len(self._in_words(task)) or None, 0
        if _lists_only_a_result(task) or _lists_what_it_runs(task, self.root):
            return NOT_STATED
        return task.file_count, len(task.folders)

    def _in_words(self, task: PlanTask) -> tuple[str, ...]:
        """The files in its words that tell its size: in the title, or in the text below a title
        that is only a name (`2. The parser`)."""
        is_name = not (named_files(task.title) or begins_with_work(task.title))
        is_name = is_name and bool(task.description) and not is_open_ended(task.title)
        text = task.description.replace("\n", " ") if is_name else task.title
        if text not in self._in_texts:
            self._in_texts[text] = tuple(sorted(_find_in_text(text, self.root)))
        return self._in_texts[text]


def _find_in_text(text: str, root: Path) -> set[str]:
    """The files in a text that edits what it names. A name without a suffix is a file if the
    project has it, or is the document of that name: the changelog is `CHANGELOG.md`. One without a
    folder is a file if it ends like one or is there: `click.core` is not."""
    if not edits_what_it_names(text):
        return set()
    words = find_bare_names(text)
    documents = [f"{word.upper()}.md" for word in words if word.lower() in WELL_KNOWN]
    bare = [word for word in words if "/" in word or word[0].isupper()]
    files = named_files(text)
    sure = {name for name in files if "/" in name or _SUFFIX.search(name)}
    unsure = [*bare, *documents, *(name for name in files if name not in sure)]
    return {*sure, *(project_files.measure_files(root, unsure) if unsure else ())}


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
    files = task.files or tuple(named_files(task.title))
    return bool(files) and all(map(is_document, files))


def is_document(file: str) -> bool:
    return PurePosixPath(file).suffix in DOCUMENTS


def find_odd_files(root: Path, task: PlanTask) -> dict[str, str]:
    """Its files that are not there or outside the project, with which of the two it is."""
    return project_files.find_existing(root, [file for file in task.files if file not in task.held])
