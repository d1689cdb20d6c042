"""A turn of a session as everything but the record reads it: what was asked, what the model did and
said, and what came back.

A very long turn comes in several parts. All texts are without secrets, and bounded.
"""

from typing import Any

import msgspec

from holdfast.record.model import Record

VERSION = 1


class TurnStep(msgspec.Struct, array_like=True, gc=False):
    """One answer of the model."""

    number: int
    offset: int
    at: str
    used_tokens: int = 0  # in the window behind it, 0: not known; estimated if not stated yet
    stop_reason: str = ""
    chars: int = 0
    ended_at: str = ""


class TurnText(msgspec.Struct, array_like=True, gc=False):
    """Words of the model."""

    text: str
    step: int
    offset: int


class TaskState(msgspec.Struct, array_like=True, gc=False):
    """A task as a call has set it; `key` is that of the record."""

    key: str
    text: str
    status: str


class AgentReport(msgspec.Struct, array_like=True, gc=False):
    """What a subagent returned, or how it ended: by the result of a call, or by a notification."""

    agent_id: str
    asked: str
    text: str
    status: str  # running, completed, failed, or as the notification says
    offset: int
    at: str
    kind: str = ""
    took_ms: int | None = None


class TurnCall(msgspec.Struct):
    """A tool call and its result. It belongs to the part in which its result came."""

    id: str
    tool: str
    what: str  # as the record names it: the path, the command, what was searched
    input: dict[str, Any]
    step: int
    offset: int
    at: str
    end: int = 0  # the byte of its result; 0: there is none
    ended_at: str = ""
    is_error: bool = False
    output: str = ""  # its beginning and its end
    output_chars: int = 0
    edited: list[str] = []
    read: list[str] = []
    questions: list[tuple[str, str]] = []  # that were asked, each with the answer
    tasks: list[TaskState] = []
    report: AgentReport | None = None


class PassedCompaction(msgspec.Struct, array_like=True):
    """A compaction; its summary may come in the next part, under the same number."""

    number: int
    offset: int
    at: str
    step: int  # the last one before it
    trigger: str = ""
    before_tokens: int = 0  # 0: not known
    after_tokens: int = 0
    summary: str = ""


class StreamState(msgspec.Struct):
    """Where a pass stopped, to go on from there. `record` holds only what later lines need."""

    record: Record
    calls: dict[str, TurnCall] = {}  # without a result so far
    turns: int = 0  # that have begun
    part: int = 0  # of the turn
    compactions: int = 0
    is_bounded: bool = False  # a boundary was read whose summary has not come yet
    queued: list[int] = []  # where queued words stand that were given
    used_tokens: int = 0
    read_from: str = ""  # see `storage.sign`
    version: int = VERSION


class TurnPart(msgspec.Struct):
    """A turn, or the next part of it.

    `is_open`: the file ends here, and more may follow. Go on from `before` to read the part again
    as a whole, or from `after` to read only what is new.
    """

    turn: int  # number in the session, from 1; 0 before anybody typed
    number: int  # of the part in its turn, from 1
    start: int
    end: int
    before: StreamState
    after: StreamState
    asked: str = ""  # by the user; in a subagent's file by its caller
    reply_to: str = ""
    is_first: bool = False  # the words that began the turn stand in this part
    is_open: bool = False
    at: str = ""
    ended_at: str = ""
    first_uuid: str = ""
    last_uuid: str = ""
    prompt_id: str = ""
    session_id: str = ""
    agent_id: str = ""
    steps: list[TurnStep] = []
    texts: list[TurnText] = []
    calls: list[TurnCall] = []
    reports: list[AgentReport] = []
    compactions: list[PassedCompaction] = []
    unsure: list[str] = []  # texts of which nobody can tell who wrote them
    queued: list[str] = []  # typed meanwhile, and the client wrote down no line that delivers it

    @property
    def answer(self) -> str:
        """The model's last words."""
        return self.texts[-1].text if self.texts else ""
