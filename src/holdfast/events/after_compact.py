"""After a compaction: what the client's summary and our brief both left out is owed to the model.

The boundary is not in the file yet, so there is no reading. Nothing is printed.
"""

from collections import Counter
from typing import Any

from holdfast.brief.compose import MOST_SUMMARY, SECOND_TOKENS, TO_BE_CONTINUED, compose_second
from holdfast.brief.item import hook_tokens
from holdfast.brief.summary_coverage import measure, missing
from holdfast.budget import ledger
from holdfast.events import dispatch
from holdfast.hook.observation import Moment
from holdfast.memory.embedders import nearness
from holdfast.record import storage
from holdfast.record.secrets import ToldSecrets
from holdfast.redact.find import redact
from holdfast.session import printed_brief
from holdfast.text.numbers import counted
from holdfast.text.sentences import clip
from holdfast.window import audit, make_mark
from holdfast.window.audit import FREED
from holdfast.window.state import State, WindowBusy, lock_state
from holdfast.wire import log, scan
from holdfast.wire.errors import describe
from holdfast.wire.tail import ENCRYPTED


def tell(moment: Moment) -> str:
    summary = clip(scan.text_of(moment.payload, "compact_summary"), MOST_SUMMARY)
    try:
        with lock_state(moment.folder) as state:
            dispatch.record_session(state, moment)
            state.compactions += 1
            state.second_brief, found = _left_out(state, moment, summary)
            make_mark.rouse(moment.folder, state)
    except WindowBusy as error:  # what is owed could not be noted, so nothing is owed
        log.add("WARN", "brief", f"{moment.folder}: no second brief: {error}")
        return ""
    log.add("INFO", dispatch.log_name(state), _log_words(state, found))
    window = {"session_id": state.session_id, "agent_id": state.agent_id}
    audit.add({"event": FREED, "at_ms": moment.now_ms, **window, "level": "", **found})
    return ""


def _log_words(state: State, found: dict[str, Any]) -> str:
    """For the log: which window begins, what the summary holds, and who is told."""
    words = f"compaction {state.compactions} done, window {state.compactions + 1} begins"
    if "items" in found:
        of = counted(found["items"], "item")
        words += f"; {found['not_found']} of {of} not found in the summary"
    return f"{words}; a second brief tells the model" if state.second_brief else words


def _left_out(state: State, moment: Moment, summary: str) -> tuple[str, dict[str, Any]]:
    """The second brief, and how much the summary holds. Errors here are only logged."""
    try:
        return _compose_second_brief(state, moment, summary)
    except Exception as error:
        log.add("ERROR", dispatch.log_name(state), f"no second brief: {describe(error)}")
        return "", {}


def _compose_second_brief(state: State, moment: Moment, summary: str) -> tuple[str, dict[str, Any]]:
    """The brief of what is missing in both the summary and our first brief."""
    record = storage.read_on(state, moment.folder, moment.is_late)
    known_secrets = ToldSecrets()
    known_secrets.hear_again(state.transcript, record.told)
    summary = known_secrets.without_in(redact(summary)) or record.summary
    if record.unread:  # a summary cannot be compared with half a session
        log.add("WARN", dispatch.log_name(state), "no time to compare the summary")
        return "", {}
    state.compactions = max(state.compactions, record.compactions_now)
    is_readable = summary not in ("", ENCRYPTED)
    items = measure(summary, record, nearness()) if is_readable else []
    first, second_half = printed_brief.read(moment.folder, state.compacting_ms)
    given = f"{first}\n{second_half}"
    known = ledger.read(state.project, state.session_id)._replace(pins=())  # the first had them
    brief = compose_second(
        record,
        f"{summary}\n{given}",
        min(SECOND_TOKENS, hook_tokens(state.project, state.edge_tokens)),
        agent_type=state.agent_type,
        budget=known,
    )
    restored = Counter(state.restored)
    if brief.lines and (second_half or TO_BE_CONTINUED not in first):  # else it was counted
        from holdfast.session import window_brief  # a compaction that needs one brief does not pay

        restored += window_brief.count_restored(brief)
        restored["said"] = min(restored["said"], len(record.turns))  # one may stand in both
    second = brief.text if brief.lines else ""
    not_found = sum(not item.is_found for item in items)
    state.restored = {**restored, "not_found": not_found} if any(restored.values()) else {}
    if not is_readable:
        return second, {}
    counts = {"number": state.compactions, "items": len(items), "not_found": not_found}
    return second, {**counts, "restored": not_found - len(missing(items, f"{given}\n{second}"))}
