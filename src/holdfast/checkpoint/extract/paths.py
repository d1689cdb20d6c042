"""Files as the project knows them: relative to it, noted whenever they are used."""

from __future__ import annotations

from os.path import normpath
from typing import TYPE_CHECKING, Any

from holdfast.checkpoint.extract.heat import thin, warm
from holdfast.checkpoint.facts import Facts, Used

MOST_FILES = 600
MOST_ROOTS = 8
MOST_RANGES = 12
LONGEST_PATH = 300
SHOWS_IT = frozenset(("reads", "edits"))  # a file that is read is there
_BRANCH = b'"gitBranch":"'
_ELSEWHERE = ("/tmp/", "/private/tmp/", "/var/folders/", "/dev/", "/proc/")

if TYPE_CHECKING:  # a compaction waits for this module: making a protocol takes it 0.1 ms
    from typing import Protocol

    class Rooted(Protocol):
        """Whatever knows the folders a session worked in."""

        cwd: str
        roots: list[str]


def text_of(given: dict[str, Any], key: str) -> str:
    found = given.get(key)
    return found if isinstance(found, str) else ""


def told(given: dict[str, Any]) -> str:
    """The file a tool was called with."""
    return text_of(given, "file_path") or text_of(given, "notebook_path")


def enter(facts: Rooted, folder: str) -> None:
    """The session works in this folder now."""
    facts.cwd = folder
    if folder not in facts.roots and len(facts.roots) < MOST_ROOTS:
        facts.roots.append(folder)
        facts.roots.sort(key=len)


def relative(facts: Rooted, path: str) -> str:
    """The path as seen from the project; one from elsewhere stays whole."""
    for root in facts.roots:
        if path.startswith(root) and path[len(root) : len(root) + 1] == "/":
            return path[len(root) + 1 :]
    return path[2:] if path.startswith("./") else path


def folder(facts: Facts, entered: str) -> str:
    """The folder a command runs in as the project knows it; empty for the project itself."""
    if not entered and (not facts.roots or facts.cwd == facts.roots[0]):
        return ""
    where = facts.cwd
    if entered:
        where = normpath(entered if entered[0] == "/" else f"{where}/{entered}")
    return "" if facts.roots and where == facts.roots[0] else relative(facts, where)


def use(facts: Facts, path: str, how: str, weight: float) -> str:
    """Note one use of a file; gives its name in the project, or nothing for what is no file."""
    name = relative(facts, path.strip())
    if not 3 < len(name) <= LONGEST_PATH or name.startswith(_ELSEWHERE) or not name.isprintable():
        return ""
    used = facts.files.get(name)
    if used is None:
        used = facts.files[name] = Used()
        thin(facts.files, facts.op, MOST_FILES)
    setattr(used, how, getattr(used, how) + 1)
    used.gone = used.gone and how not in SHOWS_IT
    warm(used, facts.op, weight)
    if weight > 1:
        facts.last_file = name
    return name


def remove(facts: Facts, gone: list[str]) -> None:
    """These were removed, and what was left to do in them with them."""
    for path in gone:
        for used in _at(facts, relative(facts, path)).values():
            used.left, used.gone = [], True


def move(facts: Facts, moved: list[tuple[str, str]]) -> None:
    """What has another name now is known by that one, with all that is known of it."""
    for old, new in moved:
        name, into = relative(facts, old).rstrip("/"), relative(facts, new).rstrip("/")
        for file, used in _at(facts, name).items() if into != name else ():
            _take_over(facts.files.setdefault(f"{into}{file[len(name) :]}", Used()), used)


def _take_over(new: Used, old: Used) -> None:
    new.reads, new.edits = new.reads + old.reads, new.edits + old.edits
    new.runs, new.seen = new.runs + old.runs, new.seen + old.seen
    new.heat, new.op, new.left = max(new.heat, old.heat), max(new.op, old.op), old.left
    old.left, old.gone = [], True


def _at(facts: Facts, name: str) -> dict[str, Used]:
    """The file of this name, or all files of this folder."""
    name = name.rstrip("/")
    known = facts.files.items()
    return {file: used for file, used in known if file == name or file.startswith(f"{name}/")}


def branch(facts: Facts, data: bytes) -> None:
    """The branch the client saw; the typed line does not carry it."""
    start = data.find(_BRANCH, 0, 1200)
    if start < 0:
        start = data.find(_BRANCH, max(0, len(data) - 1200))
    if start >= 0:
        start += len(_BRANCH)
        facts.branch = data[start : start + 200].partition(b'"')[0].decode("utf-8", "replace")


def edited_at(facts: Facts, name: str, lines: list[tuple[int, int]]) -> None:
    """Lines of a file an edit touched, newest last, each range once."""
    used = facts.files.get(name)
    if used is None:
        return
    for span in lines:
        if span in used.ranges:
            used.ranges.remove(span)
        used.ranges.append(span)
    del used.ranges[:-MOST_RANGES]
