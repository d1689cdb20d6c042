"""Ask git about a repository that anyone may have made.

Its settings could name programs to run. All that our questions could start are turned off, nothing
is fetched, and the user's own settings are not read.
"""

import os

_SAFE = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false"),
    *("gpg.program=false", "gpg.ssh.program=false", "gpg.x509.program=false"),
    *("core.sshCommand=false", "protocol.allow=never", "diff.external="),
    "core.attributesFile=/dev/null",
)
LOG_SAFE = ("--no-renames", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color")
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "TZ": "UTC",
}


def run_git(root: str, *words: str, seconds: float) -> bytes | None:
    """What git printed; None if there is no git, no repository, or no answer in time."""
    import subprocess  # takes 3 ms, and most hooks do not ask

    switches = [word for setting in _SAFE for word in ("-c", setting)]
    command = ["git", "--no-pager", "--literal-pathspecs", *switches, "-C", root, *words]
    try:
        run = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=seconds,
            env={"PATH": _safe_path(), **_ENVIRONMENT},
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return run.stdout if run.returncode == 0 else None


def _safe_path() -> str:
    """The search path without relative folders, which may be the repository's."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if folder.startswith("/"))
