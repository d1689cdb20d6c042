"""Leaving a project without a trace: its folder of checkpoints goes, if all in it is ours."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

import msgspec

from holdfast.checkpoint import index, provenance
from holdfast.checkpoint.entry import from_file
from holdfast.checkpoint.verify import verify
from holdfast.files import atomic, folders
from holdfast.files.folders import FolderPlace, UnusableFolder
from holdfast.text import timestamps
from holdfast.wire import places

IGNORE = b"*\n"


class Left(msgspec.Struct, frozen=True):
    """A project's folder of checkpoints as it lies there."""

    project: str
    place: FolderPlace
    names: tuple[str, ...]
    why: str = ""  # why it must stay; empty: everything in it is ours, as we kept it

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def checkpoints(self) -> int:
        return sum(bool(timestamps.id_of(name)) for name in self.names)


def folders_left(also: Iterable[str] = ()) -> list[Left]:
    """Of every project we know or are told of; one that cannot be entered holds nothing of ours."""
    found = []
    for project in sorted({*index.projects(), *(folders.resolve(one) for one in also)}):
        with suppress(UnusableFolder):
            place = folders.own(project)
            names = tuple(sorted(folders.names_in(place.path)))
            if names:
                found.append(Left(project, place, names, _why(place.path, names)))
    return found


def remove(left: Left) -> str:
    """The folder and what was judged to be ours; in words why it did not go, if it did not."""
    try:
        with folders.enter(left.place) as folder:
            for name in left.names:
                os.unlink(name, dir_fd=folder)
        os.rmdir(left.path)  # noqa: PTH106
    except OSError as error:
        return f"{error.strerror}"
    with suppress(OSError):  # ours too where nothing else is in it
        os.rmdir(left.path.rpartition("/")[0])  # noqa: PTH106
    return "; ".join(index.refresh(left.project))


def _why(folder: str, names: tuple[str, ...]) -> str:
    for name in names:
        path = f"{folder}/{name}"
        if name == ".gitignore" and places.read_small(path) == IGNORE:
            continue
        if atomic.is_draft(name):
            continue
        if not timestamps.id_of(name):
            return f"{name} is not ours"
        if not verify(path).ok:
            return f"{name} is CHANGED: not what was saved"
        if not provenance.is_own(from_file(path)):
            return f"{name} was not made on this machine"
    return ""
