"""Where checkpoints go: the project's own folder, else ours; and how to enter one safely.

A repository is anyone's: it may hold `.claude` or `.claude/checkpoints` as a link that leads out.
So a folder is entered step by step, no step follows a link, and files are named relative to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec

from holdfast.files.digest import digest
from holdfast.files.errors import Unusable
from holdfast.wire import places

INSIDE = ".claude/checkpoints"
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Place(msgspec.Struct, frozen=True):
    root: str  # exists, or is ours to make
    inside: str  # path below it, made as needed
    why: str = ""  # why not the project; empty for the project itself

    @property
    def path(self) -> str:
        return f"{self.root.rstrip('/')}/{self.inside}"


def root() -> str:
    return f"{places.home().rstrip('/')}/checkpoints"


def resolved(project: str) -> str:
    """One spelling per project, links followed; what cannot be a path stays as it is."""
    if not project.startswith("/"):
        return project
    try:
        return os.path.realpath(project)
    except (OSError, ValueError):
        return project


def key(project: str) -> str:
    """A folder name for a project: readable, and different for every path."""
    name = digest(project.encode("utf-8", "surrogatepass"))[:12]
    last = project.rstrip("/").rpartition("/")[2][:40]
    return f"{places.plain(last) if last else 'root'}-{name}"


def ours(project: str) -> str:
    """What we keep of a project under HOLDFAST_HOME: snapshots, the lock, the fallback files."""
    return f"{root()}/{key(project)}"


def fallback(project: str, why: str = "") -> Place:
    return Place(places.home(), f"checkpoints/{key(project)}/files", why)


def shelf(project: str = "") -> Place:
    """Our own folder of a project, or without one the folder of all: to be entered."""
    return Place(places.home(), f"checkpoints/{key(project)}" if project else "checkpoints")


def own(project: str) -> Place:
    """The project's folder, or Unusable with the reason."""
    if not project.startswith("/") or "\0" in project:
        raise Unusable(f"{project!r} is no project path")
    try:
        if not os.path.isdir(project):  # noqa: PTH112 (pathlib costs 8 ms)
            raise Unusable(f"{project} is not a folder")
        base = os.path.realpath(project).rstrip("/")
        real = os.path.realpath(f"{base}/{INSIDE}")
    except (OSError, ValueError) as slip:
        raise Unusable(f"{project!r}: {slip}") from None
    if not real.startswith(f"{base}/"):
        raise Unusable(f"{base}/{INSIDE} leads out of the project, to {real}")
    return Place(base or "/", real[len(base) + 1 :])


def candidates(project: str) -> list[Place]:
    """Every place to try, in order."""
    try:
        mine = own(project)
    except Unusable as slip:
        return [fallback(project, str(slip))]
    return [mine, fallback(project)]


def readable(project: str) -> list[str]:
    """The folders where checkpoints of a project may lie, whether they exist or not."""
    return [place.path for place in candidates(project)]


def names_in(folder: str) -> list[str]:
    """The names in a folder; one that cannot be listed holds none."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all we need, not an object for each
    except (OSError, ValueError):
        return []


@contextmanager
def entered(place: Place) -> Iterator[int]:
    """A descriptor of the folder, made owner-only where it was missing."""
    if place.root == places.home():  # a project that is gone is not made again
        os.makedirs(place.root, mode=0o700, exist_ok=True)  # noqa: PTH103
    fd = os.open(place.root, _ENTER)
    try:
        for part in place.inside.split("/"):
            below = _step(fd, part)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _step(fd: int, part: str) -> int:
    try:
        return os.open(part, _ENTER | os.O_NOFOLLOW, dir_fd=fd)
    except FileNotFoundError:
        with suppress(FileExistsError):  # another writer was faster
            os.mkdir(part, 0o700, dir_fd=fd)
    return os.open(part, _ENTER | os.O_NOFOLLOW, dir_fd=fd)
