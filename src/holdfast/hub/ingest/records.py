"""What happened, as plain values: gathered on the machine where it happened, ingested by the store.

A batch covers its source from one position to the next. It may arrive as JSON, so decoding checks
the same bounds that gathering keeps. In JSON, a record's type is its `deed` and a batch's records
are its `deeds`.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from holdfast.wire.errors import HoldfastError

MOST_RECORDS = 2_000
MOST_READINGS = 20_000  # of one record; a batch of a transcript holds some hundred
MOST_BYTES = 4 << 20  # a server takes bodies of 5 MB
UNKNOWN_AGENT = "agent"  # the kind of an agent whose kind nobody has noted
MOST_CHARS = 1_000_000  # a server takes bodies of 5 MB
PROMPT_CHARS, INPUT_CHARS, TEXT_CHARS, NAME_CHARS, PATH_CHARS = 8_000, 2_000, 1_000, 200, 4_096

Ms = Annotated[int, Meta(ge=0, lt=1 << 53)]
Name = Annotated[str, Meta(max_length=NAME_CHARS)]
Text = Annotated[str, Meta(max_length=TEXT_CHARS)]
Id = Annotated[str, Meta(min_length=36, max_length=36)]
Position = dict[str, Any]
ToolType = Literal["builtin", "agent", "skill", "command", "mcp"]


class _RecordedEvent(msgspec.Struct, frozen=True, tag_field="deed", omit_defaults=True, gc=False):
    """Base of everything a batch can report."""


class RecordedProject(_RecordedEvent, frozen=True, tag="project", gc=False):
    id: Id
    path: Annotated[str, Meta(min_length=1, max_length=PATH_CHARS)]
    first_ms: Ms
    last_ms: Ms


class RecordedSession(_RecordedEvent, frozen=True, tag="session", gc=False):
    """Active between these times; `ended_ms` and `opened_ms` say when it ended or was resumed."""

    id: Name
    project_id: Id
    first_ms: Ms
    last_ms: Ms
    ended_ms: Ms = 0
    opened_ms: Ms = 0


class RecordedRequest(_RecordedEvent, frozen=True, tag="request", gc=False):
    """One prompt of the user; a short one with what it `answers`."""

    id: Id
    session_id: Name
    project_id: Id
    prompt: Annotated[str, Meta(max_length=PROMPT_CHARS)]
    at_ms: Ms
    answers: Text = ""


class RecordedRequestStatus(_RecordedEvent, frozen=True, tag="request-status", gc=False):
    id: Id
    status: Literal["active", "completed"]
    at_ms: Ms


class RecordedTask(_RecordedEvent, frozen=True, tag="task", gc=False):
    """One item of a task list and its status; without a request it changes a known task."""

    id: Id
    at_ms: Ms
    status: Literal["", "pending", "running", "completed", "deleted"] = ""
    request_id: Id | Literal[""] = ""
    name: Text = ""
    wave_number: Annotated[int, Meta(ge=0, lt=1 << 31)] = 0


class RecordedSubtask(_RecordedEvent, frozen=True, tag="subtask", gc=False):
    """A subagent started or stopped, or more became known about it.

    `described`: 2 if its caller described it, 1 if its first prompt does, 0 if nothing does.
    `request_id` stands alone when only the prompt is known; with neither `request_id` nor `task_id`
    the record changes a known subtask.
    """

    id: Id
    session_id: Name
    project_id: Id
    at_ms: Ms
    request_id: Id | Literal[""] = ""
    task_id: Id | Literal[""] = ""
    agent_id: Name = ""
    agent_type: Name = ""
    parent_agent_id: Name = ""
    description: Text = ""
    described: Annotated[int, Meta(ge=0, le=2)] = 0
    started_ms: Ms = 0
    ended_ms: Ms = 0
    outcome: Literal["completed", "failed"] = "completed"


class RecordedAction(_RecordedEvent, frozen=True, tag="action", gc=False):
    """One finished tool call. The transcript has its details, the hook its duration."""

    id: Id
    session_id: Name
    project_id: Id
    reported_by: Literal["hook", "transcript"] = msgspec.field(name="told_by")
    tool_name: Name
    tool_type: ToolType
    at_ms: Ms
    agent_id: Name = ""
    exit_code: Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)] = 0
    duration_ms: Ms | None = None
    input: Annotated[str, Meta(max_length=INPUT_CHARS)] = ""
    file_paths: Annotated[list[Text], Meta(max_length=50)] = []


class RecordedContext(_RecordedEvent, frozen=True, tag="context", gc=False):
    """The progress of an agent, or of the session itself."""

    id: Id
    session_id: Name
    project_id: Id
    agent_id: Name
    agent_type: Name
    at_ms: Ms
    subtask_id: Id | Literal[""] = ""
    skills: Annotated[list[Name], Meta(max_length=50)] = []
    progress_summary: Text = ""


_NUMBERS = (
    "used_ratio",
    "used_tokens",
    "window_tokens",
    "edge_tokens",
    "room_tokens",
    "velocity_tokens_per_op",
    "ops_left",
    "ops_left_low",
    "ops_left_high",
    "minutes_left",
    "compactions",
    "checkpoint_ms",
    "at_ms",
)
_WORDS = (
    *("status", "recommended_action", "zone", "alert", "basis", "model", "client_version"),
    *("forecast_basis", "checkpoint_trigger", "machine"),
)


class RecordedWindow(_RecordedEvent, frozen=True, tag="window", gc=False):
    """The newest health of a window; figures are numbers, or None if unknown."""

    session_id: Name
    project_id: Id
    at_ms: Ms
    used_tokens: Ms
    health: dict[str, Any]
    agent_id: Name = ""
    agent_type: Name = ""

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            value = self.health.get(name)
            if value is not None and not (type(value) in (int, float) and 0 <= value < 1 << 53):
                raise ValueError(f"health.{name} is not a number in range")
        for name in _WORDS:
            if not isinstance(self.health.get(name), str | None):
                raise ValueError(f"health.{name} is not a string")


class RecordedCompaction(_RecordedEvent, frozen=True, tag="compaction", gc=False):
    """The window was compacted; `count`: how often so far."""

    session_id: Name
    project_id: Id
    at_ms: Ms
    count: Ms
    agent_id: Name = ""
    summary: Annotated[str, Meta(max_length=PROMPT_CHARS)] = ""
    step: Ms = 0  # the last step before it
    trigger: Name = ""
    before_tokens: Ms = 0  # 0: not known
    after_tokens: Ms = 0


class RecordedReadings(_RecordedEvent, frozen=True, tag="readings", gc=False):
    """How full a window was after some of its steps; the lists are parallel."""

    session_id: Name
    project_id: Id
    step: Annotated[list[Ms], Meta(max_length=MOST_READINGS)]
    at_ms: Annotated[list[Ms], Meta(max_length=MOST_READINGS)]
    used_tokens: Annotated[list[Ms], Meta(max_length=MOST_READINGS)]
    agent_id: Name = ""
    limit_tokens: Ms = 0  # the compaction limit known at that time; 0: not known

    def __post_init__(self) -> None:
        if not len(self.step) == len(self.at_ms) == len(self.used_tokens):
            raise ValueError("readings of different lengths")


class RecordedAuditLine(_RecordedEvent, frozen=True, tag="audit", gc=False):
    id: Id
    kind: Name
    at_ms: Ms
    session_id: Name = ""
    agent_id: Name = ""
    body: dict[str, Any] = {}


class RecordedCheckpoint(_RecordedEvent, frozen=True, tag="checkpoint", gc=False):
    id: Id
    checkpoint_id: Name
    session_id: Name
    project_id: Id
    path: Annotated[str, Meta(min_length=1, max_length=PATH_CHARS)]
    at_ms: Ms
    summary: Text = ""
    snapshot: dict[str, Any] = {}


RecordedEvent = (
    RecordedProject
    | RecordedSession
    | RecordedRequest
    | RecordedRequestStatus
    | RecordedTask
    | RecordedSubtask
    | RecordedAction
    | RecordedContext
    | RecordedWindow
    | RecordedCompaction
    | RecordedReadings
    | RecordedAuditLine
    | RecordedCheckpoint
)


class RecordBatch(msgspec.Struct, frozen=True):
    """Everything between two positions of one source. Only the source interprets its positions; an
    empty one is the very beginning."""

    source: Annotated[str, Meta(min_length=1, max_length=400)]
    since: Position
    until: Position
    records: Annotated[list[RecordedEvent], Meta(max_length=4 * MOST_RECORDS)] = msgspec.field(
        name="deeds"
    )
    version: Literal[1] = 1


class NoBatch(HoldfastError):
    """The bytes are not a batch of Holdfast."""

    exit_code = 2
    hint = "both sides need the same version of Holdfast"


def encode(batch: RecordBatch) -> bytes:
    return msgspec.json.encode(batch)


def decode(data: bytes) -> RecordBatch:
    try:
        return msgspec.json.decode(data, type=RecordBatch)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise NoBatch(f"not a batch: {error}") from None
