"""How long checkpoints stay: decide which may be removed, remove them, and find the folders that an
uninstall may remove because everything in them is ours.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from holdfast.checkpoint import checkpoint_file, index, snapshot
from holdfast.checkpoint.index import CheckpointEntry, files_in
from holdfast.checkpoint.verify import verify
from holdfast.files import atomic, folders
from holdfast.files.folders import FolderPlace, UnusableFolder
from holdfast.wire import places


class CheckpointRetention(msgspec.Struct, frozen=True):
    at_most: int  # per project
    days: int
    daily_after_days: int
    at_least: int = 5  # of any age: a clock that jumps makes all of them old at once


class Pruned(msgspec.Struct, frozen=True):
    removed: list[CheckpointEntry]
    left: list[str]  # what could not be removed, and why


def find_spent(
    entries: Iterable[CheckpointEntry], now: datetime, retention: CheckpointRetention
) -> list[CheckpointEntry]:
    """Return the checkpoints of one project that may be removed; never the newest verified one
    of a session. One that does not verify is never returned: somebody may have edited it."""
    ours = sorted((entry for entry in entries if entry.verified), key=lambda entry: entry.rank)
    last = {session.path for session in _last_of_sessions(ours)}
    newest = {entry.path for entry in ours[-retention.at_least :]} if retention.at_least else set()
    daily = {entry.created[:10]: entry.path for entry in ours}  # the newest of each day
    stays = [
        entry
        for entry in ours
        if entry.path in last | newest or _in_time(entry, now, retention, daily[entry.created[:10]])
    ]
    free = [entry for entry in stays if entry.path not in last]
    surplus = free[: max(0, min(len(free), len(stays) - retention.at_most))]
    paths = {entry.path for entry in stays} - {entry.path for entry in surplus}
    return [entry for entry in ours if entry.path not in paths]


def _last_of_sessions(ours: list[CheckpointEntry]) -> list[CheckpointEntry]:
    """Return each session's own newest; a subagent's only if the session itself has none."""
    last: dict[str, CheckpointEntry] = {}
    for entry in sorted(ours, key=lambda entry: (not entry.agent_id, entry.iteration, entry.rank)):
        last[entry.session_id] = entry
    return list(last.values())


def _in_time(
    entry: CheckpointEntry, now: datetime, retention: CheckpointRetention, daily: str
) -> bool:
    age = now - checkpoint_file.from_iso(entry.created)
    if age > timedelta(days=retention.days):
        return False
    return age <= timedelta(days=retention.daily_after_days) or entry.path == daily


def prune(project: str, now: datetime, retention: CheckpointRetention) -> Pruned:
    project = folders.resolve(project)
    inside = folders.readable(project)
    entries = [entry for entry in index.of_project(project) if entry.folder in inside]
    removed, left = [], []
    for entry in find_spent(entries, now, retention):
        try:
            Path(entry.path).unlink()
            removed.append(entry)
        except OSError as error:
            left.append(f"{entry.path}: {error.strerror}")
    _sweep(project)
    return Pruned(removed, left + index.refresh(project))


def _sweep(project: str) -> None:
    """Remove snapshots without a file; none if no file is found: a disk may be missing."""
    paths = [path for folder in folders.readable(project) for path in files_in(folder)]
    present = {checkpoint_file.id_of(path.rpartition("/")[2]) for path in paths}
    for checkpoint_id in snapshot.names(project) - present if present else ():
        with suppress(OSError):
            Path(snapshot.path_of(project, checkpoint_id)).unlink()


IGNORE = b"*\n"


class Left(msgspec.Struct, frozen=True):
    """A project's folder of checkpoints. `stays` are the files that must not be removed, each with
    the reason; all others are ours and unchanged."""

    project: str
    place: FolderPlace
    names: tuple[str, ...]
    stays: dict[str, str] = {}

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def may_go(self) -> tuple[str, ...]:
        """While something stays, so does `.gitignore`: git would see the rest."""
        names = {*self.stays, ".gitignore"} if self.stays else set()
        return tuple(name for name in self.names if name not in names)

    @property
    def checkpoints(self) -> int:
        return sum(bool(checkpoint_file.id_of(name)) for name in self.may_go)


def folders_left(also: Iterable[str] = ()) -> list[Left]:
    """Return the folders of known or given projects that can be opened."""
    lefts = []
    for project in sorted({*index.projects(), *(folders.resolve(path) for path in also)}):
        with suppress(UnusableFolder):
            place = folders.project_folder(project)
            names = tuple(sorted(folders.names_in(place.path)))
            stays = {name: why for name in names if (why := _why(place.path, name))}
            if names:
                lefts.append(Left(project, place, names, stays))
    return lefts


def remove_own(left: Left) -> str:
    """Remove our files, and the folder if it is empty then; return why that failed."""
    try:
        with folders.enter(left.place) as folder:
            for name in left.may_go:
                os.unlink(name, dir_fd=folder)
        if not left.stays:
            Path(left.path).rmdir()
    except OSError as error:
        return f"{error.strerror}"
    if not left.stays:
        with suppress(OSError):  # the parent is ours too if it is empty
            Path(left.path).parent.rmdir()
    return "; ".join(index.refresh(left.project))


def _why(folder: str, name: str) -> str:
    path = f"{folder}/{name}"
    if (name == ".gitignore" and places.read_small(path) == IGNORE) or atomic.is_draft(name):
        return ""
    if not checkpoint_file.id_of(name):
        return f"{name} is not a file of Holdfast"
    report = verify(path)
    if not report.ok or report.entry is None:
        return f"{name} was changed after it was saved"
    why = index.why_not_own(report.entry)
    return f"{name}: {why}" if why else ""
