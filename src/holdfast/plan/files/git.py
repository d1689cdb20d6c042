"""Questions to a project's git: its files, and which of them changed together.

Anyone may have made the repository, and its settings could name programs to run. All of those that
our questions could start are turned off, nothing is fetched, and git gets ten seconds.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

SECONDS = 10
_SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "log.showSignature=false",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "core.sshCommand=false",
    "protocol.allow=never",
    "diff.external=",
    "core.attributesFile=/dev/null",
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
MOST_COMMITS = 400
MOST_FILES = 500  # asked about in one go
WIDE = 30  # a commit of more files tells nothing about two of them
LEAST_TIMES = 2


def run_git(root: Path, *words: str) -> bytes | None:
    """The output of git; None if there is no git, no repository, or no answer in time."""
    switches = [word for setting in _SAFE for word in ("-c", setting)]
    command = ["git", "--no-pager", "--literal-pathspecs", *switches, "-C", str(root), *words]
    try:
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=SECONDS,
            env=_environment(os.environ),
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return run.stdout if run.returncode == 0 else None


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Only the path, and variables that keep git from running or fetching anything."""
    return {"PATH": given.get("PATH", os.defpath), **_ENVIRONMENT}


def find_changed_together(root: Path, files: Sequence[str]) -> dict[tuple[str, str], float]:
    """For each two files, in which share of the rarer one's commits both changed; at least two."""
    # For a file outside the repository git fails, also for the other files of the question.
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
    """For each commit, which of these files it changed; none if there is no history."""
    words = ["log", f"-n{MOST_COMMITS}", "--no-merges", "--no-renames", "--no-ext-diff"]
    words += ["--no-textconv", "--no-show-signature", "--relative", "--name-only", "-z"]
    said = run_git(root, *words, "--format=%x01", "--", *files) or b""
    wanted = set(files)
    commits = said.decode("utf-8", "replace").split("\x01")
    found = ({name.strip("\n") for name in one.split("\0")} & wanted for one in commits)
    return [commit for commit in found if commit]
