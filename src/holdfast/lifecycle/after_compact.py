"""After a compaction: what the client's summary and our brief both left out is owed to the model.

The boundary is not in the file yet, so there is no reading. Nothing is printed: it would only be
shown on the screen.
"""

from __future__ import annotations

from holdfast.brief.claims import contradicted
from holdfast.brief.compose import compose, lost_items
from holdfast.budget import ledger
from holdfast.hook.moment import Moment
from holdfast.lifecycle import keeping, noting
from holdfast.redact import redact
from holdfast.window import arm, audit
from holdfast.window.pressure import FREED
from holdfast.window.state import State, WindowBusy, held
from holdfast.wire import log, places, scan

SECOND_TOKENS = 800
MOST_CLAIMS = 3
MOST_SUMMARY = 60_000


def tell(moment: Moment) -> str:
    summary = scan.text_of(moment.payload, "compact_summary")[:MOST_SUMMARY]
    try:
        with held(moment.folder) as state:
            noting.note(state, moment)
            state.compactions += 1
            state.second_brief = _left_out(state, moment.folder, summary)
            arm.rouse(moment.folder, state)
    except WindowBusy as slip:  # what is owed could not be noted, so nothing is owed
        log.add("WARN", "brief", f"{moment.folder}: no second brief: {slip}")
        return ""
    log.add("INFO", noting.place(state), f"compacted ({state.compactions} in this window)")
    audit.add(
        {
            "event": FREED,
            "at_ms": moment.now_ms,
            "session_id": state.session_id,
            "agent_id": state.agent_id,
            "level": "",
        }
    )
    return ""


def _left_out(state: State, folder: str, summary: str) -> str:
    """The second brief is a courtesy: what goes wrong with it is only logged."""
    try:
        return _composed(state, folder, summary)
    except Exception as slip:
        log.add("ERROR", noting.place(state), f"no second brief: {slip!r}")
        return ""


def _composed(state: State, folder: str, summary: str) -> str:
    """As after any compaction, with our first brief counted among what is there."""
    record = keeping.facts_of(state, folder)
    summary = keeping.known_secrets(state, record).without_in(redact(summary))
    state.compactions = max(state.compactions, record.compactions + 1)
    claims = contradicted(record, summary)
    state.restored = _told(state.restored, lost_items(record, summary), len(claims))
    given = places.read_small(f"{folder}/brief.txt", 1 << 16).decode("utf-8", "replace")
    known = ledger.read(state.project, state.session_id)._replace(pins=())  # the first had them
    brief = compose(
        record,
        SECOND_TOKENS,
        agent_type=state.agent_type,
        claims=claims[:MOST_CLAIMS],
        budget=known,
        summary=f"{summary}\n{given}",
    )
    return brief.text if brief.lines else ""


def _told(restored: str, lost: int, claims: int) -> str:
    """One line for the user: what was restored, and what the summary got wrong."""
    if not restored:
        return ""
    told = [f"Holdfast restored {restored}"]
    wrong = [f"the summary lost {lost} thing{'' if lost == 1 else 's'}"] if lost else []
    wrong += [f"calls {claims} done that {'is' if claims == 1 else 'are'} open"] if claims else []
    told += [f"{' and '.join(wrong)}: holdfast lost"] if wrong else []
    return "; ".join(told)
