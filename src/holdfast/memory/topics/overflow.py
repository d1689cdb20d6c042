"""A full index keeps one line for those of ours it has no room for: a topic that lists them.

A page somebody has edited is theirs and stays as it is, with its line; ours goes on in the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.memory.topics import folder, topic
from holdfast.memory.topics.errors import NotOurs
from holdfast.memory.topics.index import NAME, Index
from holdfast.memory.topics.topic import Topic

FILE = "holdfast-more.md"
FILES = (FILE, *(f"holdfast-more-{n}.md" for n in range(2, 10)))
TITLE = "More, kept by Holdfast"
ABOUT = f"topics {NAME} had no room for; read this when none above fits"


def pointer(page: str) -> str:
    """The line of a page in the index."""
    return topic.pointer(Topic(TITLE, ABOUT, "reference", "", page))


def is_page(one: Topic) -> bool:
    """A page of this kind, whoever has edited it; a topic may have had such a name before."""
    return one.file == FILE or (one.file in FILES and one.name == TITLE)


def page(path: Path) -> str:
    """The one we write: it is ours, or nothing is there yet."""
    ours = [file for file in FILES if _page(path, file)]
    taken = folder.taken(path)
    free = (file for file in FILES if folder.is_free(path, file, taken))
    found = ours[0] if ours else next(free, "")
    if not found:
        raise NotOurs(f"{FILES[0]} to {FILES[-1]} were all edited or written by somebody else")
    return found


def listed(path: Path, file: str, more: Sequence[Topic] = (), back: str = "") -> list[str]:
    """The pointers on it, with these added, and without what goes back into the index."""
    index = Index(tuple(f"{line}\n" for line in _lines(path, file))).without(back)
    for one in more:
        index = index.put(one.file, topic.pointer(one))
    return [line.rstrip("\n") for line in index.lines]


def write(path: Path, file: str, pointers: Sequence[str]) -> None:
    """Before the index changes, so that no topic is ever in neither."""
    if not pointers or list(pointers) == _lines(path, file):
        return
    text = topic.render(TITLE, ABOUT, "reference", "\n".join(pointers))
    put = folder.replace if _page(path, file) else folder.create
    put(path, file, text.encode())


def remove_if_empty(path: Path, file: str, pointers: Sequence[str]) -> None:
    if not pointers and _lines(path, file):
        folder.remove(path, file)


def _lines(path: Path, file: str) -> list[str]:
    found = _page(path, file)
    return [line for line in found.body.split("\n") if line.strip()] if found else []


def _page(path: Path, file: str) -> Topic | None:
    """As we wrote it, or none."""
    found = folder.read(path, file)
    one = topic.parse(found.data.decode("utf-8", "replace"), file) if found else None
    return one if one and one.is_ours and one.name == TITLE else None
