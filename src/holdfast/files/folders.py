"""Folders for checkpoints: in the project if possible, else in HOLDFAST_HOME; entered safely.

The author of a repository is unknown: `.claude` or `.claude/checkpoints` may be a link that leads
out of it. So a folder is opened part by part without following links.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from holdfast.wire import places

INSIDE = ".claude/checkpoints"
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class UnusableFolder(Exception):
    """A folder we do not write into, and why. The next place is tried."""


class FolderPlace(NamedTuple):
    root: str  # exists, or is HOLDFAST_HOME, which we may create
    inside: str  # path below the root, created if missing
    why: str = ""  # why the project is not used; empty for the project itself

    @property
    def path(self) -> str:
        return f"{self.root.rstrip('/')}/{self.inside}"


def root() -> str:
    return f"{places.home().rstrip('/')}/checkpoints"


def resolve(project: str) -> str:
    """The real path of a project, so that each has one spelling. Invalid paths stay as they are."""
    if not project.startswith("/"):
        return project
    try:
        return os.path.realpath(project)
    except (OSError, ValueError):
        return project


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def key(project: str) -> str:
    """A folder name for a project: readable, and unique for its path."""
    name = digest(project.encode("utf-8", "surrogatepass"))[:12]
    last = project.rstrip("/").rpartition("/")[2][:40]
    return f"{places.plain(last) if last else 'root'}-{name}"


def home_path(project: str) -> str:
    """A project's folder in HOLDFAST_HOME: snapshots, the lock, the fallback files."""
    return f"{root()}/{key(project)}"


def fallback(project: str, why: str = "") -> FolderPlace:
    return FolderPlace(places.home(), f"checkpoints/{key(project)}/files", why)


def home_folder(project: str = "") -> FolderPlace:
    """A project's folder in HOLDFAST_HOME, to be entered; without a project, the folder of all."""
    return FolderPlace(places.home(), f"checkpoints/{key(project)}" if project else "checkpoints")


def project_folder(project: str) -> FolderPlace:
    """The folder inside the project, or UnusableFolder with the reason."""
    if not project.startswith("/") or "\0" in project:
        raise UnusableFolder(f"{project!r} is not a project path")
    try:
        if not os.path.isdir(project):
            raise UnusableFolder(f"{project} is not a folder")
        base = os.path.realpath(project).rstrip("/")
        real = os.path.realpath(f"{base}/{INSIDE}")
    except (OSError, ValueError) as error:
        raise UnusableFolder(f"{project!r}: {error}") from None
    if not real.startswith(f"{base}/"):
        raise UnusableFolder(f"{base}/{INSIDE} leads out of the project, to {real}")
    return FolderPlace(base or "/", real[len(base) + 1 :])


def candidates(project: str) -> list[FolderPlace]:
    """The places to try, in order."""
    try:
        mine = project_folder(project)
    except UnusableFolder as error:
        return [fallback(project, str(error))]
    return [mine, fallback(project)]


def readable(project: str) -> list[str]:
    """The folders that may hold a project's checkpoints, whether they exist or not."""
    return [place.path for place in candidates(project)]


def names_in(folder: str) -> list[str]:
    """The names in a folder; none if it cannot be listed."""
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []


@contextmanager
def enter(place: FolderPlace) -> Iterator[int]:
    """Open the folder for the block as a descriptor; missing parts are created owner-only."""
    if place.root == places.home():  # a removed project is not created again
        os.makedirs(place.root, mode=0o700, exist_ok=True)
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
