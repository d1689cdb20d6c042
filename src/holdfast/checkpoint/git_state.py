"""Where a project's git stands, read from its own files: a process would cost the hook more."""

from __future__ import annotations

from holdfast.wire import places


def git_state(project: str) -> str:
    """`branch NAME at COMMIT`, or nothing where there is no repository to be seen."""
    folder = f"{project}/.git"
    pointer = _first_line(folder)  # a worktree's .git is a file that names the folder
    if pointer.startswith("gitdir: "):
        folder = pointer.removeprefix("gitdir: ")
    head = _first_line(f"{folder}/HEAD")
    if not head.startswith("ref: "):
        return f"detached at {head[:12]}" if _is_commit(head) else ""
    branch = head.removeprefix("ref: ").removeprefix("refs/heads/")
    commit = _first_line(f"{folder}/refs/heads/{branch}")
    return f"branch {branch}" + (f" at {commit[:12]}" if _is_commit(commit) else "")


def _first_line(path: str) -> str:
    if ".." in path.split("/"):
        return ""
    return places.read_small(path, 1024).decode("utf-8", "replace").partition("\n")[0].strip()


def _is_commit(text: str) -> bool:
    return len(text) >= 40 and all(mark in "0123456789abcdef" for mark in text)
