"""What past requests used: how much the window grew between one prompt and the next.

Only numbers are stored, never words. Growth comes from the usage in the answers: the last total
less the total at the start. If the window shrank in between (a compaction, cleared results, dropped
thinking of earlier turns) a new piece starts, and the pieces are summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from holdfast.plan.estimate import find_kind
from holdfast.record.run_prompt import is_of_a_run, split_tasks
from holdfast.transcript.blocks import ToolUse
from holdfast.transcript.entries import Boundary, Prompt, Summary
from holdfast.transcript.steps import Follower, Operation
from holdfast.transcript.user_words import find_words
from holdfast.window import history
from holdfast.wire import mark

FILE_TOOLS = frozenset({"Read", "Edit", "MultiEdit", "Write", "NotebookEdit"})
MOST_FILES = 1000  # more are not counted
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


@dataclass(slots=True)
class _Window:
    """Where the current piece of growth started, and what the last answer left in the window."""

    start: int | None = None
    last: int | None = None

    def grown(self) -> int:
        """End the piece and return its growth; the next one starts here."""
        tokens = max(0, (self.last or 0) - (self.start or 0)) if self.start is not None else 0
        self.start = self.last
        return tokens

    def add(self, operation: Operation) -> int:
        """Take in an answer; the growth of the piece before it, if the window shrank."""
        if not operation.usage.total_tokens:
            return 0
        sent = operation.usage.input_side_tokens
        total = history.total_tokens(operation, mark.CHARS_PER_TOKEN)
        grown = 0
        if self.start is None:
            typed = sum(len(entry.text) for entry in operation.before if isinstance(entry, Prompt))
            self.start = max(0, sent - int(typed / mark.CHARS_PER_TOKEN))
        elif self.last is not None and total < self.last:
            grown = self.grown()
            self.start = min(sent, total)
        self.last = total
        return grown


def read_requests(items: Iterable[Operation | Boundary | Summary]) -> Iterator[PastRequest]:
    """Every answered request of a session that has ended or come to rest, in order."""
    window, request = _Window(), None
    for item in items:
        if isinstance(item, Boundary) and item.resets_window:
            grown = window.grown()
            window = _Window()
            if request:
                request.used_tokens += grown
        if not isinstance(item, Operation):
            continue
        for prompt in _prompts(item.before):
            yield from _close(request, window)
            request = prompt
        grown = window.add(item)
        if request:
            request.used_tokens += grown
            _take_calls(request, item)
        for prompt in _prompts(item.after):
            yield from _close(request, window)
            request = prompt
    if request and not request.is_running:
        yield from _close(request, window)


def _prompts(followers: Iterable[Follower]) -> Iterator[PastRequest]:
    for entry in followers:
        if isinstance(entry, Prompt) and not entry.is_meta:
            typed = find_words(entry.texts, entry.line.author).typed
            if typed:
                yield _request(typed)


def _request(typed: str) -> PastRequest:
    if not is_of_a_run(typed):
        return PastRequest(len(typed), (find_kind(typed)[1],))
    tasks = split_tasks(typed)[1]
    chars = sum(len(title) + len(body) for title, body in tasks)
    return PastRequest(chars, tuple(find_kind(title)[1] for title, _ in tasks), is_of_a_run=True)


def _close(request: PastRequest | None, window: _Window) -> Iterator[PastRequest]:
    """The request with its growth; nothing for one without an answer, whose use is unknown."""
    if request and request.answers:
        request.used_tokens += window.grown()
        yield request


def _take_calls(request: PastRequest, operation: Operation) -> None:
    calls = [block for block in operation.blocks if isinstance(block, ToolUse)]
    request.answers += bool(operation.usage.total_tokens)
    request.is_running = any(call.name != REPORT_TOOL for call in calls)
    for call in calls:
        path = call.input.get("file_path") or call.input.get("notebook_path")
        if call.name in FILE_TOOLS and isinstance(path, str) and len(request.files) < MOST_FILES:
            request.files[path] = None
