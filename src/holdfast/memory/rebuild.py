"""Every index made again from its sources; vectors of words that are still there are carried over,
because making one takes fifty times as long as indexing its text."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.memory import locations
from holdfast.memory.errors import Damaged, NewerIndex, OfIndex
from holdfast.memory.index import engines, sqlite_file
from holdfast.memory.sources import windows
from holdfast.memory.sync import Synced, bring_up


def rebuild(projects: Iterable[str] = ()) -> list[Synced]:
    """Of these projects, and of all we know of; how many items each has now."""
    known = {locations.resolved(one) for one in projects} | windows.projects() | _indexed()
    return [_again(project) for project in sorted(known) if _has_something(project)]


def _indexed() -> set[str]:
    found = set()
    for path in locations.index_files():
        try:
            found.add(sqlite_file.project_of(path))
        except OfIndex:
            continue  # nobody's, or not to be had: left alone
    return found


def _has_something(project: str) -> bool:
    """A folder nobody ever worked in gets no index."""
    from holdfast.memory.sync import sources

    return bool(locations.stamp(locations.index_file(project))) or any(
        True for _ in sources(project)
    )


def _again(project: str) -> Synced:
    note: tuple[str, ...] = ()
    try:
        index = engines.opened(project)
        index.begin_again()
    except (Damaged, NewerIndex) as slip:
        aside = engines.set_aside(project)
        note = (f"{slip}; kept as {aside}",)
        index = engines.opened(project)
    return bring_up(index)._replace(items=index.counts().items, notes=note)
