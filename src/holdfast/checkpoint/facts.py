"""What a session holds, as nouns: who said what, what was used, what ran, what is open.

`Facts` is the state of the extraction as well: it is saved with the byte offset it has reached, and
reading goes on from there. Everything in it is bounded, so that a hostile transcript cannot grow
it; heat is a count that halves as the work moves on, kept at the operation of the last touch.
"""

import msgspec

VERSION = 2
REPORTED = "reported done"  # by the model, of what the user had listed


class Place(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where in the transcript a thing was said."""

    offset: int = 0
    at: str = ""
    op: int = 0


class Prompt(msgspec.Struct, array_like=True, gc=False):
    """The user's own words, cut where they are very long."""

    text: str
    place: Place
    chars: int = 0  # of the whole
    kind: str = "request"  # request, question, remark, correction, answer, assent
    to: str = ""  # what of the model's an answer or assent was given to
    line: int = 0  # of the transcript, 0 when not known


class Rule(msgspec.Struct, array_like=True, gc=False):
    """One sentence of the user's that holds until it is taken back."""

    text: str
    place: Place
    kind: str = "rule"  # rule, correction, choice, or wish: one that ends with its request
    before: str = ""  # the rule it took the place of
    about: str = ""  # what of the model's it was said to


class Decision(msgspec.Struct, array_like=True, gc=False):
    """What the model chose, in its own words."""

    text: str
    place: Place
    corrected: str = ""  # by which words of the user's


class Used(msgspec.Struct, array_like=True, gc=False):
    """A file the session used."""

    reads: int = 0
    edits: int = 0
    runs: int = 0  # named in a command or a search
    seen: int = 0  # told of by a search, a subagent or the user
    heat: float = 0.0
    op: int = 0
    ranges: list[tuple[int, int]] = []
    left: list[str] = []  # TODO and FIXME the model wrote into it
    gone: bool = False  # a command has removed or moved it since

    @property
    def count(self) -> int:
        return self.reads + self.edits + self.runs + self.seen


class Name(msgspec.Struct, array_like=True, gc=False):
    """An identifier, and the file it was last written in."""

    count: int = 0
    heat: float = 0.0
    op: int = 0
    file: str = ""


class Command(msgspec.Struct, array_like=True, gc=False):
    """A shell command, exact to the character, and how it went the last time."""

    line: str
    place: Place
    kind: str = ""  # test, build or nothing
    count: int = 0
    heat: float = 0.0
    op: int = 0
    ok: bool | None = None
    said: list[str] = []


class Failure(msgspec.Struct, array_like=True, gc=False):
    """An error a command showed; fixed once the same passes, however it is written."""

    command: str
    lines: list[str]
    place: Place
    fixed: Place | None = None
    fix: list[str] = []  # files edited in between
    edited: list[str] = []  # so far, while it is open
    passes: int = 0  # of other tests and builds since
    left: list[str] = []  # the simple commands of it that have not passed since


class Task(msgspec.Struct, array_like=True, gc=False):
    """One item of a task list, a plan or a numbered list."""

    text: str
    place: Place
    status: str = "pending"
    source: str = "task"  # task, todo, plan (the model's) or asked (a list of the user's)

    @property
    def is_open(self) -> bool:
        return self.status not in ("completed", "deleted", "cancelled", REPORTED)


class Reference(msgspec.Struct, array_like=True, gc=False):
    """A commit, branch, pull request, ticket or address; a hash may be of anything."""

    kind: str
    count: int = 0
    heat: float = 0.0
    op: int = 0
    note: str = ""


class Agent(msgspec.Struct, array_like=True, gc=False):
    """A subagent: what it was asked, and what it answered."""

    kind: str
    asked: str
    place: Place
    answer: str = ""
    status: str = "running"


class Call(msgspec.Struct, array_like=True, gc=False):
    """A tool call whose result is not there yet."""

    tool: str
    what: str
    place: Place
    before: list[str] = []  # what it changes, as it was, should it be refused


class Facts(msgspec.Struct):
    """Everything known of one session, and how far it has been read."""

    version: int = VERSION
    offset: int = 0
    lines: int = 0  # up to the offset
    lost: int = 0  # entries we stumbled over, and passed over
    op: int = 0
    far: bool = False  # reading what is long past: names in it have cooled before we get there
    message_id: str = ""
    session_id: str = ""
    at: str = ""
    cwd: str = ""
    roots: list[str] = []
    branch: str = ""
    planning: bool = False  # plan mode: the model may read and plan, and change nothing
    redacted: bool = False  # a command kept from before lacks its secret: compare without
    compactions: int = 0
    prompts: list[Prompt] = []
    queued: list[str] = []  # typed while the model worked, and not seen handed over
    rules: list[Rule] = []
    revoked: list[str] = []
    decisions: list[Decision] = []
    questions: list[str] = []  # asked last, and not answered yet
    files: dict[str, Used] = {}
    names: dict[str, Name] = {}
    shown: dict[str, list[str]] = {}  # names in the files read last, oldest first
    commands: dict[str, Command] = {}
    failures: list[Failure] = []
    tasks: dict[str, Task] = {}
    references: dict[str, Reference] = {}
    agents: dict[str, Agent] = {}
    calls: dict[str, Call] = {}
    recent: list[Call] = []  # the last calls, newest last
    tools: dict[str, int] = {}
    last_file: str = ""
    last_texts: list[str] = []  # of the model, newest last
    last_said_op: int = 0
    reported_done: bool = False  # by the model's last words, after the last prompt
    summary: str = ""  # the client's, while the transcript ends in it
    since_summary: int = 0  # operations after it
    dependencies: dict[str, list[str]] = {}  # of the manifests read or written, newest last
    restored: dict[str, int] = {}  # files the client reads back by itself, oldest first
    read_from: str = ""  # see `same_file`
    told: list[int] = []  # lines that told a secret with its name, to know it without


def save(facts: Facts) -> bytes:
    return msgspec.json.encode(facts)


def load(data: bytes) -> Facts | None:
    """What was saved; None when it is not ours, or of another version: then read anew."""
    try:
        found = msgspec.json.decode(data, type=Facts)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
    return found if found.version == VERSION else None
