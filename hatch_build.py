"""Build the dashboard into the wheel and the sdist; put the recorded session and the pages of the
documentation into the wheel.

Where that is not possible (no registry in reach) the package is made without the page, and says so:
hooks, commands and the HTTP interface work without it.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class DashboardHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node, unless the sources came with the page built, as those of an sdist do."""
        builder = _builder(Path(self.root))
        return [] if builder.is_current() else [builder.NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "wheel" and version == "standard":
            build_data["force_include"] |= _packed(Path(self.root))
        builder = _builder(Path(self.root))
        try:
            builder.build()
        except builder.CannotBuild as reason:
            self.app.display_warning(f"the dashboard is left out: {reason}")


def _packed(root: Path) -> dict[str, str]:
    """Files from elsewhere, for `holdfast replay --demo` and `holdfast help`."""
    pages = sorted(path.name for path in (root / "docs").glob("*.md"))
    found = {f"docs/{name}": f"holdfast/cli/docs/{name}" for name in pages}
    return {"demo/session.jsonl": "holdfast/cli/demo.jsonl", **found}


def _builder(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "dashboard_build", root / "dashboard" / "build.py"
    )
    if spec is None or spec.loader is None:
        sys.exit("dashboard/build.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
