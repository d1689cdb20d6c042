"""Which files of a project changed together, as its git tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

from holdfast.plan.files import git

MOST_COMMITS = 400
MOST_FILES = 500  # asked about in one go
WIDE = 30  # a commit of more files tells nothing about two of them
LEAST_TIMES = 2


def pairs(root: Path, files: Sequence[str]) -> dict[tuple[str, str], float]:
    """For two files, the share of the rarer one's commits that changed both; at least twice."""
    # Of a file outside of it git says nothing, and nothing of the others asked about either.
    asked = [file for file in files if not file.startswith(("/", "../"))][:MOST_FILES]
    commits = _commits(root, asked) if len(asked) > 1 else []
    alone: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for commit in commits:
        alone.update(commit)
        if len(commit) <= WIDE:
            both.update(combinations(sorted(commit), 2))
    return {
        (one, other): times / min(alone[one], alone[other])
        for (one, other), times in sorted(both.items())
        if times >= LEAST_TIMES
    }


def _commits(root: Path, files: Sequence[str]) -> list[set[str]]:
    """The files each commit changed, of those asked about; none where there is no history."""
    words = ["log", f"-n{MOST_COMMITS}", "--no-merges", "--no-renames", "--no-ext-diff"]
    words += ["--no-textconv", "--no-show-signature", "--relative", "--name-only", "-z"]
    said = git.ask(root, *words, "--format=%x01", "--", *files) or b""
    wanted = set(files)
    commits = said.decode("utf-8", "replace").split("\x01")
    found = ({name.strip("\n") for name in one.split("\0")} & wanted for one in commits)
    return [commit for commit in found if commit]
