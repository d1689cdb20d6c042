"""Taking a checkpoint: read what is new, keep it proven, and note that it is there.

What was read is kept beside the window (`record.json`), so that the next one reads only what came
since. If the transcript cannot be told apart, a smaller checkpoint says what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.checkpoint import workflow_state
from holdfast.checkpoint.document import Document, cleaned, texts, with_snapshot
from holdfast.checkpoint.errors import CheckpointNotSaved
from holdfast.checkpoint.sections import sections_of, snapshot_of
from holdfast.checkpoint.write import SavedCheckpoint, keep
from holdfast.events import snapshot_work
from holdfast.record import RecordReader, same_file
from holdfast.record import model as known
from holdfast.record.model import Record
from holdfast.record.secrets import ToldSecrets, redacted
from holdfast.redact import are_clean, redact
from holdfast.window.state import State
from holdfast.wire import log, places

MOST_FACTS_BYTES = 32 << 20


def facts_of(state: State, folder: str) -> Record:
    """Everything the transcript tells, reading on from where the last time ended."""
    path = f"{folder}/record.json"
    before = known.load(places.read_small(path, MOST_FACTS_BYTES))
    if before is not None and not same_file.goes_on(before, state.transcript):
        before = None  # another file under the same name, or facts that cannot be
    if before is not None and 0 < before.offset == _size(state.transcript):
        return before  # nothing new: what was kept is what there is
    found = RecordReader(before, sidechain=bool(state.agent_id)).read(state.transcript)
    found.read_from = same_file.sign(state.transcript, found.offset)
    return _remembered(path, found)


def take(
    state: State,
    folder: str,
    trigger: str,
    now_ms: int,
    also: Mapping[str, list[str]] | None = None,
) -> SavedCheckpoint | None:
    """A verified checkpoint of this window, or None where nothing could be saved anywhere; `also`
    are sections only the caller can tell."""
    sections, snapshot = _content(state, folder)
    workflow, held = _workflow(state.project)
    sections = {**sections, **workflow, **(also or {})}
    document = Document(
        created=datetime.fromtimestamp(now_ms / 1000, UTC),
        trigger=trigger,
        project=state.project or state.cwd or folder,
        session_id=state.session_id,
        agent_id=state.agent_id,
        sections=sections,
        snapshot={**snapshot, **held},
    )
    if not are_clean(texts(document)):
        document = cleaned(document, redact)
    # The shared work was cleaned when it was written: once more would cost 40 ms.
    document = with_snapshot(
        document, snapshot_work.added(document.snapshot, state, folder, now_ms)
    )
    try:
        kept = keep(document)
    except (CheckpointNotSaved, OSError) as slip:
        log.add("ERROR", state.session_id[:8], f"no checkpoint could be saved: {slip}")
        return None
    # Where the same state was kept before, that file stands: with the trigger it tells of itself.
    state.checkpoint_ms, state.checkpoint_trigger = now_ms, kept.document.trigger
    state.checkpoint_path, state.checkpoint_tokens = kept.path, state.used_tokens
    for note in kept.notes:
        log.add("WARN", state.session_id[:8], note)
    return kept


def archived(state: State) -> list[tuple[str, str, list[str]]]:
    """What of this session is on the shelf; who has no shelf pays for one look."""
    if state.agent_id or not os.path.exists(f"{places.home()}/segments"):  # noqa: PTH110
        return []
    from holdfast.segment import archived_topics

    return archived_topics.archived(state.session_id)


def tidy(state: State, now_ms: int) -> None:
    """Old checkpoints of this project, thinned; the newest of every session stays."""
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
    """What a conductor keeps of its own workflow in the project, for both faces."""
    place, state = workflow_state.read(project)
    if not (told := workflow_state.lines(state)):
        return {}, {}
    return {workflow_state.SECTION: [f"{place}: {told[0]}", *told[1:]]}, {"workflow_state": state}


def _content(state: State, folder: str) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """What is known; where reading fails, what the window itself knows, and that it is less."""
    try:
        facts = facts_of(state, folder)
        return sections_of(facts), snapshot_of(facts)
    except Exception as slip:  # a smaller checkpoint is worth more than a stack trace
        log.add("ERROR", state.session_id[:8], f"the transcript was not read: {slip!r}")
        told = {
            "Active Issues": [f"this checkpoint is small: {type(slip).__name__}: {slip}"],
            "Next Steps": [f"read the transcript: {state.transcript}"],
        }
        return told, {"context_summary": "the transcript could not be read"}


def known_secrets(state: State, record: Record) -> ToldSecrets:
    """Those the session told with their names, for words that come from elsewhere."""
    known = ToldSecrets()
    known.hear_again(state.transcript, record.told)
    return known


def _remembered(path: str, facts: Record) -> Record:
    """As stored: secrets are taken out first, so that none is cut in two by whoever quotes it."""
    stored = redacted(facts)
    try:
        _write(path, known.save(stored))
    except OSError as slip:
        log.add("WARN", "facts", f"not remembered: {slip}")
    return stored


def _write(path: str, data: bytes) -> None:
    """A session no hook ran in has no folder yet."""
    try:
        places.replace_whole(path, data)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)  # noqa: PTH103, PTH120
        places.replace_whole(path, data)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116
    except (OSError, ValueError):
        return 0
