"""The transcripts that the agents of this machine still have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from holdfast.client import agents
from holdfast.client.settings_files import transcripts_folder


def by_time() -> list[Path]:
    """All transcripts of sessions, of every agent, newest first."""
    return newest_first([*of_sessions(transcripts_folder()), *agents.other_transcripts(os.environ)])


def by_session() -> dict[str, Path]:
    """The newest transcript of each session, newest first."""
    found: dict[str, Path] = {}
    for path in by_time():
        found.setdefault(agents.session_of(path), path)
    return found


def in_folder(folder: Path) -> Iterator[Path]:
    """List the transcripts of sessions; those of subagents are one level deeper."""
    yield from folder.glob("*.jsonl")
    yield from folder.glob("*/*.jsonl")


def of_sessions(folder: Path) -> list[Path]:
    """Without those of subagents: old clients wrote them into the same folder."""
    return [one for one in in_folder(folder) if not one.name.startswith("agent-")]


def newest_first(paths: list[Path]) -> list[Path]:
    return sorted(paths, key=modified_at, reverse=True)


def modified_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # deleted meanwhile
        return 0.0
