"""`context_budget`: the five compartments of the brief, and the forecast of the window."""

import shlex
from collections.abc import Callable
from typing import Any

import msgspec

from holdfast.budget import compartments, ledger
from holdfast.budget.ledger import MODEL
from holdfast.hub import row_times
from holdfast.mcp import client_session
from holdfast.mcp.answers import ToolAnswer
from holdfast.mcp.tool_table import ContextBudgetArguments
from holdfast.session import window_budget
from holdfast.session.window_budget import CompartmentUse
from holdfast.settings import load as settings_load
from holdfast.text.numbers import counted
from holdfast.window import health, measurement

FORECAST_FIELDS = ("used_ratio", "estimated", "ops_left", "minutes_left", "forecast_basis")


def answer_context_budget(asked: ContextBudgetArguments) -> ToolAnswer:
    if asked.op == "status":
        return _status()
    words, done = OPS[asked.op](asked)
    return ToolAnswer(words, {**done, "forecast": _forecast()})


def _status() -> ToolAnswer:
    folder, state = client_session.window()
    found = window_budget.status(state, folder, row_times.now_ms())
    fields = {
        **{name: getattr(found, name) for name in ("role", "max_tokens", "spent_tokens")},
        "pins": [pin.plain() for pin in found.pins],
        "evicted": list(found.evicted),
        "forecast": {name: getattr(found, name) for name in FORECAST_FIELDS},
    }
    rows = [row for part in found.parts for row in _rows(part)]
    return ToolAnswer(f"{counted(found.spent_tokens, 'token')} spent", fields, "compartments", rows)


def _rows(part: CompartmentUse) -> list[dict[str, Any]]:
    """The compartment, followed by its items with the ids by which they can be evicted."""
    names = ("share", "set_by", "spent_tokens")
    maybe = ("borrowed_tokens", "lent_tokens")
    head = {"compartment": part.name, **{name: getattr(part, name) for name in names}}
    head |= {name: getattr(part, name) or None for name in maybe}
    items = [{"id": item.id, "tokens": item.tokens, "text": item.text[:120]} for item in part.items]
    return [head, *items]


def _pin(asked: ContextBudgetArguments) -> tuple[str, dict[str, Any]]:
    """Pin in the model's name. For all projects it is only proposed: it holds for this one."""
    _, state = client_session.window()
    one = ledger.pin(
        asked.text,
        now_ms=row_times.now_ms(),
        compartment=asked.compartment,
        scope="project" if asked.scope == "user" else asked.scope,
        project=state.project,
        session_id=state.session_id,
        by=MODEL,
    )
    words = f"pinned {one.id} for this {one.scope}, {one.author}"
    if asked.scope == "user":
        confirm = f"holdfast pin {shlex.quote(one.text)} --user"
        words += f"; for all projects the user confirms it in a terminal: {confirm}"
    return words, one.plain()


def _unpin(asked: ContextBudgetArguments) -> tuple[str, dict[str, Any]]:
    _, state = client_session.window()
    one = ledger.unpin(asked.id, project=state.project, session_id=state.session_id, by=MODEL)
    return f"unpinned {one.id}", one.plain()


def _evict(asked: ContextBudgetArguments) -> tuple[str, dict[str, Any]]:
    folder, state = client_session.window()
    one = window_budget.evict(asked.id, state, folder)
    return f"evicted {one.id}", {"id": one.id, "section": one.section, "tokens": one.tokens}


def _estimate(asked: ContextBudgetArguments) -> tuple[str, dict[str, Any]]:
    _, state = client_session.window()
    found = compartments.estimate(asked.text, state.density)
    return counted(found.tokens, "token"), msgspec.structs.asdict(found)


def _allot(asked: ContextBudgetArguments) -> tuple[str, dict[str, Any]]:
    _, state = client_session.window()
    kept = ledger.allot(asked.compartment, asked.share, project=state.project)
    return "allotted for this project", {"shares": kept}


OPS: dict[str, Callable[[ContextBudgetArguments], tuple[str, dict[str, Any]]]] = {
    "pin": _pin,
    "unpin": _unpin,
    "evict": _evict,
    "estimate": _estimate,
    "allot": _allot,
}


def _forecast() -> dict[str, Any]:
    folder, state = client_session.window()
    settings = settings_load.load(state.project)
    seen = measurement.of_transcript(state, settings, row_times.now_ms(), folder)
    found = health.describe(seen, state, settings.share("watch_at"))
    return {name: found[name] for name in FORECAST_FIELDS}
