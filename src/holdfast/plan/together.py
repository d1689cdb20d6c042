"""Which files of a project changed together, as its git tells.

A repository is anyone's: its own settings could name programs to run. None of those git would run
for this question is left on, nothing is fetched, and it is given ten seconds.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

MOST_COMMITS = 400
MOST_FILES = 500  # asked about in one go
WIDE = 30  # a commit of more files tells nothing about two of them
SECONDS = 10
LEAST_TIMES = 2
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


def pairs(root: Path, files: Sequence[str]) -> dict[tuple[str, str], float]:
    """For two files, the share of the rarer one's commits that changed both; at least twice."""
    asked = [file for file in files if not file.startswith("/")][:MOST_FILES]
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
    switches = [word for setting in _SAFE for word in ("-c", setting)]
    command = ["git", "--no-pager", "--literal-pathspecs", *switches, "-C", str(root)]
    command += ["log", f"-n{MOST_COMMITS}", "--no-merges", "--no-renames", "--no-ext-diff"]
    command += ["--no-textconv", "--no-show-signature", "--relative", "--name-only", "-z"]
    try:
        run = subprocess.run(
            [*command, "--format=%x01", "--", *files],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=SECONDS,
            env=_environment(os.environ),
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    wanted = set(files)
    said = run.stdout.decode("utf-8", "replace").split("\x01") if run.returncode == 0 else []
    found = ({name.strip("\n") for name in one.split("\0")} & wanted for one in said)
    return [commit for commit in found if commit]


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """Nothing but the path and what keeps git from running or fetching anything."""
    return {"PATH": given.get("PATH", os.defpath), **_ENVIRONMENT}
