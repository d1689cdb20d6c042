"""The lineage of a checkpoint: its parents, back to the first, and what changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from holdfast.checkpoint.document import Document
from holdfast.checkpoint.entry import CheckpointEntry, newest_of


class SectionChange(msgspec.Struct, frozen=True):
    heading: str
    added: list[str]
    removed: list[str]


def extend(document: Document, entries: Iterable[CheckpointEntry]) -> Document:
    """Continue the count of the window's newest checkpoint; values that the caller set stay."""
    last = newest_of(entries, document.session_id, document.agent_id)
    if last is None:
        return replace(document, iteration=document.iteration or 1)
    return replace(
        document,
        iteration=document.iteration or last.iteration + 1,
        parent=document.parent or last.id,
    )


def trace(entry: CheckpointEntry, entries: Iterable[CheckpointEntry]) -> list[CheckpointEntry]:
    """Return this one, its parent, and so on to the first known; a circle ends where it closes."""
    by_id: dict[str, list[CheckpointEntry]] = {}
    for one in entries:
        by_id.setdefault(one.id, []).append(one)
    line = [entry]
    while (parent := _parent(line[-1], by_id)) is not None and parent not in line:
        line.append(parent)
    return line


def _parent(
    child: CheckpointEntry, by_id: dict[str, list[CheckpointEntry]]
) -> CheckpointEntry | None:
    """Return the parent. Ids are unique only within a project; a parent of the same session is
    preferred."""
    fits = [one for one in by_id.get(child.parent, ()) if one.project == child.project]
    same = [one for one in fits if one.session_id == child.session_id]
    return next(iter(same or fits), None)


def compare(older: Document, newer: Document) -> list[SectionChange]:
    """Return the items added and removed in each section, in order; unchanged sections are left
    out."""
    headings = [*newer.sections, *(name for name in older.sections if name not in newer.sections)]
    found = []
    for name in headings:
        before, after = older.sections.get(name, ()), newer.sections.get(name, ())
        change = SectionChange(name, items_beyond(after, before), items_beyond(before, after))
        if change.added or change.removed:
            found.append(change)
    return found


def items_beyond(items: Sequence[str], others: Sequence[str]) -> list[str]:
    """Return the items of one list that the other lacks, counting repeated ones."""
    left = Counter(others)
    found = []
    for item in items:
        if left[item] > 0:
            left[item] -= 1
        else:
            found.append(item)
    return found
