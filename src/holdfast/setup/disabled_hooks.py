"""What keeps installed hooks from running or from speaking, and where it is said.

In the client's settings the stronger file wins, and an `env` block wins over the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from holdfast.client import settings_files
from holdfast.setup.settings_file import settings_in

OFF_WORDS = ("HOLDFAST_DISABLE", "DISABLE_AUTO_CONTEXT_MANAGER")


def silenced(project: Path) -> Iterator[str]:
    """Each thing that silences us, with the file or the environment that says it."""
    files = settings_files.list_files(str(project), os.environ)  # weakest first
    said = [(path, settings_in(path)) for path in files]
    off = [(path, held["disableAllHooks"]) for path, held in said if "disableAllHooks" in held]
    if off and off[-1][1] is True:
        yield f"hooks are silenced: {off[-1][0]} says disableAllHooks; take that out"
    for name in OFF_WORDS:
        places = [("the environment", os.environ[name])] if name in os.environ else []
        blocks = [(path, held.get("env")) for path, held in said]
        places += [
            (f"`env` in {path}", str(block[name]))
            for path, block in blocks
            if isinstance(block, dict) and name in block
        ]
        if places and _turns_off(name, places[-1][1]):
            yield f"Holdfast is turned off: {name} is set in {places[-1][0]}; take that out"


def _turns_off(name: str, value: str) -> bool:
    """As the hook reads them: ours is off at 1, the other one by being there."""
    return value == "1" if name == "HOLDFAST_DISABLE" else True
