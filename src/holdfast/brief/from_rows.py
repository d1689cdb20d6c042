"""The brief of a session that the store knows: its rows become a record and the items of shared
work, and the composer of every brief does the rest."""

from collections.abc import Mapping
from typing import Any

from holdfast.brief.compose import Brief, compose
from holdfast.brief.roles import role_for
from holdfast.record.from_rows import read_rows


def compose_rows(
    work: Mapping[str, Any], max_tokens: int, *, agent_type: str = "", reader: str = ""
) -> Brief:
    """Return the brief for an agent. Without a type the reader is the main session, which gets
    everything; of those with a type only the orchestrator gets the work of others."""
    role = role_for(agent_type) if agent_type else ""
    if role not in ("", "orchestrator"):
        work = _own_work(work, role, reader)
    session_id = work.get("session_id") or "unknown"
    record = read_rows(
        session_id,
        work.get("project") or "",
        work["requests"],
        work["actions"],
        [path for path in work["modified_files"] if isinstance(path, str)],
    )
    origin = f"the store, session {session_id}"
    return compose(record, max_tokens, role, work=work, given="", origin=origin, reader=reader)


def _own_work(work: Mapping[str, Any], role: str, reader: str) -> dict[str, Any]:
    """Leave out the work of other agents; for a specialist also the session's own."""
    subtasks = [one for one in work["subtasks"] if one.get("agent_id") == reader]
    waits = [one for one in work["blocking"] if reader in (one["blocked_agent"], one["blocked_by"])]
    states = [state for state in work["agent_states"] if state.get("agent_id") == reader]
    own = {**work, "subtasks": subtasks, "blocking": waits, "agent_states": states}
    if role != "specialist":
        return own
    ids = {subtask.get("id") for subtask in subtasks} - {None}
    actions = [
        action
        for action in work["actions"]
        if action.get("agent_id") == reader or action.get("subtask_id") in ids
    ]
    return {
        **own,
        "requests": work["requests"][-1:],
        "actions": actions,
        "modified_files": [],
        "key_decisions": [],
    }
