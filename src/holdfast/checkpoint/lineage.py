"""The lineage of a checkpoint: those before it in its window, and what changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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
    """Return this one and those before it in its window that are left, the newest first."""
    window = entry.project, entry.session_id, entry.agent_id
    same = [one for one in entries if (one.project, one.session_id, one.agent_id) == window]
    earlier = [one for one in same if one.iteration < entry.iteration]
    return [entry, *sorted(earlier, key=lambda one: (one.iteration, *one.rank), reverse=True)]


def compare(older: Document, newer: Document) -> list[SectionChange]:
    """Return the items added and removed in each section, in order; unchanged sections are left
    out."""
    before, after = older.sections, newer.sections
    changes = (
        SectionChange(
            name,
            items_beyond(after.get(name, ()), before.get(name, ())),
            items_beyond(before.get(name, ()), after.get(name, ())),
        )
        for name in dict.fromkeys([*after, *before])
    )
    return [change for change in changes if change.added or change.removed]


def items_beyond(items: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the items of one list that the other lacks, counting repeated ones."""
    return list((Counter(items) - Counter(others)).elements())
