"""The branch and commit of a project, read from git's own files: starting git would cost the hook
more.

The files come with the folder, so they are not trusted: a name that could lead out of the folder of
refs is not followed, and only a commit id is shown of what is read.
"""

from __future__ import annotations

import os

from holdfast.wire import places

MOST_PACKED_BYTES = 16 << 20  # 200,000 refs
MOST_PARENTS = 40
MOST_LINKS = 5  # as many refs that name a ref as git follows
UNKNOWN = "an unknown commit"
_NOT_IN_A_REF = frozenset(" ~^:?*[\\\x7f") | {chr(code) for code in range(32)}


def git_state(project: str) -> str:
    """Return `branch NAME at COMMIT`; empty if there is no repository."""
    folder = _find_repository(project)
    head = _head(folder) if folder else ""
    if not head.startswith("ref: "):
        return f"detached at {head[:12]}" if _is_commit(head) else ""
    common = _common_folder(folder)
    if os.path.isdir(f"{common}/reftable"):  # noqa: PTH112 (pathlib costs 8 ms)
        return "branch unknown: git keeps its refs in a reftable here"
    ref = head.removeprefix("ref: ")
    if not _is_ref(ref):
        return ""
    commit = _commit(ref, [folder, common])
    return f"branch {ref.removeprefix('refs/heads/')}" + (f" at {commit}" if commit else "")


def _find_repository(project: str) -> str:
    """Find the repository's folder as git does: in the project, or in a folder above it with the
    same owner. In a worktree or a submodule, `.git` is a file that names it."""
    owner = _owner(project)
    for _ in range(MOST_PARENTS):
        dot_git = f"{project.rstrip('/')}/.git"
        if os.path.isdir(dot_git):  # noqa: PTH112
            return dot_git
        pointer = _first_line(dot_git)
        if pointer.startswith("gitdir: "):
            return os.path.join(project, pointer.removeprefix("gitdir: "))  # noqa: PTH118
        project = project.rpartition("/")[0]
        if not project or owner is None or _owner(project) != owner:
            break
    return ""


def _owner(folder: str) -> tuple[int, int] | None:
    """Return the owner and the disk of a folder."""
    try:
        about = os.stat(folder)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return about.st_uid, about.st_dev


def _head(folder: str) -> str:
    """Return the content of HEAD; in old repositories it is a link to the ref."""
    try:
        target = os.readlink(f"{folder}/HEAD")  # noqa: PTH115
    except (OSError, ValueError):
        return _first_line(f"{folder}/HEAD")
    return f"ref: {target}" if target.startswith("refs/") else ""


def _common_folder(folder: str) -> str:
    """Return the folder that holds a worktree's branches: that of its main repository."""
    named = _first_line(f"{folder}/commondir")
    return os.path.join(folder, named) if named else folder  # noqa: PTH118


def _is_ref(name: str) -> bool:
    """Whether git allows this name: no part begins with a dot, so none leads out of the folder."""
    parts = name.split("/")
    return (
        parts[0] == "refs"
        and len(parts) > 2
        and all(part and part[0] != "." and not part.endswith(".lock") for part in parts)
        and ".." not in name
        and not _NOT_IN_A_REF.intersection(name)
    )


def _commit(ref: str, folders: list[str]) -> str:
    """Return the start of the ref's commit id; empty for a branch without a commit."""
    for _ in range(MOST_LINKS):
        commit = next(filter(None, (_first_line(f"{folder}/{ref}") for folder in folders)), "")
        if _is_commit(commit):
            return commit[:12]
        if not commit.startswith("ref: "):
            return _packed_commit(ref, f"{folders[-1]}/packed-refs")
        ref = commit.removeprefix("ref: ")
        if not _is_ref(ref):
            break
    return UNKNOWN


def _packed_commit(ref: str, path: str) -> str:
    """Find the ref in the file of packed refs, which has `COMMIT REF` on each line."""
    data = places.read_small(path, MOST_PACKED_BYTES)
    at = data.find(f" {ref}\n".encode())
    commit = data[max(0, at - 64) : max(0, at)].rpartition(b"\n")[2].decode("ascii", "replace")
    if _is_commit(commit):
        return commit[:12]
    return UNKNOWN if len(data) == MOST_PACKED_BYTES else ""


def _first_line(path: str) -> str:
    return places.read_small(path, 4096).decode("utf-8", "replace").partition("\n")[0].strip()


def _is_commit(text: str) -> bool:
    return len(text) in (40, 64) and all(mark in "0123456789abcdef" for mark in text)
