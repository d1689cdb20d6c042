"""`board`: messages between agents, and claims on pieces of work."""

from collections.abc import Callable
from typing import Any

from holdfast.hub import clean_text, ids, projection, row_times
from holdfast.hub.board import agreements, messages, outboxes
from holdfast.hub.board.local_agents import resolve_address
from holdfast.hub.errors import Refused
from holdfast.hub.store.rows import Row
from holdfast.hub.tree.sessions import meet_project
from holdfast.mcp import client_session
from holdfast.mcp.answers import ToolAnswer
from holdfast.mcp.tool_table import BoardArguments
from holdfast.redact.find import redact

MAX_ROWS = 100


def answer_board(asked: BoardArguments) -> ToolAnswer:
    return client_session.run_in_time(lambda: OPS[asked.op](asked))


def _post(asked: BoardArguments) -> ToolAnswer:
    messages.check_topic(asked.topic, client_session.project())
    words, now = clean_text.check_text(_require(asked.text, "text"), "text"), row_times.now_ms()
    where = _project()
    to, whom = resolve_address(now, asked.to) if asked.to else (None, [])
    row = messages.draft(_me(asked), asked.topic, redact(words), now, to_agent=to, project_id=where)
    outboxes.post(client_session.store(), row)
    until = row_times.to_iso(row["expires_ms"])
    fields = {"id": row["id"], "heard": outboxes.delivery_words(row, whom), "expires_at": until}
    return ToolAnswer("posted", fields)


def _read(asked: BoardArguments) -> ToolAnswer:
    where = ids.project_id(client_session.project())
    ask = messages.Ask(_me(asked), row_times.now_ms(), MAX_ROWS, where, topic=asked.topic or None)
    store = client_session.store()
    found = store.read(lambda c: messages.look(c, ask))
    if found.unread_ids:
        looked = outboxes.withdraw_read(found, ask)
        found = store.write(lambda c: messages.mark(c, ask, looked))
    unread = [_message(row) for row in found.rows if not row["already_read"]]
    left = {"unread_remaining": found.unread_remaining}
    return ToolAnswer(f"{len(unread)} new messages", left, "messages", unread)


def _claim(asked: BoardArguments) -> ToolAnswer:
    work, me = _require(asked.work, "work"), _me(asked)
    project, now = _project(), row_times.now_ms()
    given = {"project_id": project, "work": work, "agent_id": me}
    row = client_session.store().write(lambda c: agreements.take_claim(c, given, now))
    return ToolAnswer(f"{me} has {work}", _claim_row(row))


def _settle(asked: BoardArguments) -> ToolAnswer:
    work, me = _require(asked.work, "work"), _me(asked)
    project, now = ids.project_id(client_session.project()), row_times.now_ms()
    client_session.store().write(lambda c: agreements.release_claim(c, project, work, me, now))
    return ToolAnswer(f"{work} is free", {"work": work, "settled": True})


def _claims(asked: BoardArguments) -> ToolAnswer:
    project, now = ids.project_id(client_session.project()), row_times.now_ms()
    store = client_session.store()
    page = store.read(lambda c: agreements.list_claims(c, MAX_ROWS, 0, now, project_id=project))
    return ToolAnswer(f"{page.total} claims hold", {}, "claims", list(map(_claim_row, page.rows)))


OPS: dict[str, Callable[[BoardArguments], ToolAnswer]] = {
    "post": _post,
    "read": _read,
    "claim": _claim,
    "settle": _settle,
    "claims": _claims,
}


def _me(asked: BoardArguments) -> str:
    """Who is asking. The session itself is an agent named by its session id."""
    return asked.agent or client_session.session_id() or "user"


def _project() -> str:
    """The project's id. Its row is added if there is none yet."""
    path = client_session.project()
    client_session.store().write(lambda c: meet_project(c, path, row_times.now_ms()))
    return ids.project_id(path)


def _require(text: str, name: str) -> str:
    if not text.strip():
        raise Refused(f"{name} is needed for this", name)
    return text


def _message(row: Row) -> dict[str, Any]:
    """The complete message: once read, it is not returned again."""
    content = row["content"]
    message = content["message"] if list(content) == ["message"] else content
    return {**projection.shown([row])[0], "content": message}


def _claim_row(row: Row) -> dict[str, Any]:
    until = row_times.to_iso(row["expires_ms"])
    return {"work": row["work"], "agent": row["agent_id"], "until": until}
