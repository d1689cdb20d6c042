"""The data model of a session's record: its turns, what was used, what ran, what is open; and of a
turn as everything but the record reads it (`TurnPart`).

`Record` is also the state of the reader: it is saved with the byte offset that was reached, and
reading continues from there. Everything in it is bounded.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

VERSION = 23
PART_VERSION = 1
PLAN_ASKED = "carry out the plan? "  # before the title of a plan that the user has to approve


class Place(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where in the transcript something was said."""

    offset: int = 0
    at: str = ""
    op: int = 0


class Question(msgspec.Struct, array_like=True, gc=False):
    text: str
    place: Place
    answer: str = ""  # in the user's words, or what the user chose


class Turn(msgspec.Struct, array_like=True, gc=False):
    """From one thing the user typed to the next: what was asked, and what came of it."""

    asked: str  # the user's words (head and tail of very long ones); empty if nobody typed
    place: Place
    line: int = 0  # of the transcript; 0 if unknown
    chars: int = 0  # of the whole
    reply_to: str = ""  # what short words answer: a question of the model, or a refused call
    said: str = ""  # the model's last words so far
    said_op: int = 0
    edited: list[str] = []
    questions: list[Question] = []
    interrupted: bool = False  # by the user, and the model said nothing since
    waits: bool = False  # typed while the model worked, and not delivered to it yet
    parent: str = ""  # the line that the prompt followed
    taken_back: bool = False  # the user went back and typed something else instead
    notified: bool = False  # something in the background reported after the model's last words
    is_plan: bool = False  # the request is a plan that the model wrote and the user approved
    works_on: bool = False  # calls followed the model's last words, so they close nothing
    read: list[str] = []
    status: str = ""  # of a row that a client has closed


class UnsureText(msgspec.Struct, array_like=True, gc=False):
    """A text in the user's name by an unknown writer: shown, but never as the user's."""

    text: str
    place: Place
    count: int = 1  # how often it came
    waits: bool = False  # in the client's queue; the line that delivers it tells who wrote it


class Decision(msgspec.Struct, array_like=True, gc=False):
    text: str
    place: Place


class FileUse(msgspec.Struct, array_like=True, gc=False):
    reads: int = 0
    edits: int = 0
    op: int = 0
    added: int = 0  # lines, by all edits
    removed: int = 0
    gone: bool = False  # a command has removed or moved it since
    written: int = 0  # by commands: redirected into, edited in place, moved
    by_agents: int = 0  # edits of subagents
    edited: Place = Place()  # the newest edit
    said: str = ""  # the model's words at the largest edit
    largest: int = 0  # lines that it changed

    @property
    def is_changed(self) -> bool:
        return bool(self.edits or self.written or self.by_agents)

    @property
    def count(self) -> int:
        return self.reads + self.edits + self.written + self.by_agents


class FailedRun(msgspec.Struct, array_like=True, gc=False):
    """The newest run of a command that failed, by the client's mark."""

    first: Place  # the first run in a row that failed
    place: Place
    lines: list[str]  # of its output: message and place
    later: str = ""  # the newest run of the same program since, which does not settle it
    closed: Place | None = None


class Command(msgspec.Struct, array_like=True, gc=False):
    """A shell command and how it went the last time; its key is the line as typed."""

    place: Place
    cwd: str = ""
    count: int = 0
    op: int = 0
    ok: bool | None = None  # by the client's mark; None: it has no result yet
    printed: str = ""  # the end of its newest output
    edits_before: int = 0  # edits of the session when it was called
    failed: FailedRun | None = None
    follows_edit: bool = False  # the call before it was one


class Task(msgspec.Struct, array_like=True, gc=False):
    """One item of a task list, in the state that a tool last set."""

    text: str
    place: Place
    status: str = "pending"
    source: str = "task"  # the tool: task or todo
    set_at: Place = Place()  # when its state was last set

    @property
    def is_open(self) -> bool:
        return self.status not in ("completed", "deleted", "cancelled")


class ShownPlan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The newest plan as it stood, head and tail of a long one."""

    text: str
    place: Place


class Agent(msgspec.Struct, array_like=True, gc=False):
    kind: str
    asked: str
    place: Place
    answer: str = ""
    status: str = "running"
    ended_op: int = 0
    report: str = ""  # the longer answer, only of those that ended last


class Call(msgspec.Struct, array_like=True, gc=False):
    tool: str
    what: str
    place: Place
    before: list[str] = []  # the state before it, in case it is refused; or the files it writes
    failed: bool = False


class GitAnswer(msgspec.Struct, array_like=True, gc=False):
    """What a command printed that ran git."""

    command: str
    printed: str  # its end
    place: Place
    failed: bool = False  # by the client's mark
    edits: int = 0  # since


class Commit(msgspec.Struct, array_like=True, frozen=True, gc=False):
    id: str
    at: str
    subject: str
    files: list[str]


class PrintedCommit(msgspec.Struct, array_like=True, frozen=True, gc=False):
    id: str  # empty if git printed nothing
    subject: str
    place: Place


class GitLog(msgspec.Struct, array_like=True, gc=False):
    place: Place
    branch: str  # empty if none is checked out
    commits: list[Commit]
    edits: int = 0  # since


class Record(msgspec.Struct):
    """Everything known about one session, and how far it has been read."""

    version: int = VERSION
    offset: int = 0
    lines: int = 0  # up to the offset
    lost: int = 0  # skipped entries: torn ones, and those that raised an error
    op: int = 0
    far: bool = False  # reading an old part, whose names have cooled by the end
    message_id: str = ""
    session_id: str = ""
    at: str = ""
    cwd: str = ""
    client: str = ""  # the version of Claude Code that wrote last
    roots: list[str] = []
    branch: str = ""
    git: dict[str, GitAnswer] = {}  # the newest answer by git's verb: status, commit, push
    git_log: GitLog | None = None  # asked before the last compaction
    commits: list[PrintedCommit] = []  # that the session made, newest last
    redacted: bool = False  # a saved command lacks its secret, so compare without secrets
    compactions: int = 0
    turns: list[Turn] = []
    turns_dropped: int = 0  # removed after the first few, in a session with very many
    starts_midway: bool = False  # earlier words of the session are in another file
    words_missing: bool = False  # the client did not record everything that was typed
    unsure: list[UnsureText] = []
    clients: list[str] = []  # texts from the queue that the client marked as its own
    queue: list[str] = []  # the client's queue; an empty text for what is not the user's
    queue_left: int = 0  # turns when something left it last; which entry, is not said
    queued: list[str] = []  # typed while the model worked, and not delivered yet
    decisions: list[Decision] = []
    remarks: list[Decision] = []  # what the model said while it worked, newest last
    files: dict[str, FileUse] = {}
    commands: dict[str, Command] = {}
    tasks: dict[str, Task] = {}
    plan: ShownPlan | None = None
    agents: dict[str, Agent] = {}
    ended_early: dict[str, str] = {}  # notifications that stand before the start, by id
    calls: dict[str, Call] = {}
    recent: list[Call] = []  # the last calls, newest last
    tools: dict[str, int] = {}
    last_texts: list[str] = []  # of the model, newest last
    last_said_op: int = 0
    edits: int = 0  # of files, in the whole session
    summary: str = ""  # the client's summary, while the transcript ends in it
    since_summary: int = 0  # steps after it
    read_from: str = ""  # see `storage.sign`
    looked: dict[str, int] = {}  # how far each subagent's transcript was read, oldest first
    told: list[int] = []  # where secrets are named, to find them elsewhere: `secrets.ToldSecrets`
    unread: int = 0  # bytes after the offset that there was no time to read; never saved

    @property
    def compactions_now(self) -> int:
        """The compactions at the end of one: the transcript may hold it already, or not yet."""
        holds_it = self.compactions > 0 and not self.since_summary
        return self.compactions if holds_it else self.compactions + 1


class TurnStep(msgspec.Struct, array_like=True, gc=False):
    number: int
    offset: int
    at: str
    used_tokens: int = 0  # in the window behind it, 0: not known; estimated if not stated yet
    stop_reason: str = ""
    chars: int = 0
    ended_at: str = ""


class TurnText(msgspec.Struct, array_like=True, gc=False):
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
    version: int = PART_VERSION


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
        return self.texts[-1].text if self.texts else ""


def describe_unread(record: Record) -> str:
    """What is missing in a record that there was no time to finish."""
    return (
        f"The last {max(1, record.unread >> 10):,} KB of the transcript are not read yet: the "
        "user's newest words are missing, and what is open or failing here may be settled since."
    )


def save(record: Record) -> bytes:
    return msgspec.json.encode(record)


def copy(record: Record) -> Record:
    return msgspec.json.decode(save(record), type=Record)


def load(data: bytes) -> Record | None:
    """Decode a saved record; None if it has another version, or is not ours."""
    try:
        record = msgspec.json.decode(data, type=Record)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return record if record.version == VERSION else None


RECENT_OPS = 20  # so many steps ago, a use counts half


def rank(item: FileUse | Command, op: int) -> float:
    """Return how much something was used, and how lately."""
    return item.count / (RECENT_OPS + op - item.op)


def keep_most_used(table: dict[str, Any], among: Iterable[str], op: int, most: int) -> None:
    """Remove all of these keys from the table except the most and latest used."""
    ranked = sorted(among, key=lambda key: rank(table[key], op), reverse=True)
    for key in ranked[most:]:
        del table[key]
