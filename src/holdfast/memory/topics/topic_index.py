"""MEMORY.md as lines, the list of a memory folder, and what happens when the index is full.

Only our lines are added, changed or removed; no other byte changes. If the index is full, one line
stands for all of ours that do not fit: it names a page, which is a topic that lists them. A page
that somebody edited stays as it is, with its line, and we write the next page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from holdfast.memory.topics import folder, topic
from holdfast.memory.topics.topic import Ambiguous, IndexFull, MemoryTopic, NoSuchTopic, NotOurTopic

NAME = "MEMORY.md"
MOST_LINES, MOST_BYTES = 200, 25_000  # as much as the client loads
_POINTER = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(<?(?:\./)?([^)<>]+?)>?\)")
FILE = "holdfast-more.md"
FILES = (FILE, *(f"holdfast-more-{n}.md" for n in range(2, 10)))
TITLE = "More, kept by Holdfast"
ABOUT = f"topics {NAME} had no room for; read this when none above fits"


@dataclass(frozen=True, slots=True)
class TopicIndex:
    """The lines of an index with their line ends. Text that is not UTF-8 is kept as it is."""

    lines: tuple[str, ...]

    @classmethod
    def parse(cls, data: bytes) -> TopicIndex:
        text = data.decode("utf-8", "surrogateescape")
        return cls(tuple(re.findall(r"[^\n]*\n|[^\n]+", text)))

    def data(self) -> bytes:
        return "".join(self.lines).encode("utf-8", "surrogateescape")

    def fits(self) -> bool:
        return len(self.lines) <= MOST_LINES and len(self.data()) <= MOST_BYTES

    def files(self) -> list[str]:
        """The files that its lines name, in order."""
        return [found[1] for line in self.lines if (found := _POINTER.match(line))]

    def line_of(self, file: str) -> str | None:
        """The line that names this file, if there is one."""
        at = self._at(file)
        return None if at is None else self.lines[at].rstrip("\r\n")

    def put(self, file: str, text: str) -> TopicIndex:
        """Put a line in its old place, or at the end."""
        at = self._at(file)
        if at is None:
            return self._added(text)
        line = self.lines[at]
        changed = text + line[len(line.rstrip("\r\n")) :]
        return TopicIndex((*self.lines[:at], changed, *self.lines[at + 1 :]))

    def without(self, file: str) -> TopicIndex:
        at = self._at(file)
        if at is None:
            return self
        lines = [*self.lines[:at], *self.lines[at + 1 :]]
        if lines and at == len(lines) and not self.lines[at].endswith("\n"):
            end = self._end() if at > 1 else "\n"  # a single line shows no line end to follow
            lines[-1] = lines[-1].removesuffix(end)  # as it was before we added our line
        return TopicIndex(tuple(lines))

    def _at(self, file: str) -> int | None:
        for at, line in enumerate(self.lines):
            found = _POINTER.match(line)
            if found and found[1] == file:
                return at
        return None

    def _added(self, text: str) -> TopicIndex:
        """Add a line. If the last line has no line end, ours has none either, so that removing it
        restores the file."""
        end = self._end()
        if self.lines and not self.lines[-1].endswith("\n"):
            return TopicIndex((*self.lines[:-1], self.lines[-1] + end, text))
        return TopicIndex((*self.lines, text + end))

    def _end(self) -> str:
        return "\r\n" if self.lines and self.lines[0].endswith("\r\n") else "\n"


def fit_index(
    index: TopicIndex, least_used: Sequence[str], file: str, pointer: str
) -> tuple[TopicIndex, list[str]]:
    """Make the index fit: our least used lines leave it, and one line for all of them is added.

    Lines of others are never moved.
    """
    if index.fits():
        return index, []
    shorter = index.put(file, pointer)
    for count, name in enumerate(least_used, start=1):
        shorter = shorter.without(name)
        if shorter.fits():
            return shorter, list(least_used[:count])
    raise IndexFull(
        f"{NAME} holds {len(index.lines)} lines and {len(index.data()):,} bytes, "
        "and removing Holdfast's own lines frees too little room"
    )


def in_folder(path: Path, also: str = "") -> list[MemoryTopic]:
    """Read all topics, in the order of the index, then by file. `also` is read even if the folder
    has too many."""
    found = folder.read(path, NAME, folder.MOST_INDEX_BYTES)
    index = TopicIndex.parse(found.data if found else b"")
    order = {file: n for n, file in reversed(list(enumerate(index.files())))}
    names = folder.names(path)
    if also and also.casefold() not in {NAME.casefold(), *(name.casefold() for name in names)}:
        names.append(also)
    read = [one for name in names if (one := _topic(path, name, index))]
    return sorted(read, key=lambda one: (order.get(one.file, len(order)), one.file))


def find(found: Sequence[MemoryTopic], name: str) -> MemoryTopic:
    """Find a topic by its file, else by its name. If two have the name, ours is taken."""
    named = [one for one in found if name in (one.file, f"{one.file}".removesuffix(".md"))]
    named = named or [one for one in found if one.name == name]
    ours = [one for one in named if one.is_ours]
    if not named:
        raise NoSuchTopic(f"there is no topic {name}")
    if len(named) > 1 and len(ours) != 1:
        raise Ambiguous(f"{name} is in {', '.join(one.file for one in named)}")
    return named[0] if len(named) == 1 else ours[0]


def _topic(path: Path, name: str, index: TopicIndex) -> MemoryTopic | None:
    found = folder.read(path, name)
    if found is None:
        return None
    text = found.data.decode("utf-8", "replace")
    one = topic.parse(text, name)
    line = index.line_of(name)
    ours = one.is_ours and (line is None or line == topic.pointer(one))
    note = "longer than is read" if found.is_cut else one.note
    if one.is_ours and not ours:
        note = "its line in the index was edited"
    return replace(
        one,
        is_ours=ours and not found.is_cut,
        in_index=line is not None,
        modified_ms=found.modified_ms,
        used_ms=found.used_ms,
        note=note,
    )


def pointer(page: str) -> str:
    """Return the line for a page in the index."""
    return topic.pointer(MemoryTopic(TITLE, ABOUT, "reference", "", page))


def is_page(one: MemoryTopic) -> bool:
    """Return whether a topic is such a page, also if it was edited. Other topics may have had its
    file name."""
    return one.file == FILE or (one.file in FILES and one.name == TITLE)


def page(path: Path) -> str:
    """Return the page that we write: an existing one of ours, or a free name."""
    ours = [file for file in FILES if _page(path, file)]
    taken = folder.taken_names(path)
    free = (file for file in FILES if folder.is_free(path, file, taken))
    found = ours[0] if ours else next(free, "")
    if not found:
        raise NotOurTopic(f"{FILES[0]} to {FILES[-1]} were all edited or written by somebody else")
    return found


def list_pointers(
    path: Path, file: str, more: Sequence[MemoryTopic] = (), back: str = ""
) -> list[str]:
    """Return the lines of the page, with `more` added and without `back`, which returns to the
    index."""
    index = TopicIndex(tuple(f"{line}\n" for line in _lines(path, file))).without(back)
    for one in more:
        index = index.put(one.file, topic.pointer(one))
    return [line.rstrip("\n") for line in index.lines]


def write(path: Path, file: str, pointers: Sequence[str]) -> None:
    """Write the page. This comes before the index changes, so that every topic is always in one of
    them."""
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


def _page(path: Path, file: str) -> MemoryTopic | None:
    """Read a page as we wrote it; None if it was edited or is missing."""
    found = folder.read(path, file)
    one = topic.parse(found.data.decode("utf-8", "replace"), file) if found else None
    return one if one and one.is_ours and one.name == TITLE else None
