"""What happened, as plain values: gathered where it happened, taken in where the store is.

A batch goes from one position of its source to the next. It may travel as JSON, so what comes in is
checked against the same bounds that gathering keeps.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from holdfast.wire.errors import HoldfastError

MOST_DEEDS = 2_000
MOST_READINGS = 20_000  # of one deed; a batch of a transcript holds some hundred
MOST_BYTES = 4 << 20  # a server takes bodies of 5 MB
MOST_CHARS = 1_000_000  # a server takes bodies of 5 MB
PROMPT_CHARS, INPUT_CHARS, TEXT_CHARS, NAME_CHARS, PATH_CHARS = 8_000, 2_000, 1_000, 200, 4_096

Ms = Annotated[int, Meta(ge=0, lt=1 << 53)]
Name = Annotated[str, Meta(max_length=NAME_CHARS)]
Text = Annotated[str, Meta(max_length=TEXT_CHARS)]
Id = Annotated[str, Meta(min_length=36, max_length=36)]
Position = dict[str, Any]


class _Deed(msgspec.Struct, frozen=True, tag_field="deed", omit_defaults=True, gc=False):
    """One thing that happened."""


class ProjectMet(_Deed, frozen=True, tag="project", gc=False):
    id: Id
    path: Annotated[str, Meta(min_length=1, max_length=PATH_CHARS)]
    first_ms: Ms
    last_ms: Ms


class SessionMet(_Deed, frozen=True, tag="session", gc=False):
    """Heard of between these times; `ended_ms` and `opened_ms` where it ended or went on."""

    id: Name
    project_id: Id
    first_ms: Ms
    last_ms: Ms
    ended_ms: Ms = 0
    opened_ms: Ms = 0


class RequestTold(_Deed, frozen=True, tag="request", gc=False):
    """One prompt of the user's."""

    id: Id
    session_id: Name
    project_id: Id
    prompt: Annotated[str, Meta(max_length=PROMPT_CHARS)]
    at_ms: Ms


class RequestStands(_Deed, frozen=True, tag="request-status", gc=False):
    id: Id
    status: Literal["active", "completed"]
    at_ms: Ms


class TaskTold(_Deed, frozen=True, tag="task", gc=False):
    """One item of a task list, as it stands at this time; without a request: a change of one."""

    id: Id
    at_ms: Ms
    status: Literal["", "pending", "running", "completed", "deleted"] = ""
    request_id: Id | Literal[""] = ""
    name: Text = ""
    wave_number: Annotated[int, Meta(ge=0, lt=1 << 31)] = 0


class SubtaskTold(_Deed, frozen=True, tag="subtask", gc=False):
    """A subagent came or went, or more became known of it.

    `described`: 2 by whoever called it, 1 by its own first prompt, 0 not at all. `request_id`
    alone, when only the prompt it works on is known; neither: a change of one that is there.
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


class ActionDone(_Deed, frozen=True, tag="action", gc=False):
    """One tool call with its end. The transcript knows more of it, the hook how long it took."""

    id: Id
    session_id: Name
    project_id: Id
    told_by: Literal["hook", "transcript"]
    tool_name: Name
    tool_type: Literal["builtin", "agent", "skill", "command", "mcp"]
    at_ms: Ms
    agent_id: Name = ""
    exit_code: Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)] = 0
    duration_ms: Ms | None = None
    input: Annotated[str, Meta(max_length=INPUT_CHARS)] = ""
    file_paths: Annotated[list[Text], Meta(max_length=50)] = []


class ContextSeen(_Deed, frozen=True, tag="context", gc=False):
    """How far an agent, or the session itself, has come."""

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


class WindowSeen(_Deed, frozen=True, tag="window", gc=False):
    """A window's health, newest only; what is counted with is a number, or not known."""

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
                raise ValueError(f"health.{name} is no number that can be")
        for name in _WORDS:
            if not isinstance(self.health.get(name), str | None):
                raise ValueError(f"health.{name} is no word")


class Compacted(_Deed, frozen=True, tag="compaction", gc=False):
    """The window was freed; `count`: how often so far."""

    session_id: Name
    project_id: Id
    at_ms: Ms
    count: Ms
    agent_id: Name = ""
    summary: Annotated[str, Meta(max_length=PROMPT_CHARS)] = ""
    step: Ms = 0  # the last one before it
    trigger: Name = ""
    before_tokens: Ms = 0  # 0: not known
    after_tokens: Ms = 0


class ReadingsTold(_Deed, frozen=True, tag="readings", gc=False):
    """How full a window was after some of its steps: numbers of equal place belong together."""

    session_id: Name
    project_id: Id
    step: Annotated[list[Ms], Meta(max_length=MOST_READINGS)]
    at_ms: Annotated[list[Ms], Meta(max_length=MOST_READINGS)]
    used_tokens: Annotated[list[Ms], Meta(max_length=MOST_READINGS)]
    agent_id: Name = ""
    limit_tokens: Ms = 0  # where the client compacts, as known by then; 0: not known

    def __post_init__(self) -> None:
        if not len(self.step) == len(self.at_ms) == len(self.used_tokens):
            raise ValueError("readings of different lengths")


class AuditLine(_Deed, frozen=True, tag="audit", gc=False):
    id: Id
    kind: Name
    at_ms: Ms
    session_id: Name = ""
    agent_id: Name = ""
    body: dict[str, Any] = {}


class CheckpointTaken(_Deed, frozen=True, tag="checkpoint", gc=False):
    id: Id
    checkpoint_id: Name
    session_id: Name
    project_id: Id
    path: Annotated[str, Meta(min_length=1, max_length=PATH_CHARS)]
    at_ms: Ms
    summary: Text = ""
    snapshot: dict[str, Any] = {}


Deed = (
    ProjectMet
    | SessionMet
    | RequestTold
    | RequestStands
    | TaskTold
    | SubtaskTold
    | ActionDone
    | ContextSeen
    | WindowSeen
    | Compacted
    | ReadingsTold
    | AuditLine
    | CheckpointTaken
)


class RecordBatch(msgspec.Struct, frozen=True):
    """Everything between two positions of one source; a position is nobody's business but its
    source's, and an empty one is the very beginning."""

    source: Annotated[str, Meta(min_length=1, max_length=400)]
    since: Position
    until: Position
    deeds: Annotated[list[Deed], Meta(max_length=4 * MOST_DEEDS)]
    version: Literal[1] = 1


class NoBatch(HoldfastError):
    """These bytes are not a batch of ours."""

    exit_code = 2
    hint = "both sides need the same version of Holdfast"


def renamed(batch: RecordBatch, source: str) -> RecordBatch:
    return msgspec.structs.replace(batch, source=source)


def encode(batch: RecordBatch) -> bytes:
    return msgspec.json.encode(batch)


def decode(data: bytes) -> RecordBatch:
    try:
        return msgspec.json.decode(data, type=RecordBatch)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise NoBatch(f"not a batch: {error}") from None
