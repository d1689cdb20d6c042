"""Where the journal of a plan lies: by the plan's place and the project's, not by what it says, so
that an edited plan goes on."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast.plan.task import digest
from holdfast.wire import places


def folder_of(plan: Path, root: Path) -> str:
    name = digest([os.fspath(plan.resolve()), os.fspath(root.resolve())])
    return f"{places.home()}/runs/{name}"
