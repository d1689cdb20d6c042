"""Before a compaction: save a verified checkpoint, then tell the summary what must not be lost.

From here until the boundary is written, old numbers are meaningless. What is printed becomes an
instruction for the summary, except for the one block after a failed save.
"""

import json
import os

from holdfast.brief.item import find_archived
from holdfast.brief.summary_instructions import write_instructions
from holdfast.events import dispatch
from holdfast.hook.observation import Moment
from holdfast.record import git, storage
from holdfast.record.model import Record
from holdfast.session import take_checkpoint
from holdfast.window import make_mark
from holdfast.window.state import State, lock_state_if_possible
from holdfast.wire import log, scan
from holdfast.wire.errors import describe

FEW_STEPS = 3
REFILLS = (
    "compacted twice within 3 steps; a third time may end the turn. Read large files in parts."
)
REASON = (
    "Holdfast could not save a checkpoint, neither in the project nor in its own folder. "
    "Free some space or make them writable, then /compact again; Holdfast stops it only once."
)


def tell(moment: Moment) -> str:
    trigger = scan.text_of(moment.payload, "trigger")
    trigger = trigger if trigger in ("auto", "manual") else "auto"
    with lock_state_if_possible(moment.folder) as state:
        dispatch.record_session(state, moment)
        state.compacting_ms = moment.now_ms
        state.compacting_answer = moment.tail.answer_id
        state.velocity = state.growth = state.pace_ms = 0.0
        record = _read(state, moment)
        _ask_git(state, moment, record)
        kept = take_checkpoint.take(
            state, moment.folder, trigger, moment.now_ms, record, moment.line.used
        )
        _note_rapid_refill(state, record, trigger)
        make_mark.rouse(moment.folder, state)
    saved = f"checkpoint {kept.id}" if kept else "no checkpoint"
    line = f"compaction ({trigger}) {_fill(moment)}, {saved}"
    log.add("INFO", dispatch.log_name(state), line)
    if kept is None and _may_block(state, moment):
        return json.dumps({"decision": "block", "reason": REASON})
    return _steering(state, record, shown=trigger == "manual")


def _read(state: State, moment: Moment) -> Record | None:
    """The record of the session; None if the transcript cannot be read, and the log says why."""
    try:
        return storage.read_on(state, moment.folder, moment.is_late)
    except Exception as error:  # the compaction is not held up for this
        _log_error(state, "the summariser is not told what to keep", error)
        return None


def _ask_git(state: State, moment: Moment, record: Record | None) -> None:
    """Ask git where the work stands, for the checkpoint and for the brief after the compaction."""
    if record is None or record.unread:
        return
    try:
        record.git_log = git.ask(state.project, record)
        storage.save(moment.folder, record)
    except Exception as error:  # the compaction does not wait for this
        _log_error(state, "git was not asked", error)


def _log_error(state: State, what: str, error: Exception) -> None:
    log.add("ERROR", dispatch.log_name(state), f"{what}: {describe(error)}")


def _fill(moment: Moment) -> str:
    """Our reading, and called so: Claude Code states its own, a little different, afterwards."""
    if moment.tail.basis == "none":
        return "at an unknown fill"
    about = "" if moment.tail.is_counted_by_client() else "about "
    return f"begins: Holdfast read {about}{moment.line.used:,} tokens"


def _note_rapid_refill(state: State, record: Record | None, trigger: str) -> None:
    """Keep an alarm if this window filled again at once: not twice, and not if the user asked."""
    if record is None or not record.compactions or trigger == "manual":
        return
    if record.since_summary > FEW_STEPS:
        return
    number = record.compactions + 1
    told_before, state.crowded_at = state.crowded_at == record.compactions, number
    if not told_before:
        state.crowded = f"Window {number + 1}: {REFILLS}"


def _steering(state: State, record: Record | None, *, shown: bool) -> str:
    """What the summary must keep word for word; shown on the screen at `/compact`."""
    if record is None:
        return ""
    whose = "the caller" if state.agent_id else "the user"
    try:
        archived = find_archived(state.session_id, state.agent_id)
        pins = [str(pin["text"]) for pin in take_checkpoint.pins_of(state) if pin["by"] == "user"]
        return write_instructions(record, whose, archived, pins, shown=shown)
    except Exception as error:  # the compaction is not held up for this
        _log_error(state, "the summariser is not told what to keep", error)
        return ""


def _may_block(state: State, moment: Moment) -> bool:
    """At most once per window, if that can be recorded; never if blocking would end the turn."""
    if state.agent_id or not _compacts_early(state, moment):
        return False
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        os.close(os.open(f"{moment.folder}/blocked", flags, 0o600))
    except OSError:
        return False
    return True


def _compacts_early(state: State, moment: Moment) -> bool:
    """Whether this model is compacted early, by its settings of now: this may be the first hook."""
    if not state.model:
        return False
    from holdfast.client import compaction_limit, limit_settings  # only where no save was possible

    found = compaction_limit.find(
        state.model,
        state.client_version,
        limit_settings.from_json(state.switches),
        used_tokens=moment.line.used,
        stated_window=state.stated_window or None,
    )
    return found.kind == "early"
