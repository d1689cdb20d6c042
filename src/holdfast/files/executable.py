"""The command line that runs `holdfast`: for any shell, and as the user can type it."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from holdfast.files.plugin_environment import lasting


def console_command() -> str:
    """The command that runs `holdfast` from any folder: its script, or its interpreter."""
    python = Path(lasting(sys.executable))
    script = python.with_name("holdfast")
    if script.is_file():
        return shlex.quote(str(script))
    return shlex.join([str(python), "-m", "holdfast.cli"])


def typed_command() -> str:
    """`holdfast` as the user can type it: by name, if that name finds this script."""
    script, named = Path(sys.executable).parent / "holdfast", shutil.which("holdfast")
    found = named is not None and script.is_file() and Path(named).samefile(script)
    return "holdfast" if found else console_command()
