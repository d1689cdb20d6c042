"""Questions to a project's git.

A repository is anyone's: its own settings could name programs to run. None of those git would run
for our questions is left on, nothing is fetched, and it is given ten seconds.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
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


def ask(root: Path, *words: str) -> bytes | None:
    """What it answers; None where there is no git, no repository, or no answer in time."""
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
    """Nothing but the path and what keeps git from running or fetching anything."""
    return {"PATH": given.get("PATH", os.defpath), **_ENVIRONMENT}
