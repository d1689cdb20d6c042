"""Items from the shared work: the state of the waves, subtasks that only the store knows, who
waits."""

import time
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from holdfast.brief.item import STILL_RUNNING, BriefItem
from holdfast.record.model import Record
from holdfast.text.fence import flat

MOST_ELSEWHERE = 6
MOST_SUBTASKS = 12
MOST_MESSAGES = 6
HEARTBEAT = "agent.heartbeat"
RUNNING = "running"
_OVER = ("completed", "failed")


def shared_work(record: Record, work: Mapping[str, Any]) -> Iterator[BriefItem]:
    """Yield the items of a projection. Anyone may have written the texts in it, so none of it is
    trusted."""
    yield from _waves(_rows(work, "waves"))
    yield from _only_stored(record, work)
    yield from _messages(_rows(work, "recent_messages"))
    for age, one in enumerate(reversed(_rows(work, "open_elsewhere")[-MOST_ELSEWHERE:])):
        who = _text(one, "agent_type") or _text(one, "agent_id") or "agent"
        said = f"{flat(who, 40)}, {flat(_text(one, 'status'), 20)}"
        text = f"in another session, {said}: {flat(_text(one, 'description'), 120)}"
        yield BriefItem("agents", text, 0.01 / (1 + age), "not finished elsewhere", order=100 + age)
    for age, one in enumerate(_rows(work, "blocking")[:MOST_ELSEWHERE]):
        waits = f"{flat(_text(one, 'blocked_agent'), 60)} waits for "
        why = f": {flat(_text(one, 'reason'), 120)}" if _text(one, "reason") else ""
        text = f"{waits}{flat(_text(one, 'blocked_by'), 60)}{why}"
        yield BriefItem("agents", text, 0.02 / (1 + age), "somebody waits", order=200 + age)


def _only_stored(record: Record, work: Mapping[str, Any]) -> Iterator[BriefItem]:
    """Yield open subtasks of this session that are not in the transcript, with the time of the
    store's answer: they may have ended since. Running ones come first."""
    at_ms = work.get("at_ms")
    at = time.strftime(", %H:%M UTC", time.gmtime(at_ms / 1000)) if type(at_ms) is int else ""
    known = {flat(one.asked, 200) for one in record.agents.values()}
    known |= {flat(one.text, 200) for one in record.tasks.values()} | {*record.agents, ""}
    open_ones = [one for one in _rows(work, "subtasks") if _text(one, "status") not in _OVER]
    open_ones.sort(key=lambda one: _text(one, "status") != RUNNING)
    new = (one for one in open_ones if known.isdisjoint(_names(one)))
    for age, one in enumerate(islice(new, MOST_SUBTASKS)):
        who = flat(_text(one, "agent_type") or _text(one, "agent_id") or "agent", 40)
        status = flat(_text(one, "status"), 20)
        text = f"{who}, {status} (by the store{at}): {flat(_text(one, 'description'), 160)}"
        worth, why = (0.05, STILL_RUNNING) if status == RUNNING else (0.02, "known to the store")
        yield BriefItem("agents", text, worth / (1 + age / 4), why, order=50 + age)


def _names(subtask: Mapping[str, Any]) -> set[str]:
    """Return the names under which the transcript may know a subtask."""
    words, agent = flat(_text(subtask, "description"), 200), _text(subtask, "agent_id")
    return {words, agent} if agent else {words}


def _messages(posted: list[dict[str, Any]]) -> Iterator[BriefItem]:
    """Yield the last messages between agents of the project, oldest first: a compaction removes
    what was read."""
    told = [one for one in posted if _text(one, "topic") != HEARTBEAT and _text(one, "content")]
    for age, one in enumerate(reversed(told[-MOST_MESSAGES:])):
        who = flat(_text(one, "from_agent"), 40)
        to = flat(_text(one, "to_agent"), 40) or "everybody"
        text = f"{who} to {to}, {flat(_text(one, 'topic'), 40)}: {flat(_text(one, 'content'), 200)}"
        yield BriefItem("messages", text, 0.008 / (1 + age / 2), "posted on the board", order=-age)


def _waves(waves: list[dict[str, Any]]) -> Iterator[BriefItem]:
    """Yield the first wave that is not over; nothing if there is only one."""
    now = next((one for one in waves if one.get("status") not in _OVER), None)
    if now is None or len(waves) < 2:
        return
    done, of = now.get("completed"), now.get("tasks")
    if type(done) is int and type(of) is int:
        place = f"wave {waves.index(now) + 1} of {len(waves)}"
        text = f"{place} {flat(_text(now, 'status'), 20)}: {done} of {of} tasks done"
        yield BriefItem("tasks", text, 0.03, "how the waves stand", order=-1)


def _rows(work: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = work.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _text(row: Mapping[str, Any], name: str) -> str:
    found = row.get(name)
    return found if isinstance(found, str) else ""
