"""The git lines of a checkpoint: the project's branch and commit, and the session's own work.

The first is read from git's own files: starting git would cost the hook more. The files come with
the folder, so they are not trusted: a name that could lead out of the folder of refs is not
followed, and only a commit id is shown of what is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from holdfast.record import open_items
from holdfast.record.git_work import NO_BRANCH, conflict_words, may_be_in_repository
from holdfast.record.model import Commits, GitWork, Record
from holdfast.text.fence import quoted
from holdfast.wire import places

MOST_PACKED_BYTES = 16 << 20  # 200,000 refs
MOST_PARENTS = 40
MOST_LINKS = 5  # as many refs that name a ref as git follows
UNKNOWN = "an unknown commit"
_NOT_IN_A_REF = frozenset(" ~^:?*[\\\x7f") | {chr(code) for code in range(32)}
MOST_BRANCHES = 4
MOST_CONFLICTS = 5
MOST_FILES = 3  # that are not committed, by name


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


def session_git(record: Record) -> Iterator[str]:
    """Yield the state that the session's own commands left, for each branch and repository: the
    last commit, whether it was pushed, what was changed since. Others may have done more."""
    work = record.git
    changed = open_items.uncommitted(record) if may_be_in_repository(record) else []
    halted = conflict_words(work, MOST_CONFLICTS)
    if not (work.commits or halted) and (work.is_partial or not changed) and not work.request:
        return
    away = open_items.is_elsewhere(record)
    branch = work.branch or ("" if away else record.branch)
    parts = [f"in {open_items.tree(record)}"] if away and open_items.tree(record) else []
    parts += [f"on branch {branch}"] if branch not in ("", "HEAD") else []
    parts += [halted] if halted else []
    if work.commits:
        parts += [_commits(work)]
    elif changed:
        parts += ["no commit was made in this session"]
    if work.request:
        parts += [f"pull request {work.request} {'merged' if work.merged else 'created'}"]
    if work.refused:
        parts += [f"the last git {work.refused} did not succeed"]
    if work.commits and changed:
        rest = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        parts += [f"changed after that commit: {', '.join(changed[-5:])}{rest}"]
    is_left = work.branch and record.branch not in ("", work.branch)
    if is_left and work.op < record.op and not away:
        parts += [f"now on branch {record.branch}"]
    for folder, names in open_items.uncommitted_by_tree(record).items():
        if folder != open_items.tree(record):
            parts += [f"not committed in {folder}: {', '.join(names[-5:])}"]
    yield "git, by this session: " + "; ".join(parts)
    for name, one in list(work.others.items())[-MOST_BRANCHES:]:
        folder, _, branch = name.partition("\t")
        where = f" in {folder}" if folder != work.folder else ""
        request = f"; pull request {one.request}" if one.request else ""
        merged = " merged" if one.merged else ""
        on = f"on branch {branch}" if branch != NO_BRANCH else "on no branch"
        yield f"git, earlier, {on}{where}: {_commits(one)}{request}{merged}"


def _commits(work: GitWork | Commits) -> str:
    last = f"{work.commit} {quoted(work.subject)}".removesuffix("“”").strip()
    pushed = "pushed" if work.pushed == work.commits else "no git push after it"
    return f"{work.commits} commit{'s'[: work.commits > 1]}, the last {last}, {pushed}"


def not_in_git(record: Record) -> str:
    """Return what the session changed and did not commit, or committed and did not push."""
    work, words = record.git, ""
    is_known = bool(record.branch) and may_be_in_repository(record)
    if not work.is_partial and (is_known or work.commits):
        trees = open_items.uncommitted_by_tree(record).values()
        names = [name for tree in trees for name in tree]
        rest = f" and {len(names) - MOST_FILES} more" if len(names) > MOST_FILES else ""
        words += f"; not committed: {', '.join(names[:MOST_FILES])}{rest}" if names else ""
    here = work.branch if work.commits and work.pushed != work.commits else ""
    others = [name.partition("\t")[2] for name, one in work.others.items() if _is_local(one)]
    local = [branch for branch in [here, *others] if branch]
    return words + (f"; not pushed: {', '.join(local[:3])}" if local else "")


def _is_local(work: Commits) -> bool:
    return work.pushed != work.commits and not work.merged
