"""Paths of a project: its index, and the client's folder of its sessions."""

from __future__ import annotations

import os

from holdfast.client.memory_folder import slug
from holdfast.client.settings_files import config_folder
from holdfast.files.digest import digest
from holdfast.wire import places

SUFFIX = ".db"


def root() -> str:
    return f"{places.home().rstrip('/')}/recall"


def make_folder(folder: str) -> None:
    """Make the folder of the indexes, for the owner only. A link in its place is refused, as
    everywhere: nothing is written through it."""
    if os.path.islink(folder):  # noqa: PTH114
        raise OSError(f"{folder} is a link, and Holdfast writes through none; make it a folder")
    os.makedirs(folder, 0o700, exist_ok=True)  # noqa: PTH103


def resolve(project: str = "") -> str:
    """Return the project's path with links resolved; the current folder if it is empty."""
    project = project or os.getcwd()  # noqa: PTH109 (pathlib costs 8 ms)
    if "\0" in project:
        return project
    return os.path.realpath(project)


def key(project: str) -> str:
    """Return a file name for a project: readable, and unique per path."""
    last = project.rstrip("/").rpartition("/")[2][:40]
    name = digest(project.encode("utf-8", "surrogatepass"))[:12]
    return f"{places.plain(last) if last else 'root'}-{name}"


def index_file(project: str) -> str:
    return f"{root()}/{key(project)}{SUFFIX}"


def index_files() -> list[str]:
    return [f"{root()}/{name}" for name in sorted(names_in(root())) if name.endswith(SUFFIX)]


def client_folders() -> str:
    """Return the folder in which the client has one folder for each project."""
    return f"{config_folder(os.environ)}/projects"


def client_folder(project: str) -> str:
    """Return the client's folder for the transcripts of a project."""
    return f"{client_folders()}/{slug(project)}"


def names_in(folder: str) -> list[str]:
    """List the names in a folder; none if it cannot be listed."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all we need, not an object for each
    except (OSError, ValueError):
        return []


def stamp(path: str) -> str:
    """Return a value that changes with the file; empty if there is no regular file."""
    try:
        about = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return ""
    if about.st_mode & 0o170000 != 0o100000:
        return ""
    return f"{about.st_ino}-{about.st_size}-{about.st_mtime_ns}"
