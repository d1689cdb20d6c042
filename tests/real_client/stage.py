"""Where one run of the real client happens: a home, a project under git, and our folder."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.setup.wiring import hook_table
from tests.trial.cycle import MODEL
from tests.trial.run import Trial, run_trial
from tests.trial.script import Script

LOUD = {"HOLDFAST_RAISE": "1"}  # our hooks fail open for users; here their faults must show
CACHE = Path(__file__).resolve().parents[2] / ".cache" / "client"


@dataclass(frozen=True)
class Stage:
    """The three folders of a trial; nothing of the machine's own home is ever read."""

    home: Path
    project: Path

    @property
    def holdfast_home(self) -> Path:
        return self.home / ".holdfast"

    def windows(self, session_id: str) -> dict[str, Path]:
        """The folders our hooks made for a session, by name: `main`, `agent-…`."""
        folder = self.holdfast_home / "windows" / session_id
        return {window.name: window for window in folder.iterdir()}


def a_stage(folder: Path) -> Stage:
    """A fresh home and a project with one file in it."""
    stage = Stage(folder / "home", folder / "project")
    stage.home.mkdir(parents=True)
    stage.project.mkdir()
    (stage.project / "README.md").write_text("# A project\n")
    subprocess.run(["git", "init", "--quiet", stage.project], check=True)
    return stage


def hook_settings() -> Mapping[str, Any]:
    """The client's settings with our hooks in them, as `holdfast install` writes them."""
    return {"hooks": hook_table()}


def perform(
    binary: Path, stage: Stage, script: Script, *, model: str = MODEL, **switches: str
) -> Trial:
    """Run the real client through a script with our hooks in place; switches are variables."""
    return run_trial(
        *(binary, stage.project, stage.home, script),
        model=model,
        settings=hook_settings(),
        env={**LOUD, **switches},
        patient=True,
    )


def newest_client() -> Path | None:
    """The newest client that `make client` has fetched."""
    found = CACHE.glob("*/node_modules/@anthropic-ai/claude-code-*/claude")
    return max(found, key=_version, default=None)


def _version(binary: Path) -> tuple[int, ...]:
    words = binary.relative_to(CACHE).parts[0].split(".")
    return tuple(int(word) if word.isdigit() else 0 for word in words)
