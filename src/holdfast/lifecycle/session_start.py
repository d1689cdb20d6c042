"""At the start of a session: note who and where, and offer what was saved. After a compaction:
give back what the summary may have lost."""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.brief.compose import compose
from holdfast.client import outputs
from holdfast.client.marked_rules import marked_rules
from holdfast.hook.entry import Moment
from holdfast.lifecycle import keeping, noting
from holdfast.window import arm
from holdfast.window.state import State, WindowBusy, held
from holdfast.wire import log, mark, scan

OFFERED = frozenset(("startup", "resume", "clear", "fork"))


def tell(moment: Moment) -> str:
    source = scan.text_of(moment.payload, "source") or "unknown"
    try:
        with held(moment.folder) as state:
            noting.note(state, moment)
            if source != "compact":
                state.started_ms, state.ended_ms = moment.now_ms, 0
            said = _said(source, state, moment)
            mark.arm(moment.folder, arm.wake_next(state))
    except WindowBusy:
        return ""
    log.add("INFO", noting.place(state), f"session {source}, model {state.model or 'unknown'}")
    return outputs.answer("SessionStart", to_model=said)


def _said(source: str, state: State, moment: Moment) -> str:
    """A session starts whatever becomes of our brief."""
    try:
        if source == "compact":
            return _brief(state, moment.folder)
        return _offer(state, moment) if source in OFFERED else ""
    except Exception as slip:
        log.add("ERROR", noting.place(state), f"nothing was given back: {slip!r}")
        return ""


def _brief(state: State, folder: str) -> str:
    facts = keeping.facts_of(state, folder)
    pinned = marked_rules(state.project)
    brief = compose(facts, agent_type=state.agent_type, pinned=pinned)
    with open(f"{folder}/brief.txt", "wb") as file:  # noqa: PTH123 (pathlib costs 8 ms)
        file.write(brief.text.encode("utf-8", "replace"))
    return brief.text if brief.lines else ""


def _offer(state: State, moment: Moment) -> str:
    """The newest checkpoint of this project under a day old, in a few lines."""
    from holdfast.checkpoint import find
    from holdfast.lifecycle import offer

    now = datetime.fromtimestamp(moment.now_ms / 1000, UTC)
    report = find.newest(state.project, now)
    if report is None or report.document is None:
        return ""
    if report.document.session_id == state.session_id:
        return ""  # resumed: it has all of that already
    return offer.text_for(report.path, report.document, now)
