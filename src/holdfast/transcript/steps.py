"""Entries gathered into operations, in order, holding only the one being gathered.

An operation is one answer of the model with what followed it. The client writes an answer as one
line per content block, all with the same `message.id`, and the results of its first calls may
stand between two of them. Client 1.0.53 wrote no boundary line at a compaction, only the summary:
such a summary is given the boundary it implies.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from holdfast.transcript.blocks import AnyBlock, ToolResult, Usage
from holdfast.transcript.entries import Answer, Attachment, Boundary, Entry, Prompt, Result, Summary

Follower = Prompt | Result | Attachment


class Operation(NamedTuple):
    """One answer, and what came after it up to the next.

    `before` is filled only where no operation was there to follow: the first prompt of a session,
    and what the client brings back after a compaction.
    """

    lines: tuple[Answer, ...]
    after: tuple[Follower, ...] = ()
    before: tuple[Follower, ...] = ()

    @property
    def message_id(self) -> str:
        return self.lines[0].message_id

    @property
    def model(self) -> str:
        return self.lines[-1].model

    @property
    def version(self) -> str:
        return self.lines[-1].line.version

    @property
    def usage(self) -> Usage:
        """The usage on the last line: earlier lines were written while the answer streamed."""
        return self.lines[-1].usage

    @property
    def output_is_partial(self) -> bool:
        """Whether even the last line was written too early: a lower bound."""
        return self.lines[-1].stop_reason is None

    @property
    def blocks(self) -> tuple[AnyBlock, ...]:
        return tuple(block for line in self.lines for block in line.blocks)

    @property
    def timestamp(self) -> str:
        return self.lines[0].timestamp

    @property
    def epoch_s(self) -> float | None:
        return self.lines[0].epoch_s

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(
            result for entry in self.after if isinstance(entry, Result) for result in entry.results
        )

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        return tuple(entry for entry in self.after if isinstance(entry, Prompt))

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        return tuple(entry for entry in self.after if isinstance(entry, Attachment))


StepItem = Operation | Boundary | Summary
KeptEntry = TypeVar("KeptEntry", bound=Entry)

# Of one operation so much is kept, and the rest only counted: a small line takes eight times its
# bytes as an entry, so both limits are needed to keep memory flat on a hostile file.
LARGEST_SPAN_BYTES = 64 << 20
MOST_ENTRIES = 10_000
IDS_REMEMBERED = 4096  # of answers already told, should a file repeat one


def operations(entries: Iterable[Entry], *, sidechain: bool = False) -> Iterator[StepItem]:
    """Yield each answer once, with what followed it, and the compactions in between. A
    subagent's lines are left out unless `sidechain`, as for a subagent's own file."""
    gathering = _Gathering()
    for entry in entries:
        if sidechain or not entry.is_sidechain:
            yield from gathering.take(entry)
    yield from gathering.close()


class _Gathering:
    def __init__(self) -> None:
        self._told: dict[int, None] = {}  # hashes: an id may be as long as a line
        self._bounded = False  # a boundary came, and no answer since
        self._begin(0)

    def _begin(self, offset: int) -> None:
        self._start = offset
        self._lines: list[Answer] = []
        self._before: list[Follower] = []
        self._after: list[Follower] = []
        self._held: list[Boundary] = []

    def take(self, entry: Entry) -> list[StepItem]:
        if isinstance(entry, Answer):
            return self._answer(entry)
        if isinstance(entry, Prompt | Result | Attachment):
            self._keep(self._after if self._lines else self._before, entry)
        elif isinstance(entry, Boundary):
            return self._boundary(entry)
        elif isinstance(entry, Summary):
            return [*self._implied(entry), entry]
        return []

    def close(self) -> list[StepItem]:
        if not self._lines:
            return []
        done = Operation(tuple(self._lines), tuple(self._after), tuple(self._before))
        held = self._held
        self._begin(self._lines[-1].offset)
        self._remember(done.message_id)
        return [done, *held]

    def _answer(self, line: Answer) -> list[StepItem]:
        self._bounded = False
        if self._lines and self._lines[0].message_id == line.message_id:
            if not self._keep(self._lines, line):
                self._lines[-1] = line  # the last line has the truest usage
            return []
        if hash(line.message_id) in self._told:
            return []
        done = self.close()
        self._start = line.offset
        self._lines.append(line)
        return done

    def _boundary(self, boundary: Boundary) -> list[StepItem]:
        if not boundary.resets_window:
            return self._micro(boundary)
        done = self.close()
        self._begin(boundary.offset)
        self._bounded = True
        return [*done, boundary]

    def _micro(self, boundary: Boundary) -> list[StepItem]:
        """A microcompaction ends no operation, but an open one is finished and yielded first."""
        if not self._lines:
            return [boundary]
        self._keep(self._held, boundary)
        return []

    def _implied(self, summary: Summary) -> list[StepItem]:
        if self._bounded:
            return []
        return self._boundary(Boundary(summary.offset, summary.line, "compact", implied=True))

    def _keep(self, kept: list[KeptEntry], entry: KeptEntry) -> bool:
        if entry.offset - self._start > LARGEST_SPAN_BYTES or len(kept) >= MOST_ENTRIES:
            return False
        kept.append(entry)
        return True

    def _remember(self, message_id: str) -> None:
        self._told[hash(message_id)] = None
        if len(self._told) > IDS_REMEMBERED:
            del self._told[next(iter(self._told))]
