"""Items from the work that sessions and agents share: what was saved, waves, subtasks by how they
stand, messages, and who waits for whom.

`work` is a projection of the store, as hooks read it from a file and the API from rows. Anyone may
have written the texts in it, so none of it is trusted.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.brief.item import NOWHERE, STILL_RUNNING, BriefItem, quote_ends
from holdfast.record.model import Record
from holdfast.redact.find import redact
from holdfast.text.fence import agent_name, flat

NEXT_TASKS = 4  # of the next wave that are named
ITEMS = 8  # that a small brief has room for
PINNED_SUMMARIES = 2  # the newest may say only that it was saved
RESULT_CHARS, SUMMARY_CHARS, WORDS_CHARS = 240, 400, 300
# A sign of life, and the watcher's word on a saved checkpoint: a brief needs neither.
NOTICES = ("agent.heartbeat", "checkpoint_trigger")
OVER = ("completed", "failed")
SENDER = ("from_agent", "from_agent_id", "from")
RECEIVER = ("to_agent", "to_agent_id", "to")
# Fields of a state that tell a program something, and a reader nothing.
_NOT_TOLD = (
    "id agent_id agent_type status trigger token_count tools_used tool_counts last_updated "
    "subtask_id task_list_id session_id project_id compact_id spawned_at skills_to_restore "
    "parent_agent_id updated_ms blocked_by saved"
)
NOT_TOLD = frozenset(_NOT_TOLD.split())

Row = Mapping[str, Any]


def shared_work(record: Record, work: Row, reader: str, limit: int) -> Iterator[BriefItem]:
    """Yield the items of a projection; what is the `reader`'s own stands apart."""
    yield from _saved(work)
    yield from _waves(work)
    texts = {flat(agent.asked, 200) for agent in record.agents.values()}
    texts |= {flat(task.text, 200) for task in record.tasks.values()} | {*record.agents}
    parts = [
        row
        for row in _rows(work, "subtasks")
        if texts.isdisjoint(_names(row) - {""}) and _names(row)
    ]
    edges = list(_rows(work, "blocking"))
    yield from _subtasks(parts, edges, work.get("at_ms"), reader, limit // ITEMS)
    names = {flat(_field(part, "description"), WORDS_CHARS) for part in parts}
    names |= {_field(part, "agent_id") for part in parts} - {""}
    for age, row in enumerate(_rows(work, "agent_states")):
        is_own = bool(reader) and _field(row, "agent_id") == reader
        if words := _state(row, names, is_own=is_own):
            section = "own" if is_own else "agents"
            yield BriefItem(section, words, 0.01 / (1 + age), "saved", order=20 + age)
    for age, row in enumerate(reversed(_rows(work, "open_elsewhere"))):
        text = f"in another session, {_name_of(row) or 'agent'}, {_status(row)}: "
        text += flat(_field(row, "description"), 120)
        yield BriefItem("agents", text, 0.01 / (1 + age), "not finished elsewhere", order=100 + age)
    yield from _messages(_rows(work, "recent_messages"), reader)
    at_work = {_field(part, "agent_id") for part in parts if _field(part, "status") not in OVER}
    for age, edge in enumerate(edges):
        if _field(edge, "blocked_agent") in at_work:
            continue  # it stands at its subtask
        text = f"{flat(_field(edge, 'blocked_agent'), 60)} waits for {_awaited(edge)}"
        yield BriefItem("blocked", text, 0.04 / (1 + age), "somebody waits", order=100 + age)


def _saved(work: Row) -> Iterator[BriefItem]:
    for age, (when, summary) in enumerate(work.get("summaries") or ()):
        begins, whole = f"{flat(when, 60)}: ", redact(summary)
        text = quote_ends(begins, whole, SUMMARY_CHARS)
        what = ("flight", text, 0.08 / (1 + age), "saved by a client", NOWHERE)
        pinned = age < PINNED_SUMMARIES
        yield BriefItem(*what, pinned, order=-1 + age / 99, begins=begins, whole=whole)
    for age, words in enumerate(work.get("key_decisions") or ()):
        text = flat(plain_words(words), SUMMARY_CHARS)
        if text:
            yield BriefItem("decisions", text, 0.03 / (1 + age / 4), "saved", order=-2 + age / 99)


def _waves(work: Row) -> Iterator[BriefItem]:
    """Yield the first wave that is not over, and the one after it; nothing if there is only one.
    The waves of a task list are its items: whoever wrote it knows of no waves."""
    waves = [row for row in _rows(work, "waves") if row.get("from_list") is not True]
    at = next((n for n, wave in enumerate(waves) if _field(wave, "status") not in OVER), None)
    if at is not None and len(waves) > 1:
        for n, wave in enumerate(waves[at : at + 2], at):
            names = [flat(name, 80) for name in wave.get("names") or () if isinstance(name, str)]
            tasks = f" ({', '.join(names[:NEXT_TASKS])})" if names else ""
            text = f"wave {wave.get('wave_number')} {_status(wave)}: "
            text += f"{wave.get('completed', 0)} of {wave.get('tasks', 0)} tasks done{tasks}"
            over = sum(_field(wave, "status") in OVER for wave in waves)
            text = f"next: {text}" if n > at else f"{text}; {over} of {len(waves)} waves are over"
            yield BriefItem("waves", text, 0.03, "how the waves stand", order=n)
    state = work.get("wave_state")
    for n, (key, value) in enumerate(state.items() if isinstance(state, dict) else ()):
        if words := plain_words(value):
            text = flat(f"{key}: {words}", 120)
            yield BriefItem("waves", text, 0.02 / (1 + n), "saved", order=100 + n)


def _awaited(edge: Row) -> str:
    why = f": {flat(_field(edge, 'reason'), 120)}" if _field(edge, "reason") else ""
    return flat(_field(edge, "blocked_by"), 60) + why


def _subtasks(
    parts: Sequence[Row], edges: Sequence[Row], at_ms: object, reader: str, most: int
) -> Iterator[BriefItem]:
    """Yield subtasks that the transcript does not have, by how they stood when the store was asked:
    the reader's own, what failed or is blocked, what came back, what runs or waits."""
    by_store = f" (by the store, {_clock(at_ms)})" if at_ms else ""
    counts: dict[str, int] = {}
    shown = {_field(part, "agent_id") for part in parts}
    for part in sorted(parts, key=lambda part: _field(part, "status") != "running"):
        names = [name for name in part.get("blocked_by") or () if isinstance(name, str)]
        agents = [name.partition(" (")[0] for name in names]
        told = zip(agents, names, strict=True)
        waits = [flat(agent if agent in shown else name, 120) for agent, name in told]
        waits += [
            _awaited(edge)
            for edge in edges
            if _field(edge, "blocked_agent") == _field(part, "agent_id")
            if _field(edge, "blocked_by") not in agents
        ]
        waits = [] if _field(part, "status") in OVER else waits
        section, worth, why = _place_of(part, reader, has_to_wait=bool(waits))
        age = counts[section] = counts.get(section, -1) + 1
        changed_ms = part.get("completed_ms") or part.get("started_ms")
        stood = f"{_status(part)}{f' {_clock(changed_ms)}' if changed_ms else ''}{by_store}"
        who = "" if section == "own" else _name_of(part)
        begins = f"{who}{', ' if who else ''}{stood}: "
        begins += flat(_field(part, "description"), min(400 if section == "own" else 160, most))
        begins += f"; waits for {', '.join(dict.fromkeys(waits))}" if waits else ""
        result = redact(plain_words(part.get("result")))
        begins += " → " if result else ""
        text = quote_ends(begins, result, min(RESULT_CHARS, most)) if result else begins
        pinned = section == "own" and _field(part, "status") != "completed"
        what = (section, text, worth / (1 + age / 4), why, NOWHERE, pinned)
        yield BriefItem(*what, order=age, begins=begins, whole=result)


def _clock(at_ms: object) -> str:
    return time.strftime("%H:%M UTC", time.gmtime(at_ms / 1000)) if type(at_ms) is int else ""


def _place_of(subtask: Row, reader: str, *, has_to_wait: bool) -> tuple[str, float, str]:
    status = _field(subtask, "status")
    if reader and _field(subtask, "agent_id") == reader:
        return "own", 0.1, "the reader's own"
    if status in ("failed", "blocked") or has_to_wait:
        return "blocked", 0.08, f"it {'has failed' if status == 'failed' else 'waits'}"
    if status == "completed":
        return "returned", 0.04 if subtask.get("result") else 0.01, "it has ended"
    return ("agents", *((0.05, STILL_RUNNING) if status == "running" else (0.02, "not begun")))


def _messages(posted: Sequence[Row], reader: str) -> Iterator[BriefItem]:
    """Yield the last messages between agents; those to the reader stand with its own task, the
    newest of them in any case."""
    words = [row for row in posted if _field(row, "topic") not in NOTICES and _content(row)]
    has_own = False
    for age, row in enumerate(reversed(words)):
        who, whom = (
            next(filter(None, (_field(row, n) for n in names)), "") for names in (SENDER, RECEIVER)
        )
        to = agent_name(whom) if whom else "everybody"
        text = (
            f"{agent_name(who or '?')} to {to}, {flat(_field(row, 'topic'), 40)}: {_content(row)}"
        )
        is_own = bool(whom) and whom == reader
        section, worth = ("own", 0.06) if is_own else ("messages", 0.008)
        what = (section, text, worth / (1 + age / 2), "posted on the board", NOWHERE)
        yield BriefItem(*what, pinned=is_own and not has_own, order=100 - age)
        has_own = has_own or is_own


def _content(message: Row) -> str:
    content = message.get("content") or message.get("payload")
    if isinstance(content, dict) and list(content) == ["message"]:
        content = content["message"]
    return flat(plain_words(content), WORDS_CHARS) if isinstance(content, str | dict) else ""


def _state(state: Row, told: set[str], *, is_own: bool) -> str:
    """Return what an agent is and what is known of it, without what a subtask tells already, and
    without what the reader knows of itself."""
    role = state.get("role_context")
    fields = {**state, "role_context": None, **(role if isinstance(role, dict) else {})}
    values: dict[str, str] = {}
    for key, value in fields.items():
        words = flat(plain_words(value), WORDS_CHARS)
        is_told = words in told or (key == "blockers" and _field(state, "agent_id") in told)
        if words and key not in NOT_TOLD and not is_told and words not in values.values():
            values[key] = words
    rest = "; ".join(f"{key.replace('_', ' ')}: {words}" for key, words in values.items())
    if is_own:
        return rest
    is_news = state.get("saved") is True and _field(state, "agent_id") not in told
    stands = f"{_name_of(state)}, {flat(_field(state, 'status'), WORDS_CHARS) or 'state unknown'}"
    return f"{stands}: {rest}" if rest else stands if is_news else ""


def plain_words(value: object, depth: int = 4) -> str:
    """Return a JSON value in plain words: `endpoint: /api/login, method: POST`."""
    if not depth or value is None:
        return ""
    if isinstance(value, dict):
        pairs = ((key, plain_words(inner, depth - 1)) for key, inner in value.items())
        return ", ".join(f"{key}: {words}" for key, words in pairs if words)
    if isinstance(value, list):
        return ", ".join(filter(None, (plain_words(inner, depth - 1) for inner in value[:20])))
    return "yes" if value is True else "no" if value is False else str(value)


def _names(subtask: Row) -> set[str]:
    return {flat(_field(subtask, "description"), 200), _field(subtask, "agent_id")}


def _name_of(row: Row) -> str:
    kind, name = flat(_field(row, "agent_type"), 40), flat(_field(row, "agent_id"), 60)
    return f"{kind} {name}" if kind and name and kind != name else kind or name


def _status(row: Row) -> str:
    return flat(_field(row, "status"), 20) or "state unknown"


def _rows(work: Row, name: str) -> list[dict[str, Any]]:
    rows = work.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _field(row: Row, name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""
