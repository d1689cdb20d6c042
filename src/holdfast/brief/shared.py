"""A brief from what agents share: a saved snapshot and the rows beside it, for clients of the API.

The same choosing and the same fence as for a session of our own; only the source differs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.brief import fence
from holdfast.brief.item import Item
from holdfast.brief.roles import Section, role_for
from holdfast.brief.size import chars_for, units
from holdfast.brief.trim import choose
from holdfast.redact import redact

SECTIONS = (
    Section("task", 0.25, "Where the work stood"),
    Section("waves", 0.10, "Waves"),
    Section("tasks", 0.25, "Tasks not done"),
    Section("decisions", 0.15, "Decided"),
    Section("blocked", 0.08, "Who waits for whom"),
    Section("messages", 0.15, "Messages not read"),
    Section("agents", 0.12, "Agents"),
    Section("files", 0.20, "Files changed"),
    Section("actions", 0.08, "Done lately"),
)
LEADS = ("waves", "agents", "tasks")  # an orchestrator reads these before all else
DONE = frozenset(("completed", "failed", "deleted", "cancelled"))
MOST_CHARS = 400
MARGIN = 60


def compose_shared(
    known: Mapping[str, Any], max_tokens: int, *, agent_type: str = "", origin: str = "the store"
) -> tuple[str, bool]:
    """The brief, and whether something was cut; empty where nothing is known."""
    items = list(_items(known))
    limit = chars_for(max_tokens)
    sections = _ordered(role_for(agent_type, has_agents=bool(known.get("agent_states"))))
    frame = units(fence.opening(_flat(origin, 60))) + units(fence.closing()) + MARGIN
    taken = choose(items, sections, max(0, limit - frame)).taken
    while taken:
        text = _laid_out(taken, sections, origin, len(items) - len(taken))
        if units(text) <= limit:
            return text, len(taken) < len(items)
        taken = taken[:-1]
    return "", bool(items)


def _ordered(role: str) -> Sequence[Section]:
    if role != "orchestrator":
        return SECTIONS
    return sorted(SECTIONS, key=lambda one: one.name not in LEADS)


def _laid_out(taken: list[Item], sections: Sequence[Section], origin: str, left: int) -> str:
    lines = [fence.opening(_flat(origin, 60).replace('"', ""))]
    for section in sections:
        mine = sorted((i for i in taken if i.section == section.name), key=lambda i: i.order)
        if mine:
            lines += [f"## {section.heading}", *(f"- {item.text}" for item in mine)]
    if left > 0:
        lines.append(f"({left} lesser items cut)")
    return redact("\n".join([*lines, fence.closing()]))


def _items(known: Mapping[str, Any]) -> Iterator[Item]:
    summaries = [known.get("compact_summary"), known.get("context_summary")]
    for order, text in enumerate(one for one in summaries if isinstance(one, str) and one.strip()):
        yield Item("task", _flat(text, 1200), 1.0, "said at the save", order=order)
    yield from _waves(known.get("wave_state"))
    yield from _listed("tasks", _open(known.get("active_tasks")), _task, 0.9)
    yield from _listed("decisions", known.get("key_decisions"), _plain, 0.8)
    yield from _listed("blocked", known.get("blockings"), _blocking, 0.8)
    yield from _listed("messages", known.get("recent_messages"), _message, 0.5)
    yield from _listed("agents", _named(known.get("agent_states")), _agent, 0.6)
    yield from _listed("files", known.get("modified_files"), _plain, 0.5)
    yield from _listed("actions", known.get("recent_actions"), _action, 0.1)


def _listed(section: str, values: object, told: Any, worth: float) -> Iterator[Item]:
    """Earlier ones count more: lists come with the newest or weightiest first."""
    for n, value in enumerate(values if isinstance(values, list) else []):
        if text := told(value):
            worth_here = worth / (1 + n / 10)
            yield Item(section, _flat(text, MOST_CHARS), worth_here, "saved", order=n)


def _waves(state: object) -> Iterator[Item]:
    if isinstance(state, dict):
        told = (f"{key}: {value}" for key, value in state.items() if isinstance(value, str | int))
        for n, text in enumerate(told):
            yield Item("waves", _flat(text, 120), 0.9, "saved", order=n)


def _open(tasks: object) -> object:
    if not isinstance(tasks, list):
        return []
    return [t for t in tasks if not isinstance(t, dict) or t.get("status") not in DONE]


def _named(states: object) -> object:
    """A list, or an object keyed by the agent, as some clients send it."""
    if isinstance(states, dict):
        rows = states.items()
        return [{"agent_id": k, **v} if isinstance(v, dict) else f"{k}: {v}" for k, v in rows]
    return states


def _plain(value: object) -> str:
    return value if isinstance(value, str) else _pairs(value)


def _task(value: object) -> str:
    if not isinstance(value, dict):
        return _plain(value)
    who = f"{value['agent_type']}: " if value.get("agent_type") else ""
    status = f" ({value['status']})" if value.get("status") else ""
    return f"{who}{value.get('description', '')}{status}"


def _agent(value: object) -> str:
    if not isinstance(value, dict):
        return _plain(value)
    rest = {k: v for k, v in value.items() if k not in ("agent_id", "agent_type")}
    name = value.get("agent_id") or value.get("agent_type") or "?"
    kind = value.get("agent_type")
    return f"{name}{f' [{kind}]' if kind and kind != name else ''}: {_pairs(rest)}"


def _message(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    sender = value.get("from_agent") or value.get("from_agent_id") or value.get("from") or "?"
    content = value.get("content", value.get("payload"))
    return f"{sender}, {value.get('topic', '?')}: {_pairs(content)}"


def _blocking(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    reason = f" ({value['reason']})" if value.get("reason") else ""
    return f"{value.get('blocked_agent')} waits for {value.get('blocked_by')}{reason}"


def _action(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    files = ", ".join(str(path) for path in (value.get("file_paths") or [])[:3])
    failed = " failed" if value.get("exit_code") else ""
    return f"{value.get('tool_name')}{failed} {files}".strip()


def _pairs(value: object) -> str:
    if isinstance(value, dict):
        plain = {k: v for k, v in value.items() if isinstance(v, str | int | float) and v != ""}
        return ", ".join(f"{key}: {inner}" for key, inner in plain.items())
    return "" if value is None else str(value)


def _flat(text: str, most: int) -> str:
    return fence.flat(text, most)
