"""What speaks against ending a turn: the same facts for the stop hook, which may object, and for
`status`, which always shows them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from holdfast.hub.projection_file import objects_in, read_projection, running, text
from holdfast.record import commands
from holdfast.record import model as known
from holdfast.record.reader import RecordReader
from holdfast.redact import redact
from holdfast.window import stop_guard
from holdfast.window.state import State
from holdfast.window.stop_guard import StopFacts
from holdfast.wire import log, places, spool
from holdfast.wire.errors import describe
from holdfast.wire.log import inert

FORCE = "force-stop"
NAMED_CHARS = 80


def find_objections(
    state: State,
    folder: str,
    used_tokens: int,
    now_ms: int,
    payload: Mapping[str, Any],
    *,
    edge_tokens: int,
    estimated: bool,
) -> StopFacts:
    lines = spool.recent(folder, spool.STOP_BYTES) if folder else []
    return StopFacts(
        running=tuple(_running(state, folder, lines, now_ms, payload)),
        errors=tuple(_errors(state, folder, lines)),
        unsaved_ratio=stop_guard.unsaved_ratio(used_tokens, state.checkpoint_tokens, edge_tokens),
        estimated=estimated,
        has_checkpoint=state.checkpoint_ms > 0,
        forced=is_forced(folder),
    )


def is_forced(folder: str) -> bool:
    """Whether the user wants turns to end in any case."""
    if os.environ.get("HOLDFAST_FORCE_STOP") == "1":
        return True
    return any(os.path.exists(f"{place}/{FORCE}") for place in (places.home(), folder) if place)  # noqa: PTH110


def _running(
    state: State, folder: str, lines: list[spool.SpoolLine], now_ms: int, payload: Mapping[str, Any]
) -> list[str]:
    """Running subagents: from the hooks' lines, Claude Code's list, and the store."""
    agents = spool.running_agents(lines, now_ms)
    known = {line.tool_use_id for line in lines if line.flags == "agent"}
    for one in _background(payload):
        agents.setdefault(one[0], one[1])
    work = read_projection(folder) if folder else {}
    for part in running(work) if now_ms - work.get("at_ms", 0) < spool.LIVE_MS else ():
        name = text(part, "agent_id") or text(part, "id")
        if name not in known:
            agents.setdefault(name, text(part, "agent_type"))
    return [_quote(f"{kind or 'agent'} {name[:12]}") for name, kind in agents.items()]


def _background(payload: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Agents that Claude Code reports as running. A server left running is not a subtask."""
    found = []
    for one in objects_in(payload, "background_tasks"):
        kind, name = text(one, "type"), text(one, "agent_id") or text(one, "id")
        over = text(one, "status") not in ("", "running", "pending")
        if ("agent" in kind or "agent_id" in one) and name and not over:
            found.append((name, text(one, "agent_type") or kind))
    return found


def _errors(state: State, folder: str, lines: list[spool.SpoolLine]) -> list[str]:
    """Commands that failed and have not passed since; for other tools, the last call counts."""
    failed = spool.failed_tools(lines)
    commands = _failing(state, folder)
    if commands is None:
        return [_quote(tool) for tool in failed]
    return [*commands, *(_quote(tool) for tool in failed if tool != "Bash")]


def _failing(state: State, folder: str) -> list[str] | None:
    """Failing commands; None if the transcript cannot be read."""
    before = known.load(places.read_small(f"{folder}/record.json", 32 << 20)) if folder else None
    try:
        facts = RecordReader(before, sidechain=bool(state.agent_id)).read(state.transcript)
    except Exception as error:  # a turn ends, and a status is shown, whatever is in the file
        if state.transcript:
            log.add("WARN", state.session_id[:8], f"open errors are not known: {describe(error)}")
        return None
    return [
        f"`{_quote(line)}`"
        for line, failed in commands.failing(facts)
        if facts.op - failed.place.op < spool.OPERATIONS
    ]


def _quote(words: str) -> str:
    """Foreign text for a line that the model reads: one line, short, no secrets."""
    return inert(redact(words), NAMED_CHARS).replace("`", "'")
