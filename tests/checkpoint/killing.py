"""Kill a keeper at every point where it touches the disk, and look at what is left.

Run as a program, because it forks: `python -m tests.checkpoint.killing FOLDER FIRST`. FIRST says
how many checkpoints there are before; a third word `prune` kills a pruning instead of a keeping.
Any broken promise is an AssertionError and exit 1.
"""

import fcntl
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from holdfast.checkpoint import index, snapshot
from holdfast.checkpoint.prune import prune
from holdfast.checkpoint.verify import verify, verify_projects
from holdfast.checkpoint.write import keep
from tests.checkpoint.documents import (
    NOON,
    a_document,
    a_retention,
    final_names,
    in_project,
    left_drafts,
)

TOUCHES = (
    "open",
    "write",
    "fsync",
    "link",
    "unlink",
    "rename",
    "replace",
    "mkdir",
    "rmdir",
    "close",
)
FAR = 10**6


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(at: int) -> list[str]:
    """Die before the touch of this number; half of a write that is to be the last is written."""
    seen: list[str] = []

    def armed(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def touch(*given: Any, **named: Any) -> Any:
            seen.append(name)
            if len(seen) == at:
                if name == "write":
                    real(given[0], bytes(given[1])[: len(given[1]) // 2])
                _die()
            return real(*given, **named)

        return touch

    for name in TOUCHES:
        setattr(os, name, armed(name, getattr(os, name)))
    fcntl.flock = armed("flock", fcntl.flock)
    return seen


def killed_at(at: int, action: Callable[[], object]) -> bool:
    """True if the child died before it was done."""
    child = os.fork()
    if child == 0:
        arm(at)
        action()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, f"the child slipped at {at}"
    return os.WIFSIGNALED(status)


def look(project: Path, home: Path, before: int) -> None:
    """What must hold after any kill, and after the next keep of the same state."""
    folder = in_project(project)
    names = final_names(folder)
    assert before <= len(names) <= before + 1
    for name in names:
        assert verify(f"{folder}/{name}").ok, name
    kept = keep(a_document(project, "the state"))
    assert kept.reused == (len(names) == before + 1)
    assert kept.document.iteration == before + 1
    assert len(final_names(folder)) == before + 1
    assert all(report.ok for report in verify_projects())
    assert snapshot.load(str(project), kept.id)["checkpoint_id"] == kept.id
    keep(a_document(project, "the next state"))
    assert {Path(one.path).name for one in index.load()} == set(final_names(folder))
    assert [one.iteration for one in index.load()] == list(range(1, before + 3))
    assert all(report.ok for report in verify_projects())
    assert not left_drafts(project, home), left_drafts(project, home)


def look_pruned(project: Path, home: Path, before: int) -> None:
    """Half pruned is no harm: the newest is there, and pruning again ends where it should."""
    folder = in_project(project)
    newest = max(index.of_project(str(project)), key=lambda one: one.iteration)
    assert newest.iteration == before
    prune(str(project), NOON, a_retention(at_most=1))
    assert final_names(folder) == [Path(newest.path).name]
    keep(a_document(project, "the next state"))
    assert {one.iteration for one in index.load()} == {before, before + 1}
    assert snapshot.names(str(project)) == {one.id for one in index.load()}
    assert all(report.ok for report in verify_projects())
    assert not left_drafts(project, home), left_drafts(project, home)


def main(folder: Path, before: int, pruning: bool = False) -> int:
    """Every point in turn, each in a project and a home of its own."""
    for at in range(1, FAR):
        project, home = folder / f"{at}" / "project", folder / f"{at}" / "home"
        project.mkdir(parents=True)
        os.environ["HOLDFAST_HOME"] = str(home)
        for number in range(before):
            keep(a_document(project, f"{number}"))
        if pruning:
            died = killed_at(at, partial(prune, str(project), NOON, a_retention(at_most=1)))
            look_pruned(project, home, before)
        else:
            died = killed_at(at, partial(keep, a_document(project, "the state")))
            look(project, home, before)
        if not died:
            return at - 1
    return FAR


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), int(sys.argv[2]), "prune" in sys.argv))
