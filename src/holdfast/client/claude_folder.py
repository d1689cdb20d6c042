"""Where Claude Code keeps its files: its own folder, and the transcripts in it."""

from __future__ import annotations

import os
from pathlib import Path


def claude_folder(home: Path) -> Path:
    """Claude Code's own folder for this user."""
    given = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(given).absolute() if given else home / ".claude"


def transcripts_folder() -> Path:
    """A folder for each project, a file for each session."""
    return claude_folder(Path.home()) / "projects"
