"""Paths of a project: its index, and the client's folder of its sessions."""

import os

from holdfast.client.claude_folder import config_folder
from holdfast.client.memory_folder import slug
from holdfast.files.folders import key, names_in
from holdfast.wire import places

SUFFIX = ".db"


def root() -> str:
    return f"{places.home().rstrip('/')}/recall"


def resolve(project: str = "") -> str:
    """Return the project's path with links resolved; the current folder if it is empty."""
    project = project or os.getcwd()
    if "\0" in project:
        return project
    return os.path.realpath(project)


def index_file(project: str) -> str:
    return f"{root()}/{key(project)}{SUFFIX}"


def index_files() -> list[str]:
    return [f"{root()}/{name}" for name in sorted(names_in(root())) if name.endswith(SUFFIX)]


def client_folder(project: str) -> str:
    return f"{config_folder(os.environ)}/projects/{slug(project)}"


def stamp(path: str) -> str:
    """Return a value that changes with the file; empty if there is no regular file."""
    try:
        about = os.stat(path)
    except (OSError, ValueError):
        return ""
    if about.st_mode & 0o170000 != 0o100000:
        return ""
    return f"{about.st_ino}-{about.st_size}-{about.st_mtime_ns}"
