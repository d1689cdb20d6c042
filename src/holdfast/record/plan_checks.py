"""The verification of a plan: which run a check asks for, and whether that run was made.

The client asks for such a section in every plan; 122 of 134 real plans have one. A check that asks
for no run is for a person to look at, and stays open until somebody reports it.
"""

from functools import lru_cache

from holdfast.record import runs, shell
from holdfast.record.model import Record
from holdfast.text.sentences import ASKING, Lazy, plain, sentences

COMMITTED = "git commit"
REMEMBERED = 256  # a session runs the same few commands over and over
_SECTION = "verif"  # within its heading, in many languages
_LONGEST_HEADING = 5  # words, with the mark
_FEW_WORDS = 3  # beside a command: "Deploy:"
_BY_HAND = "manual"
_CODE = Lazy(r"`([^`]+)`")


def is_section(heading: str) -> bool:
    return _SECTION in heading.lower() and len(heading.split()) <= _LONGEST_HEADING


def is_check(words: str) -> bool:
    """Whether a line is a check: neither a link nor a line that introduces a list."""
    return not words.startswith("[") and not words.rstrip("* ").endswith(":")


def asks_for(check: str, key: str) -> bool:
    """Whether a check asks for this run, by its command or by a name for it, as in "all tests
    pass"."""
    if key == COMMITTED:
        return check.lower().startswith("commit")
    if check.lower().startswith(_BY_HAND):
        return False
    made = [part.rpartition("&& ")[2] for part in runs.parts(key)]  # without its folder
    if asked := _commands(check):
        return any(runs.covers(by, one) for one in asked for by in made)
    if begun := _command_prefixes(check):
        return not begun.isdisjoint(map(_beginning, made))
    called = _called(check)
    return any(not called.isdisjoint(_names(one)) for one in made)


def is_by_hand(check: str) -> bool:
    """Whether a check asks for no run: a person has to look at something."""
    if check.lower().startswith(_BY_HAND):
        return True
    return not (
        _commands(check) or _command_prefixes(check) or _called(check) or asks_for(check, COMMITTED)
    )


def is_told(check: str, said: str, but: tuple[str, ...]) -> bool:
    """Whether a sentence reports the run that a check asks for, without any of the words in
    `but`."""
    asked = set[str]().union(*map(_names, _commands(check)))
    told = [plain(one) for one in sentences(said) if not one.endswith(ASKING)] if asked else []
    return any(asked <= _called(one) and not any(word in one for word in but) for one in told)


def tells_of(said: str, command: str) -> bool:
    """Whether a sentence is about this run, or about no run in particular."""
    called = _called(said)
    names = set[str]().union(*map(_names, runs.parts(command)))
    return not called or not called.isdisjoint(names)


@lru_cache(REMEMBERED)
def _commands(check: str) -> tuple[str, ...]:
    """Return the tests and builds that a check names in code marks."""
    found = [shell.core(code) for code in _CODE.pattern.findall(check)]
    return tuple(one for one in found if runs.kind(one))


@lru_cache(REMEMBERED)
def _command_prefixes(check: str) -> frozenset[tuple[str, ...]]:
    """Return how the other commands in a check begin: `app deploy` for `app deploy --only site`.
    Empty if it has more words than that: then there is something to look at as well."""
    if len(_CODE.pattern.sub(" ", check).split()) > _FEW_WORDS:
        return frozenset()
    found = [_beginning(shell.core(code)) for code in _CODE.pattern.findall(check)]
    return frozenset(one for one in found if len(one) > 1)


def _beginning(command: str) -> tuple[str, ...]:
    """Return the program and its first argument."""
    words = [word for word in command.split() if not word.startswith("-")]
    return tuple(words[:2])


@lru_cache(REMEMBERED)
def _names(command: str) -> set[str]:
    """Return what people call a run: tests, or its own name, such as lint or build."""
    if runs.kind(command) == "test":
        return {"tests"}
    return {word for word in plain(command).split() if runs.kind(word)}


@lru_cache(REMEMBERED)
def _called(text: str) -> set[str]:
    """Return the runs that a text mentions. A single test does not count: it is rather something to
    try."""
    words = plain(text).split()
    found = {word for word in words if runs.kind(word) == "build"}
    return found | {"tests" for word in words if word.startswith("test") and word.endswith("s")}


_NOTES = {"plan_mode": True, "plan_mode_reentry": True, "plan_mode_exit": False}
_TOOLS = {"EnterPlanMode": True, "ExitPlanMode": False}
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_PLANS = ".claude/plans/"  # writing the plan itself does not end plan mode


def apply_mode(record: Record, mode: str | None) -> None:
    """Record the mode in which a prompt was typed; not every client states it."""
    if mode:
        record.planning = mode == "plan"


def apply_note(record: Record, kind: str) -> None:
    """Record plan mode from the client's note to the model."""
    record.planning = _NOTES.get(kind, record.planning)


def apply_success(record: Record, tool: str, what: str) -> None:
    """Record that a call succeeded: a plan was approved, or a file was changed, which ends plan
    mode."""
    if tool in _EDITS:
        record.planning = record.planning and _PLANS in what
    else:
        record.planning = _TOOLS.get(tool, record.planning)
