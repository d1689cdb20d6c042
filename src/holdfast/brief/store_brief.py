"""A brief from what agents share: a saved snapshot and rows of the store, for clients of the API.

Items are chosen and fenced as for a session of our own; only the source differs. The input has the
normal form of `hub.tree.snapshot_form`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.brief.item import BriefItem, chars_for
from holdfast.brief.roles import Section, role_for
from holdfast.brief.trim import choose
from holdfast.budget.compartments import units
from holdfast.redact import redact
from holdfast.text import fence

_SETTLED = ("completed", "failed", "cancelled", "deleted")

SECTIONS = (
    Section("said", 0.20, "What was asked, in order"),
    Section("task", 0.25, "Where the work stood"),
    Section("waves", 0.10, "Waves"),
    Section("tasks", 0.25, "Tasks not done"),
    Section("decisions", 0.15, "Decided"),
    Section("blocked", 0.08, "Who waits for whom"),
    Section("messages", 0.15, "Messages not read"),
    Section("agents", 0.12, "Agents"),
    Section("files", 0.20, "Files changed"),
    Section("actions", 0.08, "Done lately"),
    Section("exchanged", 0.05, "Messages up to the save"),
)
# The sections that a role reads first.
LEADS = {
    "orchestrator": ("said", "waves", "agents", "tasks", "blocked", "messages"),
    "validator": ("said", "files", "actions"),
    "specialist": ("said", "tasks", "files"),
}
SENDER = ("from_agent", "from_agent_id", "from")
RECEIVER = ("to_agent", "to_agent_id", "to")
NOT_TOLD = frozenset(
    ("agent_type", "id", "trigger", "token_count", "last_updated", "tools_used", "tool_counts")
)
MOST_CHARS = 400
MOST_INNER = 20  # items of a list within an item
MARGIN = 60


def compose_shared(
    known: Mapping[str, Any],
    max_tokens: int,
    *,
    agent_type: str = "",
    agent_id: str = "",
    origin: str = "the store",
) -> tuple[str, bool]:
    """Return the brief, and whether something was cut; empty if nothing is known. Tasks of
    `agent_id`, which reads it, come first."""
    items = list(_items(known, agent_id))
    limit = chars_for(max_tokens)
    sections = _ordered(role_for(agent_type, has_agents=bool(known.get("agent_states"))))
    frame = units(fence.opening(fence.flat(origin, 60))) + units(fence.closing()) + MARGIN
    taken = choose(items, sections, max(0, limit - frame)).taken
    while taken:
        text = _laid_out(taken, sections, origin, len(items) - len(taken))
        if units(text) <= limit:
            return text, len(taken) < len(items)
        taken = taken[:-1]
    return "", bool(items)


def _ordered(role: str) -> Sequence[Section]:
    first = LEADS.get(role, ())
    by_name = {one.name: one for one in SECTIONS}
    return [*map(by_name.__getitem__, first), *(one for one in SECTIONS if one.name not in first)]


def _laid_out(taken: list[BriefItem], sections: Sequence[Section], origin: str, left: int) -> str:
    lines = [fence.opening(fence.flat(origin, 60).replace('"', ""))]
    for section in sections:
        mine = sorted((i for i in taken if i.section == section.name), key=lambda i: i.order)
        if mine:
            lines += [f"## {section.heading}", *(f"- {item.text}" for item in mine)]
    if left > 0:
        lines.append(f"({left} lesser items cut)")
    return redact("\n".join([*lines, fence.closing()]))


def is_open(task: Any) -> bool:
    """Whether a task, in any form that a snapshot may hold, has no final state."""
    return not (isinstance(task, dict) and task.get("status") in _SETTLED)


def _items(known: Mapping[str, Any], agent_id: str) -> Iterator[BriefItem]:
    yield from _requests(known.get("requests", ()))
    summaries = [known.get("compact_summary"), known.get("context_summary")]
    for order, text in enumerate(one for one in summaries if isinstance(one, str) and one.strip()):
        yield BriefItem("task", fence.flat(text, 1200), 1.0, "said at the save", order=order)
    yield from _waves(known.get("wave_state"))
    open_tasks = [one for one in known.get("active_tasks", ()) if is_open(one)]
    own = [{**one, "agent_type": "you"} for one in open_tasks if _is_of(one, agent_id)]
    others = [one for one in open_tasks if not _is_of(one, agent_id)]
    yield from _listed("tasks", [*own, *others], _task, 0.9)
    yield from _listed("decisions", known.get("key_decisions", ()), _words, 0.8)
    yield from _listed("blocked", known.get("blockings", ()), _blocking, 0.8)
    unread = known.get("unread_messages", ())
    yield from _listed("messages", unread, _message, 0.7)
    ids = {one.get("id") for one in unread} - {None}
    earlier = [one for one in known.get("recent_messages", ()) if _id(one) not in ids]
    yield from _listed("exchanged", earlier, _message, 0.2)
    yield from _listed("agents", known.get("agent_states", ()), _agent, 0.6)
    yield from _listed("files", known.get("modified_files", ()), _words, 0.5)
    yield from _listed("actions", known.get("recent_actions", ()), _action, 0.1)


def _requests(asked: Sequence[Mapping[str, Any]]) -> Iterator[BriefItem]:
    """Yield the requests; the last one is being worked on."""
    for age, one in enumerate(reversed(asked)):
        status = _words(one.get("status"))
        text = fence.quoted(fence.flat(_words(one.get("prompt")), MOST_CHARS))
        text += f" ({fence.flat(status, 20)})" if status not in ("", "active") else ""
        yield BriefItem("said", text, 1.0 / (1 + age), "asked in the session", order=-age)


def _is_of(task: Any, agent_id: str) -> bool:
    return bool(agent_id) and isinstance(task, dict) and task.get("agent_id") == agent_id


def _id(message: Any) -> str | None:
    """Return the id of a message; a saved list may hold anything."""
    found = message.get("id") if isinstance(message, dict) else None
    return found if isinstance(found, str) else None


def _listed(
    section: str, values: Iterable[Any], told: Callable[[Any], str], worth: float
) -> Iterator[BriefItem]:
    """Yield the items of a list. Earlier ones are worth more: lists begin with the newest or most
    important."""
    for n, value in enumerate(values):
        text = told(value) if isinstance(value, dict) else _words(value)
        if text := fence.flat(text, MOST_CHARS):
            yield BriefItem(section, text, worth / (1 + n / 10), "saved", order=n)


def _waves(state: object) -> Iterator[BriefItem]:
    for n, (key, value) in enumerate(state.items() if isinstance(state, dict) else ()):
        if words := _words(value):
            yield BriefItem("waves", fence.flat(f"{key}: {words}", 120), 0.9, "saved", order=n)


def _task(task: dict[str, Any]) -> str:
    who = _words(task.get("agent_type"))
    status = _words(task.get("status"))
    words = _words(task.get("description"))
    return f"{who + ': ' if who else ''}{words}{f' ({status})' if status else ''}"


def _agent(state: dict[str, Any]) -> str:
    """Return what the agent is, and what is known of it; its `role_context` says what it works
    on."""
    name = _words(state.get("agent_id") or state.get("agent_type")) or "?"
    kind = _words(state.get("agent_type"))
    role = state.get("role_context")
    known = {**state, "role_context": None, **(role if isinstance(role, dict) else {})}
    rest = {key: value for key, value in known.items() if _tells(key)}
    return f"{name}{f' [{kind}]' if kind not in ('', name) else ''}: {_words(rest)}"


def _tells(name: str) -> bool:
    return name not in NOT_TOLD and not name.endswith(("_id", "_at"))


def _message(message: dict[str, Any]) -> str:
    sender, content = _either(message, *SENDER), _either(message, "content", "payload")
    receiver = _either(message, *RECEIVER)
    to = f" to {fence.agent_name(receiver)}" if receiver else ""
    return (
        f"{fence.agent_name(sender or '?')}{to}, {_words(message.get('topic')) or '?'}: {content}"
    )


def _blocking(blocking: dict[str, Any]) -> str:
    reason = f" ({blocking['reason']})" if blocking.get("reason") else ""
    return f"{blocking.get('blocked_agent')} waits for {blocking.get('blocked_by')}{reason}"


def _action(action: dict[str, Any]) -> str:
    paths = action.get("file_paths")
    files = _words(paths[:3] if isinstance(paths, list) else paths) or _words(action.get("detail"))
    failed = " failed" if action.get("exit_code") else ""
    return f"{_words(action.get('tool_name')) or '?'}{failed} {files}".strip()


def _either(row: dict[str, Any], *names: str) -> str:
    """Return the first of these fields that has a value: clients use several names for the same
    field."""
    return next((words for name in names if (words := _words(row.get(name)))), "")


def _words(value: object, depth: int = 4) -> str:
    """Return a JSON value in plain words: `endpoint: /api/login, method: POST`."""
    if type(value) is str:  # nearly all values are
        return value if depth else ""
    if value is None or not depth:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        pairs = ((key, _words(inner, depth - 1)) for key, inner in value.items())
        return ", ".join(f"{key}: {words}" for key, words in pairs if words)
    if isinstance(value, list):
        return ", ".join(
            words for inner in value[:MOST_INNER] if (words := _words(inner, depth - 1))
        )
    return str(value)
