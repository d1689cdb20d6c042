"""Where Claude Code keeps transcripts: a folder for each project, a file for each session."""

from __future__ import annotations

from pathlib import Path

from holdfast.client.install.scopes import claude_folder


def transcripts_folder() -> Path:
    return claude_folder(Path.home()) / "projects"
