"""Take a checkpoint of a window: read what is new, write it, verify it.

If the transcript cannot be read, a smaller checkpoint says what is missing.

The shared work (the tree, agents, messages, calls, pins) comes from the projection if that is
fresh, otherwise from the transcript and the hooks' own lines.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.checkpoint import additions, checkpoint_file
from holdfast.checkpoint.checkpoint_file import CheckpointNotSaved, Document
from holdfast.checkpoint.sections import ROOM_CHARS, first, sections_of, size, snapshot_of
from holdfast.checkpoint.write import SavedCheckpoint, keep
from holdfast.hub import row_times
from holdfast.hub.projection_file import is_fresh, objects_in, read_projection
from holdfast.record import storage
from holdfast.record.model import Record
from holdfast.window.state import State
from holdfast.wire import log, places, spool
from holdfast.wire.errors import describe

Added = Mapping[str, Iterable[str]]  # lines of the session's model, by kind
MORE_CHARS = 1200  # of a section that the caller knows
MOST_ACTIONS = 100
SPOOL_BYTES = 32 << 10
PLACES = ("hierarchy", "waves", "agent_states", "recent_messages", "recent_actions")


def save_now(folder: str, now_ms: int, given: Added | None = None) -> SavedCheckpoint:
    """Save one because somebody asks for it, with the lines that its model adds."""
    from holdfast.settings import load as settings_load  # a hook has measured already
    from holdfast.window import measurement
    from holdfast.window.state import lock_state_if_possible

    with lock_state_if_possible(folder) as state:
        measurement.measure(state, settings_load.load(state.project), now_ms, folder)
        kept = save(state, folder, "manual", now_ms, given=given)
        _log_notes(state, kept)
    return kept


def take(
    state: State,
    folder: str,
    trigger: str,
    now_ms: int,
    record: Record | None = None,
    used_tokens: int = 0,
    is_late: Callable[[], bool] | None = None,
) -> SavedCheckpoint | None:
    """As `save`, but where it cannot be saved, that is logged and None is returned."""
    try:
        kept = save(state, folder, trigger, now_ms, record, used_tokens, is_late)
    except CheckpointNotSaved as error:
        log.add("ERROR", state.session_id[:8], str(error))
        return None
    _log_notes(state, kept)
    return kept


def _log_notes(state: State, kept: SavedCheckpoint) -> None:
    for note in kept.notes:
        log.add("WARN", state.session_id[:8], note)
    if not kept.document.is_complete:
        words = f"checkpoint {kept.id} is not verified: the transcript was not read to its end"
        log.add("WARN", state.session_id[:8], words)


def save(
    state: State,
    folder: str,
    trigger: str,
    now_ms: int,
    record: Record | None = None,
    used_tokens: int = 0,
    is_late: Callable[[], bool] | None = None,
    given: Added | None = None,
    also: Mapping[str, list[str]] | None = None,
) -> SavedCheckpoint:
    """Take a verified checkpoint of this window; CheckpointNotSaved if no place accepts it. `also`
    are sections that only the caller knows, `record` the session's if the caller has read it,
    `used_tokens` a reading of the moment that is newer than the state's, `is_late` a hook's,
    `given` what the session's model adds."""
    used_tokens = used_tokens or state.used_tokens
    workflow, held = _workflow(state.project)
    more = {
        name: first(list(items), MORE_CHARS) for name, items in {**workflow, **(also or {})}.items()
    }
    room = ROOM_CHARS - len(state.project) - sum(map(size, more.values()))
    sections, snapshot, is_complete = _content(state, folder, record, is_late, given, room)
    document = Document(
        created=datetime.fromtimestamp(now_ms / 1000, UTC),
        trigger=trigger,
        project=state.project or state.cwd or folder,
        session_id=state.session_id,
        agent_id=state.agent_id,
        sections={**sections, **more},
        snapshot={**snapshot, **held},
        is_complete=is_complete,
    )
    document = checkpoint_file.clean_document(document)
    # The shared work was cleaned when it was written: once more would cost 40 ms.
    work = add_work(document.snapshot, state, folder, now_ms)
    document = checkpoint_file.with_snapshot(document, {**work, **_fill(used_tokens, state)})
    try:
        kept = keep(document)
    except OSError as error:
        raise CheckpointNotSaved(f"no checkpoint was saved: {error}") from error
    # Where the same state was kept before, that file stands: with the trigger it tells of itself.
    state.checkpoint_ms, state.checkpoint_trigger = now_ms, kept.document.trigger
    state.checkpoint_saved_ms = int(kept.document.created.timestamp() * 1000)
    state.checkpoint_path, state.checkpoint_removed = kept.path, ""
    state.checkpoint_tokens = used_tokens
    return kept


def tidy(state: State, now_ms: int) -> None:
    """Prune old checkpoints of this project; the newest one of every session stays."""
    from holdfast.checkpoint import prune  # at the end of a session only
    from holdfast.settings import load

    settings = load.load(state.project)
    retention = prune.CheckpointRetention(
        at_most=settings.whole("checkpoint_most"),
        days=settings.whole("checkpoint_days"),
        daily_after_days=settings.whole("checkpoint_daily_days"),
    )
    prune.prune(state.project, datetime.fromtimestamp(now_ms / 1000, UTC), retention)


def _workflow(project: str) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The state of a workflow that a tool keeps in the project, as sections and snapshot."""
    place, state = additions.read_workflow(project)
    if not (lines := additions.workflow_lines(state)):
        return {}, {}
    return {additions.WORKFLOW: [f"{place}: {lines[0]}", *lines[1:]]}, {"workflow_state": state}


def _content(
    state: State,
    folder: str,
    record: Record | None,
    is_late: Callable[[], bool] | None,
    given: Added | None,
    room: int,
) -> tuple[dict[str, list[str]], dict[str, Any], bool]:
    """The content, and whether the transcript was read to its end; else what the window knows."""
    try:
        record = record or storage.read_on(state, folder, is_late)
        if given:
            state.added = additions.add(state.added, given, record)
        if state.added:
            state.added = _without_told_secrets(state, record)
        lines = additions.read(state.added)
        return sections_of(record, lines, room), snapshot_of(record, lines), not record.unread
    except Exception as error:  # a smaller checkpoint is worth more than a stack trace
        log.add("ERROR", state.session_id[:8], f"the transcript was not read: {describe(error)}")
        sections = {
            "Active Issues": [f"this checkpoint is small: {describe(error)}"],
            "Next Steps": [f"read the transcript: {state.transcript}"],
        }
        return sections, {"context_summary": "the transcript could not be read"}, False


def _without_told_secrets(state: State, record: Record) -> str:
    """The model's lines without what the session named as a secret, before or after them."""
    from holdfast.record.secrets import ToldSecrets

    known = ToldSecrets()
    known.hear_again(state.transcript, record.told)
    return known.without_in(state.added)


def add_work(snapshot: Mapping[str, Any], state: State, folder: str, now_ms: int) -> dict[str, Any]:
    """The snapshot with the shared work and the pins. What is unknown stays as it was."""
    work = read_projection(folder)
    more = {"recent_messages": objects_in(work, "recent_messages")[-50:], "pins": pins_of(state)}
    if not is_fresh(work, now_ms):
        return {**snapshot, **_work_from_snapshot(snapshot, folder), **more}
    places = {name: work[name] for name in PLACES if work.get(name)}
    return {**snapshot, **places, **more}


def _fill(used_tokens: int, state: State) -> dict[str, int]:
    """How full the window is. Readings by time do not tell: several may be of one second."""
    known = used_tokens and state.edge_tokens
    return {"used_tokens": used_tokens, "limit_tokens": state.edge_tokens} if known else {}


def pins_of(state: State) -> list[dict[str, Any]]:
    """The pins. Without any, two file checks are all it costs: a compaction waits for us."""
    of_session = f"{places.window(state.session_id)}/budget.json"
    if not any(map(os.path.exists, (f"{places.home()}/budget", of_session))):
        return []
    from holdfast.budget import ledger

    return [pin.plain() for pin in ledger.read(state.project, state.session_id).pins]


def _work_from_snapshot(snapshot: Mapping[str, Any], folder: str) -> dict[str, Any]:
    asked = {"prompt": snapshot.get("context_summary", ""), "status": "active"}
    tasks = [{**one} for one in objects_in(snapshot, "active_tasks")]
    calls = _calls(folder) or objects_in(snapshot, "recent_actions")
    return {"hierarchy": {"requests": [{**asked, "tasks": tasks}]}, "recent_actions": calls}


def _calls(folder: str) -> list[dict[str, Any]]:
    lines = [one for one in spool.recent(folder, SPOOL_BYTES) if one.event.startswith("PostTool")]
    return [
        {
            "tool_name": line.tool,
            "exit_code": int(line.event == "PostToolUseFailure"),
            "duration_ms": line.duration_ms or None,
            "created_at": row_times.to_iso(line.ms),
        }
        for line in lines[-MOST_ACTIONS:]
    ]
