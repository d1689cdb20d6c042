"""A full index keeps one line for those of ours it has no room for: a topic that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from holdfast.memory.hot import folder, topic
from holdfast.memory.hot.index import NAME, Index
from holdfast.memory.hot.topic import Topic

FILE = "holdfast-more.md"
TITLE = "More, kept by Holdfast"
ABOUT = f"topics {NAME} had no room for; read this when none above fits"
POINTER = topic.pointer(Topic(TITLE, ABOUT, "reference", "", FILE))


def listed(path: Path, more: Sequence[Topic] = (), back: str = "") -> list[str]:
    """The pointers on it, with these added, and without what goes back into the index."""
    index = Index(tuple(f"{line}\n" for line in _lines(path))).without(back)
    for one in more:
        index = index.put(one.file, topic.pointer(one))
    return [line.rstrip("\n") for line in index.lines]


def write(path: Path, pointers: Sequence[str]) -> None:
    """Before the index changes, so that no topic is ever in neither."""
    if pointers and list(pointers) != _lines(path):
        text = topic.render(TITLE, ABOUT, "reference", "\n".join(pointers))
        folder.replace(path, FILE, text.encode())


def remove_if_empty(path: Path, pointers: Sequence[str]) -> None:
    if not pointers and _lines(path):
        folder.remove(path, FILE)


def _lines(path: Path) -> list[str]:
    found = folder.read(path, FILE)
    if found is None:
        return []
    page = topic.parse(found.data.decode("utf-8", "replace"), FILE)
    return [line for line in page.body.split("\n") if line.strip()] if page.is_ours else []
