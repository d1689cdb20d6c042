"""The JSON snapshot of a checkpoint, for programs."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from holdfast.checkpoint import checkpoint_file
from holdfast.checkpoint.checkpoint_file import Document
from holdfast.files import atomic, folders
from holdfast.wire import places

LARGEST_BYTES = 16 << 20
# Lists that are always present, so that readers need not check.
LISTS = (
    *("active_tasks", "modified_files", "key_decisions"),
    *("agent_states", "recent_messages", "recent_actions"),
)


class CheckpointFill(msgspec.Struct, frozen=True):
    used_tokens: int = 0
    limit_tokens: int = 0


def complete(document: Document, checkpoint_id: str, path: str) -> dict[str, Any]:
    return {
        "context_summary": document.summary,
        "hierarchy": {},
        **{name: [] for name in LISTS},
        **document.snapshot,
        "session_id": document.session_id,
        "agent_id": document.agent_id,
        "trigger": document.trigger,
        "timestamp": checkpoint_file.to_iso(document.created),
        "project": document.project,
        "checkpoint_id": checkpoint_id,
        "checkpoint_path": path,
    }


def save(project: str, checkpoint_id: str, values: Mapping[str, Any]) -> None:
    try:  # takes a sixth of the time of `json`
        data = msgspec.json.encode(values, enc_hook=str)
    except (TypeError, ValueError):  # a path that is not UTF-8
        data = json.dumps(values, default=str).encode()
    with folders.enter(folders.home_folder(project)) as folder:
        atomic.clear_left(folder)
        atomic.replace_whole(folder, f"{checkpoint_id}.json", data)


def path_of(project: str, checkpoint_id: str) -> str:
    return f"{folders.home_path(project)}/{checkpoint_id}.json"


def load(project: str, checkpoint_id: str) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        value = json.loads(places.read_small(path_of(project, checkpoint_id), LARGEST_BYTES))
        return value if isinstance(value, dict) else {}
    return {}


def load_fill(project: str, checkpoint_id: str) -> CheckpointFill:
    try:
        return msgspec.convert(load(project, checkpoint_id), CheckpointFill)
    except msgspec.ValidationError:
        return CheckpointFill()


def names(project: str) -> set[str]:
    """Return the ids that have a snapshot; they are taken, whether the Markdown exists or not."""
    files = folders.names_in(folders.home_path(project))
    return {name.removesuffix(".json") for name in files if name.endswith(".json")}
