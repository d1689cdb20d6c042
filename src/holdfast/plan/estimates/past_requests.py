"""What past requests used: how much the window grew between one prompt and the next.

Only numbers are stored, never words. Growth comes from the usage in the answers: the last total
less the total at the start. If the window shrank in between (a compaction, cleared results, dropped
thinking of earlier turns) a new piece starts, and the pieces are summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from holdfast.plan.estimates import past_runs
from holdfast.plan.estimates.features import WordFeatures, extract_features
from holdfast.record.run_prompt import is_of_a_run
from holdfast.transcript.blocks import ToolUse
from holdfast.transcript.entries import Attachment, Boundary, Prompt, Summary
from holdfast.transcript.steps import Follower, Operation
from holdfast.transcript.user_words import find_words
from holdfast.window import history
from holdfast.wire import mark

FILE_TOOLS = frozenset({"Read", "Edit", "MultiEdit", "Write", "NotebookEdit"})
_MODES = {"EnterPlanMode": True, "ExitPlanMode": False}
_NOTES = {"plan_mode": True, "plan_mode_reentry": True, "plan_mode_exit": False}
CHARS_PER_TOKEN = mark.CHARS_PER_TOKEN
MOST_FILES = 1000  # more are not counted


@dataclass(frozen=True, slots=True)
class PastRequest:
    """One past request: what was known when it was typed, and what it used."""

    words: WordFeatures
    position: int  # requests before it in its session
    fill_tokens: int
    planning: bool
    earlier_tokens: int  # median growth of the requests before it; 0: there were none
    touched: int  # files read or changed
    growth_tokens: int
    ran: bool = False  # a task that `holdfast run` gave to a session of its own, done
    listed: int = 0  # files its plan listed


@dataclass(slots=True)
class _Open:
    words: WordFeatures
    planning: bool
    fill_tokens: int
    tasks: list[past_runs.PromptTask] | None = None  # of a prompt that a run wrote
    growth_tokens: int = 0
    answers: int = 0
    came_to_rest: bool = False
    called: bool = False  # its last answer called a tool
    files: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Fold:
    """The request being read, and where its current piece of growth started."""

    start: int | None = None
    last: int | None = None
    planning: bool = False
    open: _Open | None = None
    grown: list[int] = field(default_factory=list)

    def prompt(self, prompt: Prompt) -> list[PastRequest]:
        words = "" if prompt.is_meta else find_words(prompt.texts, prompt.line.author).typed
        if not words:
            return []
        done = self.close()
        if prompt.line.permission_mode:
            self.planning = prompt.line.permission_mode == "plan"
        tasks = past_runs.parse_tasks(words) if is_of_a_run(words) else None
        self.open = _Open(extract_features(words), self.planning, self.last or 0, tasks)
        return done

    def close(self) -> list[PastRequest]:
        """End the request and return it; empty for one without an answer, whose use is unknown."""
        found, self.open = self.open, None
        if found is None or not found.answers:
            return []
        self._piece(found)
        self.start = self.last
        used = PastRequest(
            found.words,
            len(self.grown),
            found.fill_tokens,
            found.planning,
            sorted(self.grown)[len(self.grown) // 2] if self.grown else 0,
            len(found.files),
            found.growth_tokens,
        )
        self.grown.append(used.growth_tokens)
        return [used] if found.tasks is None else list(_tasks(found, used))

    def freed(self) -> None:
        """After a compaction: what was added so far is one piece."""
        if self.open is not None:
            self._piece(self.open)
        self.start = self.last = None

    def answer(self, operation: Operation) -> None:
        if self.open is not None:
            self.open.came_to_rest = _is_rest(operation)
            self.open.called = _calls(operation)
        if not operation.usage.total_tokens:
            return
        sent = operation.usage.input_side_tokens
        total = history.total_tokens(operation, CHARS_PER_TOKEN)
        if self.start is None:
            self.start = max(0, sent - int(_typed_chars(operation.before) / CHARS_PER_TOKEN))
            if self.open is not None and not self.open.answers:
                self.open.fill_tokens = self.start
        elif self.last is not None and total < self.last:
            if self.open is not None:
                self._piece(self.open)
            self.start = min(sent, total)
        self.last = total
        if self.open is not None:
            self.open.answers += 1

    def calls(self, operation: Operation) -> None:
        for block in operation.blocks:
            if isinstance(block, ToolUse):
                self._call(block)

    def _call(self, call: ToolUse) -> None:
        self.planning = _MODES.get(call.name, self.planning)
        path = call.input.get("file_path") or call.input.get("notebook_path")
        if self.open is None or call.name not in FILE_TOOLS or not isinstance(path, str):
            return
        if len(self.open.files) < MOST_FILES:
            self.open.files.add(path)

    def _piece(self, found: _Open) -> None:
        if self.start is not None and self.last is not None:
            found.growth_tokens += max(0, self.last - self.start)


def read_requests(
    items: Iterable[Operation | Boundary | Summary], *, at_rest: bool = False
) -> Iterator[PastRequest]:
    """Every answered request of a session, in order. With `at_rest`, the last one is left out if it
    ended in a tool call: it is still running, or was interrupted."""
    fold = _Fold()
    for item in items:
        if isinstance(item, Boundary) and item.resets_window:
            fold.freed()
        if isinstance(item, Operation):
            yield from _followers(fold, item.before)
            fold.answer(item)
            fold.calls(item)
            yield from _followers(fold, item.after)
    if not at_rest or (fold.open is not None and not fold.open.called):
        yield from fold.close()


def _followers(fold: _Fold, followers: Iterable[Follower]) -> Iterator[PastRequest]:
    for entry in followers:
        if isinstance(entry, Attachment):
            fold.planning = _NOTES.get(entry.kind, fold.planning)
        if isinstance(entry, Prompt):
            yield from fold.prompt(entry)


def _typed_chars(followers: Iterable[Follower]) -> int:
    return sum(len(entry.text) for entry in followers if isinstance(entry, Prompt))


def _calls(operation: Operation) -> bool:
    """Whether it called a tool. With `StructuredOutput` a session of a run reports at its end."""
    tools = [block.name for block in operation.blocks if isinstance(block, ToolUse)]
    return any(name != "StructuredOutput" for name in tools)


def _is_rest(operation: Operation) -> bool:
    """Whether it called no tool. An API error has no usage."""
    return operation.usage.total_tokens > 0 and not _calls(operation)


def _tasks(found: _Open, used: PastRequest) -> Iterator[PastRequest]:
    """The tasks of a session that a run started. Each gets the share of the growth that its
    estimate had. A session that did not end well says nothing about a whole task."""
    if not found.tasks or not found.came_to_rest:
        return
    words = [extract_features(task.words) for task in found.tasks]
    sizes = [one.formula_tokens(task.files) for one, task in zip(words, found.tasks, strict=True)]
    for one, task, size in zip(words, found.tasks, sizes, strict=True):
        share = size / (sum(sizes) or 1)
        yield replace(
            used,
            words=one,
            touched=round(used.touched * share),
            growth_tokens=round(used.growth_tokens * share),
            ran=True,
            listed=task.files or 0,
        )
