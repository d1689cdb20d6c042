"""The brief of a window: its facts, the rules the client forgets, and what the user set for it.

This is one place, so that `holdfast brief` and `holdfast budget` show what the hook would print.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.brief.compose import Brief, compose
from holdfast.brief.item import STILL_RUNNING, BriefItem, find_archived, hook_tokens
from holdfast.brief.quotes import OUTCOME
from holdfast.budget import ledger
from holdfast.client.instructions import collect_marked_rules
from holdfast.hub.projection_file import objects_in, read_projection, subtasks, text
from holdfast.record.model import Record
from holdfast.session.printed_brief import RESTORED
from holdfast.window.state import State
from holdfast.wire import log

if TYPE_CHECKING:
    from holdfast.archive.transcripts import ArchivedSession, CopyHeader

OVERHEAD_TOKENS = 18_000  # system prompt and tools, where no answer has told
SUMMARY_TOKENS = 12_000  # a summary, five files read back, and the brief


def compose_brief(
    state: State,
    folder: str,
    record: Record,
    max_tokens: int | None = None,
    role: str = "",
    *,
    compacting: bool = False,
) -> Brief:
    """The brief, by default in a hook's size. `compacting`: the summary is not written yet."""
    most = hook_tokens(state.project, state.edge_tokens) if max_tokens is None else max_tokens
    return compose(
        record,
        most,
        role,
        headline=headline(state, record) if compacting else "",
        given="" if compacting else None,
        agent_type=state.agent_type,
        marked=_marked_rules(state, record),
        work=shared_work(state, folder),
        budget=ledger.read(state.project, state.session_id),
        archived=find_archived(state.session_id, state.agent_id),
        added=_added(state.added) if state.added else (),
    )


def _added(stored: str) -> list[str]:
    from holdfast.checkpoint.additions import read  # seldom there

    return [one.item for one in read(stored)]


def shared_work(state: State, folder: str) -> dict[str, Any]:
    """The projection as the reading agent needs it: without itself and messages for others."""
    found = read_projection(folder)
    if not found:
        return {}
    own = state.agent_id
    parts = [part for part in subtasks(found) if not own or part.get("agent_id") != own]
    names = _names(state, found)
    messages = [one for one in objects_in(found, "recent_messages") if _concerns(one, names)]
    return {**found, "subtasks": parts, "recent_messages": messages}


def _names(state: State, work: Mapping[str, Any]) -> frozenset[str]:
    """Who reads the brief: an agent, by id and type, or a session with the agents that it leads."""
    own = {state.agent_id or state.session_id, state.agent_type} - {""}
    if state.agent_id:
        return frozenset(own)
    led = (*subtasks(work), *objects_in(work, "agent_states"))
    theirs = {text(one, name) for one in led for name in ("agent_id", "agent_type")}
    return frozenset((own | theirs) - {""})


def _concerns(message: Mapping[str, Any], names: frozenset[str]) -> bool:
    whom = text(message, "to_agent")
    return not whom or whom in names or text(message, "from_agent") in names


def headline(state: State, record: Record) -> str:
    """Which window this is and how full it will be. Numbers of the old window do not apply."""
    number, limit = record.compactions_now + 1, state.edge_tokens
    words = f"Window {number}, just compacted: earlier fill figures are out of date"
    if not limit:
        return f"{words}."
    used = (state.overhead_tokens or OVERHEAD_TOKENS) + SUMMARY_TOKENS
    share = min(99, round(100 * used / limit))
    return f"{words}; it is about {share}% of the way to the next compaction."


def count_restored(brief: Brief) -> Counter[str]:
    """How much of each kind a brief restored, as the user is told."""
    items = (item for item in brief.items if item.section in RESTORED and _is_open(item))
    return Counter(item.section for item in items)


def _is_open(item: BriefItem) -> bool:
    """Whether an item is open work: the user's words, and subagents that still run."""
    if item.section == "said":
        return item.reason != OUTCOME and item.order >= 0
    if item.section == "agents":
        return item.reason == STILL_RUNNING
    return item.section != "tasks" or item.reason != "done"


def _marked_rules(state: State, record: Record) -> list[str]:
    """The marked rules. An error in the instruction files costs the rules, not the brief."""
    try:
        return collect_marked_rules(state.project, read_files(record))
    except Exception as fault:
        if "HOLDFAST_RAISE" in os.environ:  # set in tests, so that faults stay loud to us
            raise
        log.add("ERROR", "brief", f"rules of instruction files are missing: {fault!r}")
        return []


def read_files(facts: Record) -> list[str]:
    """Files that were read or changed, newest first: reading one loads the rules of its folder."""
    used = [(one.op, path) for path, one in facts.files.items() if one.reads or one.edits]
    return [path for _, path in sorted(used, reverse=True)]


def brief_of(session: ArchivedSession) -> Brief:
    """The brief that a compaction at the end of the session would have restored."""
    from holdfast.archive.transcripts import DamagedTranscript, damage, is_empty
    from holdfast.record.reader import read_record
    from holdfast.record.secrets import redact_record

    about = session.about
    if about is None or is_empty(session.path):
        raise DamagedTranscript(f"the archived {session.path}: {damage(session.path)}")
    record = redact_record(read_record(session.path))
    return compose_brief(state_of(session.path, about), "", record)


def state_of(path: str, about: CopyHeader) -> State:
    return State(
        transcript=path,
        session_id=about.session_id,
        agent_id=about.agent_id,
        project=about.project,
        cwd=about.project,
    )
