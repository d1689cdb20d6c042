"""The verification of a plan: which run a check asks for, and whether it was made.

The client asks for such a section in every plan; 122 of 134 real plans have one. What asks for no
run is for a person to look at, and stays open until words report it.
"""

from functools import lru_cache

from holdfast.record import runs, shell
from holdfast.record.model import Record
from holdfast.text.sentences import ASKING, Lazy, plain, sentences

COMMITTED = "git commit"
REMEMBERED = 256  # a session runs the same few commands over and over
_SECTION = "verif"  # within its heading, in many languages
_LONGEST_HEADING = 5  # words, with the mark
_FEW_WORDS = 3  # around a command: "Deploy:"
_BY_HAND = "manual"
_CODE = Lazy(r"`([^`]+)`")


def is_section(heading: str) -> bool:
    return _SECTION in heading.lower() and len(heading.split()) <= _LONGEST_HEADING


def is_check(words: str) -> bool:
    """Neither a link nor a line that leads to a list."""
    return not words.startswith("[") and not words.rstrip("* ").endswith(":")


def asks_for(check: str, key: str) -> bool:
    """A check asks for this run: by the command, or by what it calls it, as in "all tests pass"."""
    if key == COMMITTED:
        return check.lower().startswith("commit")
    if check.lower().startswith(_BY_HAND):
        return False
    made = [part.rpartition("&& ")[2] for part in runs.parts(key)]  # in whichever folder
    if asked := _commands(check):
        return any(runs.covers(by, one) for one in asked for by in made)
    if begun := _command_prefixes(check):
        return not begun.isdisjoint(map(_beginning, made))
    called = _called(check)
    return any(not called.isdisjoint(_names(one)) for one in made)


def is_by_hand(check: str) -> bool:
    """It asks for no run: a person is to look at something."""
    if check.lower().startswith(_BY_HAND):
        return True
    return not (
        _commands(check) or _command_prefixes(check) or _called(check) or asks_for(check, COMMITTED)
    )


def is_told(check: str, said: str, but: tuple[str, ...]) -> bool:
    """A sentence tells of the run that a check asks for, and holds none of the words in `but`."""
    asked = set[str]().union(*map(_names, _commands(check)))
    told = [plain(one) for one in sentences(said) if not one.endswith(ASKING)] if asked else []
    return any(asked <= _called(one) and not any(word in one for word in but) for one in told)


def tells_of(said: str, command: str) -> bool:
    """A sentence tells of this run, or of no run in particular."""
    called = _called(said)
    names = set[str]().union(*map(_names, runs.parts(command)))
    return not called or not called.isdisjoint(names)


@lru_cache(REMEMBERED)
def _commands(check: str) -> tuple[str, ...]:
    """The tests and builds it names in code marks."""
    found = [shell.core(code) for code in _CODE.pattern.findall(check)]
    return tuple(one for one in found if runs.kind(one))


@lru_cache(REMEMBERED)
def _command_prefixes(check: str) -> frozenset[tuple[str, ...]]:
    """How the other commands begin that it is made of: `app deploy` for `app deploy --only site`.
    Where it says more, there is something to look at as well."""
    if len(_CODE.pattern.sub(" ", check).split()) > _FEW_WORDS:
        return frozenset()
    found = [_beginning(shell.core(code)) for code in _CODE.pattern.findall(check)]
    return frozenset(one for one in found if len(one) > 1)


def _beginning(command: str) -> tuple[str, ...]:
    """The program and what it is told to do."""
    words = [word for word in command.split() if not word.startswith("-")]
    return tuple(words[:2])


@lru_cache(REMEMBERED)
def _names(command: str) -> set[str]:
    """What people call a run: tests, or by its own name, such as lint or build."""
    if runs.kind(command) == "test":
        return {"tests"}
    return {word for word in plain(command).split() if runs.kind(word)}


@lru_cache(REMEMBERED)
def _called(text: str) -> set[str]:
    """Runs that a text speaks of; a single test is rather something to try."""
    words = plain(text).split()
    found = {word for word in words if runs.kind(word) == "build"}
    return found | {"tests" for word in words if word.startswith("test") and word.endswith("s")}


_NOTES = {"plan_mode": True, "plan_mode_reentry": True, "plan_mode_exit": False}
_TOOLS = {"EnterPlanMode": True, "ExitPlanMode": False}
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_PLANS = ".claude/plans/"  # the plan itself may be written


def apply_mode(record: Record, mode: str | None) -> None:
    """The mode a prompt was typed in; not every client says."""
    if mode:
        record.planning = mode == "plan"


def apply_note(record: Record, kind: str) -> None:
    """The client's note to the model."""
    record.planning = _NOTES.get(kind, record.planning)


def apply_success(record: Record, tool: str, what: str) -> None:
    """A call succeeded: a plan was approved, or a file was changed."""
    if tool in _EDITS:
        record.planning = record.planning and _PLANS in what
    else:
        record.planning = _TOOLS.get(tool, record.planning)
