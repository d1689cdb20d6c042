"""Files and how they were used, under their paths relative to the project."""

from __future__ import annotations

from os.path import normpath
from typing import TYPE_CHECKING, Any

from holdfast.record import shell
from holdfast.record.model import FileUse, Place, Record, keep_most_used

EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})  # the tools that edit one
MOST_FILES = 600  # not edited ones; at twice as many the least used are removed
MOST_ROOTS = 8
MOST_EDITED = 2000
COUNT_EVERY = 64  # counting thousands of files at each new one takes too long
LONGEST_PATH = 300

if TYPE_CHECKING:  # a compaction waits for this module, and a protocol costs 0.1 ms
    from typing import Protocol

    class Rooted(Protocol):
        cwd: str
        roots: list[str]


def text_of(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def path_argument(fields: dict[str, Any]) -> str:
    return text_of(fields, "file_path") or text_of(fields, "notebook_path")


def enter(record: Rooted, folder: str) -> None:
    record.cwd = folder
    if folder not in record.roots and len(record.roots) < MOST_ROOTS:
        record.roots.append(folder)
        record.roots.sort(key=len)


def relative(record: Rooted, path: str) -> str:
    """Return the path relative to the project; a path outside of it stays absolute."""
    for root in record.roots:
        if path.startswith(root) and path[len(root) : len(root) + 1] == "/":
            return path[len(root) + 1 :]
    return path[2:] if path.startswith("./") else path


def use(record: Record, path: str, how: str) -> str:
    """Record one use of a file: `reads`, `edits`, `written` (by a command) or `by_agents`. Return
    its name in the project, or an empty text if it is no file."""
    name = relative(record, normpath(path.strip()))
    if not 3 < len(name) <= LONGEST_PATH or not name.isprintable():
        return ""
    if name.startswith(shell.ELSEWHERE) and how == "reads":
        return ""
    is_new = name not in record.files
    used = record.files.setdefault(name, FileUse())
    setattr(used, how, getattr(used, how) + 1)
    used.op, used.gone = record.op, False
    if is_new:  # it is used by now, so it is not the one removed
        _thin(record)
    return name


def _thin(record: Record) -> None:
    """Remove the least used files of very many; edited ones only of thousands."""
    if len(record.files) <= 2 * MOST_FILES or len(record.files) % COUNT_EVERY:
        return
    edited = [name for name, used in record.files.items() if used.is_changed]
    others = [name for name, used in record.files.items() if not used.is_changed]
    if len(others) > 2 * MOST_FILES:
        keep_most_used(record.files, others, record.op, MOST_FILES)
    if len(edited) > 2 * MOST_EDITED:
        keep_most_used(record.files, edited, record.op, MOST_EDITED)


def remove(record: Record, line: str) -> None:
    for name in (path.rstrip("/") for path in named(record, line, shell.find_removed(line))):
        for path in record.files:
            if path == name or path.startswith(f"{name}/"):
                record.files[path].gone = True
                note_edit(record, path, "")


def find_written(record: Record, line: str) -> list[str]:
    return named(record, line, shell.find_written(line))


def named(record: Record, line: str, paths: list[str]) -> list[str]:
    where = shell.folder_of(line, record.cwd) if paths else ""
    usable = [path for path in paths if path and shell.is_plain(path)]
    whole = [normpath(path if path[0] in "/~" else f"{where}/{path}") for path in usable]
    names = (relative(record, path) for path in whole)
    return [name for name in names if not name.startswith(shell.ELSEWHERE)]


def note_edit(record: Record, name: str, words: str) -> None:
    used = record.files.get(name)
    if used is not None:
        used.edited = Place(0, record.at, record.op)
        used.said = used.said if used.largest else words


def undo_use(record: Record, name: str, how: str) -> None:
    if used := record.files.get(name):
        setattr(used, how, max(0, getattr(used, how) - 1))
        if not used.count:
            del record.files[name]
