"""Documents and entries for tests: name what matters, default the rest."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from holdfast.checkpoint import checkpoint_file
from holdfast.checkpoint.checkpoint_file import Document
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.checkpoint.prune import CheckpointRetention

NOON = datetime(2026, 1, 15, 12, 0, 0, tzinfo=UTC)


def a_document(project: Path | str = "/nowhere", *items: str, **given: Any) -> Document:
    """A checkpoint whose changes are these items."""
    known: dict[str, Any] = {
        "created": NOON,
        "trigger": "auto",
        "session_id": "s1",
        "sections": {"What Changed": list(items or ("src/a.py:1-9 - a parser",))},
    }
    return Document(project=str(project), **{**known, **given})


def an_entry(days_old: float = 0, **given: Any) -> CheckpointEntry:
    """A verified checkpoint of so many days before noon."""
    created = NOON - timedelta(days=days_old)
    checkpoint_id = given.get("id", checkpoint_file.stamp(created))
    known: dict[str, Any] = {
        "id": checkpoint_id,
        "path": f"/p/.claude/checkpoints/{checkpoint_id}.md",
        "project": "/p",
        "created": checkpoint_file.to_iso(created),
        "trigger": "auto",
        "verified": True,
        "iteration": 1,
        "summary": "",
        "session_id": "s1",
        "agent_id": "",
        "parent": "",
        "content_hash": "",
        "state_hash": "",
    }
    return CheckpointEntry(**{**known, **given})


def a_retention(**given: int) -> CheckpointRetention:
    return CheckpointRetention(**{"at_most": 50, "days": 30, "daily_after_days": 7} | given)


def final_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.md"))


def in_project(project: Path) -> Path:
    return project / ".claude" / "checkpoints"


def left_drafts(*roots: Path) -> Sequence[Path]:
    return [path for root in roots for path in root.rglob("*.draft")]
