"""A plan and its tasks, as values; the fields of a task, checked in one way for every notation; and
what can be wrong with them: each error has its line in the file and the next thing to try.

A number of tokens may be written `12000`, `12,000`, `12k` or `1.5m`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import normpath

from holdfast.client.limit_settings import parse_tokens
from holdfast.redact.find import redact
from holdfast.wire.errors import HoldfastError
from holdfast.wire.log import inert

HASH_CHARS = 16
STDIN = "stdin"
NO_PLAN = "a plan is a Markdown list of lines `- [ ] what to do`, or JSON or YAML"
CONVERT = "to let the model write it as a list of tasks, type in Claude Code: /holdfast:plan FILE"

MOST_FILES = 2_000  # of one task
MOST_TOKENS = 10**12
MOST_PHASES = 10_000
LONGEST_ID = 80
LONGEST_TITLE = 1_000
NAMES = (
    *("id", "title", "description", "files", "depends", "size", "phase"),
    *("parallel", "split", "done", "subtasks"),
)
_ID = re.compile(r"[\w.:-]+")  # no slash: that is how a part follows its task
_NO_WORD = re.compile(r"[^\w]+")
_FLAGS = {**dict.fromkeys(("yes", "true"), True), **dict.fromkeys(("no", "false"), False)}
_QUOTES = " \t`'\""


class BadPlan(HoldfastError):
    """A plan that cannot be used as it is written."""

    exit_code = 2
    hint = "correct this line; the file was not changed"

    def __init__(self, words: str, line: int = 0, hint: str = "") -> None:
        """`line` counts from 1; 0 is unknown. `hint`: what to write instead."""
        super().__init__(inert(words, 100_000))  # a circle of tasks is named in full
        self.line = line
        self.hint = inert(hint) or self.hint

    def named(self, file: str) -> BadPlan:
        place = f"{file}:{self.line}" if self.line else file
        hint = self.hint if file == STDIN else self.hint.replace("FILE", inert(file))
        return BadPlan(f"{place}: {self}", hint=hint)


@dataclass(frozen=True, slots=True)
class PlanTask:
    """One task. `spec` is the id of the task it was cut from, else its own id."""

    id: str
    title: str
    description: str = ""
    files: tuple[str, ...] = ()  # as the plan names them: also patterns and folders
    depends: tuple[str, ...] = ()
    subtasks: tuple[PlanTask, ...] = ()
    size_tokens: int | None = None
    phase: int | None = None  # it waits for all tasks of the phases before
    parallel: bool = False  # the plan marks it with [P]
    whole: bool = False  # it is never cut
    done: bool = False
    spec: str = ""
    paths: tuple[str, ...] = field(default=(), compare=False)  # what `files` stand for
    section: str = field(default="", compare=False)  # the headings that it stands below
    part: str = field(default="", compare=False)  # "2 of 3", of a task that was cut
    line: int = field(default=0, compare=False)

    @property
    def words(self) -> str:
        return f"{self.title}\n{self.description}" if self.description else self.title

    @property
    def shown(self) -> str:
        return f"{self.title} (part {self.part})" if self.part else self.title

    @property
    def open_subtasks(self) -> tuple[PlanTask, ...]:
        return tuple(step for step in self.subtasks if not step.done)

    @property
    def all_paths(self) -> tuple[str, ...]:
        """Its files and those of its open subtasks, each once."""
        steps = (name for step in self.open_subtasks for name in step.paths)
        return tuple(dict.fromkeys((*self.paths, *steps)))

    @property
    def hash(self) -> str:
        """A hash of what is to be done, not of the files that its patterns stand for."""
        steps = [step.hash for step in self.subtasks]
        return digest([self.id, self.title, self.description, list(self.files), steps])


@dataclass(frozen=True, slots=True)
class TaskPlan:
    title: str
    tasks: tuple[PlanTask, ...]
    description: str = ""  # the text outside its tasks: context for every session
    notes: tuple[str, ...] = field(default=(), compare=False)  # on how its file was read


def digest(value: object) -> str:
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()
    return hashlib.sha256(data).hexdigest()[:HASH_CHARS]


@dataclass(frozen=True, slots=True)
class Fields:
    """What a plan says of one task: texts, numbers, lists or further fields, by name."""

    values: Mapping[str, object]
    line: int = 0
    section: str = ""
    steps: tuple[Fields, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskTree:
    """What was read from a file, before its fields are checked."""

    title: str
    description: str
    tasks: Sequence[Fields]
    notes: tuple[str, ...] = ()


def make_task(given: Fields) -> PlanTask:
    unknown = [name for name in given.values if name not in NAMES]
    if unknown:
        raise BadPlan(
            f"a task has no field {unknown[0]!r}", given.line, f"the fields are {', '.join(NAMES)}"
        )
    title, description = _text(given, "title"), _text(given, "description")
    if not title.strip():
        raise BadPlan("a task without a title", given.line, "write what is to be done")
    if len(title) > LONGEST_TITLE:
        description = f"{title}\n{description}"
    files = tuple(dict.fromkeys(map(normpath, _words(given, "files"))))
    if len(files) > MOST_FILES:
        words = f"{len(files):,} files of one task: at most {MOST_FILES:,} are read"
        raise BadPlan(words, given.line, "name a folder or a pattern: `src/**/*.ts`")
    return PlanTask(
        id=_id(given),
        title=title.strip()[:LONGEST_TITLE],
        description=description.strip("\n"),
        files=files,
        paths=files,
        depends=_words(given, "depends"),
        subtasks=tuple(map(make_task, given.steps)),
        size_tokens=_size(given),
        phase=_phase(given),
        parallel=_flag(given, "parallel", usual=False),
        whole=not _flag(given, "split", usual=True),
        done=_flag(given, "done", usual=False),
        section=given.section,
        line=given.line,
    )


def _text(given: Fields, name: str) -> str:
    value = given.values.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise BadPlan(f"{name} must be text", given.line, "put it in quotes")


def _words(given: Fields, name: str) -> tuple[str, ...]:
    """The words of a list, or of a text with commas; each once, without quotes."""
    value = given.values.get(name)
    if isinstance(value, list):
        items = [_text(Fields({name: item}, given.line), name) for item in value]
    else:
        items = _text(given, name).split(",")
    words = (item.strip(_QUOTES) for item in items)
    listed = tuple(dict.fromkeys(word for word in words if word))
    if value is not None and value != [] and not listed:
        raise BadPlan(f"{name} is empty", given.line, f"write `{name}: one, another` in one line")
    return listed


def _size(given: Fields) -> int | None:
    if given.values.get("size") is None:
        return None
    tokens = parse_tokens(_text(given, "size").lower().removesuffix("tokens").strip())
    if not tokens or tokens > MOST_TOKENS:
        raise BadPlan("size must be a number of tokens", given.line, "write 12000 or 12k")
    return tokens


def _phase(given: Fields) -> int | None:
    if given.values.get("phase") is None:
        return None
    text = _text(given, "phase").strip()
    if not text.isdecimal() or len(text) > 5 or int(text) > MOST_PHASES:
        raise BadPlan("phase must be a whole number", given.line, "write 1, 2, 3 …")
    return int(text)


def _flag(given: Fields, name: str, *, usual: bool) -> bool:
    value = given.values.get(name)
    if value is None or isinstance(value, bool):
        return usual if value is None else value
    flag = _FLAGS.get(_text(given, name).strip().lower())
    if flag is None:
        raise BadPlan(f"{name} must be yes or no", given.line, f"write `{name}: no`")
    return flag


def _id(given: Fields) -> str:
    name = _text(given, "id").strip()
    if name and (len(name) > LONGEST_ID or not _ID.fullmatch(name)):
        words = f"an id has letters, digits and . : _ -, at most {LONGEST_ID}; this is {name!r}"
        raise BadPlan(words, given.line, "write it as `cart-2`, or leave it out")
    return name


def slug(title: str) -> str:
    """`Add login!` is `add-login`. Ids are stored and shown, so secrets are left out."""
    return _NO_WORD.sub("-", redact(title).lower()).strip("-")[: LONGEST_ID - 8] or "task"


class TaskIds:
    """Ids that were given stay; ids that are made from titles avoid them."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._numbered: Counter[str] = Counter()  # a plan may use one title 20,000 times

    def take(self, name: str, line: int) -> None:
        if name in self._lines:
            words = f"two tasks have the id {name!r}; the first is in line {self._lines[name]}"
            raise BadPlan(words, line, "give one of them another id, or none")
        self._lines[name] = line

    def make(self, title: str, line: int) -> str:
        """An id for a task without one. A second task with that title gets a number."""
        stem = name = slug(title)
        while name in self._lines:
            self._numbered[stem] += 1
            name = f"{stem}-{self._numbered[stem] + 1}"
        self._lines[name] = line
        return name
