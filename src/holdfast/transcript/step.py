"""One answer of the model is an operation, however many lines it took to write down."""

from dataclasses import dataclass

from holdfast.transcript.blocks import AnyBlock, ToolResult
from holdfast.transcript.entries import Answer, Attachment, Prompt, Result
from holdfast.transcript.usage import Usage

Follower = Prompt | Result | Attachment


@dataclass(frozen=True, slots=True)
class Operation:
    """One answer, and what came after it up to the next.

    `before` is filled only where no operation was there to follow: the first prompt of a session,
    and what the client brings back after a compaction.
    """

    lines: tuple[Answer, ...]
    after: tuple[Follower, ...] = ()
    before: tuple[Follower, ...] = ()
    dropped: int = 0  # entries not kept, because they cover too much of the file

    @property
    def message_id(self) -> str:
        return self.lines[0].message_id

    @property
    def model(self) -> str:
        return self.lines[-1].model

    @property
    def requested_model(self) -> str | None:
        return self.lines[-1].requested_model

    @property
    def version(self) -> str:
        return self.lines[-1].version

    @property
    def usage(self) -> Usage:
        """Of the last line: earlier ones may have been written while the answer streamed."""
        return self.lines[-1].usage

    @property
    def output_is_partial(self) -> bool:
        """Even the last line was written too early, so its output count is only a floor."""
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
    def offset(self) -> int:
        return self.lines[0].offset

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Every result that came back, one per call."""
        return tuple(
            result for entry in self.after if isinstance(entry, Result) for result in entry.results
        )

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        return tuple(entry for entry in self.after if isinstance(entry, Prompt))

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        return tuple(entry for entry in self.after if isinstance(entry, Attachment))
