"""Find a checkpoint: the newest, or the one that a word names; those before it; what changed."""

import os
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from holdfast.checkpoint import checkpoint_file, index
from holdfast.checkpoint.checkpoint_file import DamagedCheckpoint, Document
from holdfast.checkpoint.index import CheckpointEntry, from_file
from holdfast.checkpoint.verify import VerifyReport, verify
from holdfast.wire.errors import HoldfastError

FRESH = timedelta(hours=24)
LATEST, PREVIOUS = "latest", "previous"
MOST_NAMED = 5  # checkpoints that a word may mean


class NoCheckpoint(HoldfastError):
    hint = "`holdfast resume` lists them; `holdfast rebuild` finds those that were moved or copied"


class SectionChange(msgspec.Struct, frozen=True):
    heading: str
    added: list[str]
    removed: list[str]


def newest(
    project: str, now: datetime, within: timedelta = FRESH, session_id: str | None = None
) -> VerifyReport | None:
    """Return the newest verified checkpoint of a project's main sessions, read from its file, or
    None.

    Only checkpoints made on this machine count, because the model gets the text without asking for
    it. After a clock was set back, old ones lie in the future: they count up to `within` ahead.
    """
    for entry in sort_entries(index.of_project(project)):
        if entry.agent_id or session_id not in (None, entry.session_id):
            continue
        report = (
            verify(entry.path)
            if abs(now - checkpoint_file.from_iso(entry.created)) <= within
            else None
        )
        if report is not None and report.ok and report.content_hash == entry.content_hash:
            return report
    return None


def sort_entries(entries: Iterable[CheckpointEntry]) -> list[CheckpointEntry]:
    """Sort newest first; in a window by its own count, for a clock may be set back."""
    newest: dict[tuple[str, str, str], tuple[str, int]] = {}
    ranks = {}
    for entry in sorted(entries, key=lambda entry: (entry.iteration, *entry.rank)):
        window = entry.project, entry.session_id, entry.agent_id  # each project counts for itself
        newest[window] = max(entry.rank, newest.get(window, entry.rank))
        ranks[entry.path] = (*newest[window], entry.iteration), entry
    return [entry for _, entry in sorted(ranks.values(), key=lambda pair: pair[0], reverse=True)]


def find_by_name(word: str, project: str) -> CheckpointEntry:
    """Find by file, by id or the start of one, or by `latest` and `previous` in the project."""
    if "/" in word or word.endswith(".md"):
        return _by_file(word)
    here = sort_entries(index.of_project(project))
    if word == LATEST:
        return _first(here, project)
    if word == PREVIOUS:
        return _before(_first(here, project), here)
    foreign = sort_entries(index.of_project(project, foreign=True))
    everywhere = sort_entries(index.load_or_empty())
    entry = _by_id(word, here) or _by_id(word, foreign) or _by_id(word, everywhere)
    if entry is None:
        raise NoCheckpoint(f"there is no checkpoint {word}")
    return entry


def newest_of_session(session_id: str) -> CheckpointEntry | None:
    """Return a session's newest; a subagent's only if the session itself has none."""
    rows = [row for row in index.load_or_empty() if row.session_id.startswith(session_id)]
    return next(iter(sort_entries([row for row in rows if not row.agent_id] or rows)), None)


def newest_with_parent(
    project: str, session_id: str = ""
) -> tuple[CheckpointEntry, CheckpointEntry]:
    """Return the newest checkpoint of this or the newest session, and that before it there."""
    entries = sort_entries(index.of_project(project))
    rows = [row for row in entries if session_id and row.session_id == session_id] or entries
    newest = _first([row for row in rows if not row.agent_id] or rows, project)
    parent = next(iter(trace(newest, entries)[1:]), None)
    if parent is None:
        raise NoCheckpoint(
            f"{newest.id} is the only checkpoint of session {newest.session_id}",
            "name two: holdfast diff OLDER NEWER; `holdfast resume` lists them",
        )
    return parent, newest


def full_path(word: str) -> str:
    """Return the path as the index spells it: the folder resolved, a link not followed."""
    folder, _, name = word.rpartition("/")
    here = folder or ("/" if word.startswith("/") else ".")
    return f"{os.path.realpath(here).rstrip('/')}/{name}"


def _by_file(word: str) -> CheckpointEntry:
    try:
        return from_file(full_path(word))
    except DamagedCheckpoint as error:
        raise NoCheckpoint(f"{word}: {error}") from None


def _first(entries: list[CheckpointEntry], project: str) -> CheckpointEntry:
    if not entries:
        raise NoCheckpoint(f"there is no checkpoint of {project}")
    return entries[0]


def _before(latest: CheckpointEntry, entries: list[CheckpointEntry]) -> CheckpointEntry:
    candidates = [*trace(latest, entries)[1:], *entries[1:]]
    if not candidates:
        raise NoCheckpoint(f"{latest.id} is the only checkpoint of {latest.project}")
    return candidates[0]


def _by_id(word: str, entries: list[CheckpointEntry]) -> CheckpointEntry | None:
    exact = [entry for entry in entries if entry.id == word]
    fits = exact or [entry for entry in entries if word and entry.id.startswith(word)]
    if len(fits) > 1:
        paths = "\n  ".join(fit.path for fit in fits[:MOST_NAMED])
        if len(fits) > MOST_NAMED:
            paths += f"\n  … {len(fits) - MOST_NAMED:,} more"
        raise HoldfastError(
            f"{word} matches {len(fits)} checkpoints:\n  {paths}", "name the file instead", 2
        )
    return fits[0] if fits else None


def trace(entry: CheckpointEntry, entries: Iterable[CheckpointEntry]) -> list[CheckpointEntry]:
    window = entry.project, entry.session_id, entry.agent_id
    rows = [row for row in entries if (row.project, row.session_id, row.agent_id) == window]
    earlier = [row for row in rows if row.iteration < entry.iteration]
    return [entry, *sorted(earlier, key=lambda row: (row.iteration, *row.rank), reverse=True)]


def compare(older: Document, newer: Document) -> list[SectionChange]:
    """Return the items added and removed in each section that changed."""
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
