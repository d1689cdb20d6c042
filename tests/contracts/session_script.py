"""A session as its hooks and its client leave it on disk, written step by step."""

import json
import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from holdfast.hub import row_times
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import metadata
from holdfast.window import audit
from holdfast.window.state import State, save
from holdfast.wire import places, spool
from tests.builders import a_boundary, a_summary

START_MS = 1_767_225_600_000  # 2026-01-01
DERIVED = (
    *("projects", "sessions", "requests", "tasks", "subtasks", "actions"),
    *("agent_contexts", "windows", "audit", "readings", "compactions"),
)


def stamp(ms: int) -> str:
    return row_times.to_iso(START_MS + ms) or ""


class ScriptedSession:
    """Each method is one thing that happens; files grow as the real ones do."""

    def __init__(self, folder: Path, session: str = "s1", project: str = "/p/tide") -> None:
        self.session, self.project = session, project
        self.transcript = folder / f"{session}.jsonl"
        self.now_ms, self.calls, self.prompts = 0, 0, 0
        self.note()

    def _tick(self) -> int:
        self.now_ms += 1_000
        return self.now_ms

    @property
    def prompt_id(self) -> str:
        return f"prompt-{self.prompts}"

    def note(self, **changes: Any) -> None:
        """The warm side's own notes."""
        window = places.window(self.session)
        os.makedirs(window, exist_ok=True)  # noqa: PTH103
        state = State(
            session_id=self.session,
            transcript=str(self.transcript),
            project=self.project,
            edge_tokens=167_000,
            window_tokens=200_000,
            used_tokens=1_000 + self.now_ms,
            at_ms=START_MS + self.now_ms,
            basis="usage",
        )
        state.__dict__.update(changes)
        save(window, state)

    def line(self, event: str, agent: str = "", **fields: Any) -> None:
        folder = places.window(self.session, agent)
        ms = START_MS + self._tick()
        spool.append(folder, spool.SpoolLine(ms, event, 20_000 + self.now_ms, **fields))

    def write(self, line: dict[str, Any], agent: str = "") -> None:
        path = Path(places.transcript(str(self.transcript), agent))
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = {
            "isSidechain": bool(agent),
            "sessionId": self.session,
            "cwd": self.project,
            "timestamp": stamp(self._tick()),
            **line,
        }
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(whole) + "\n")

    def prompt(self, text: str = "build the tide tables", agent: str = "") -> None:
        if not agent:
            self.prompts += 1
            self.line("UserPromptSubmit", flags="usage")
        message = {"role": "user", "content": text}
        uuid = f"u-{agent}-{self.now_ms}"
        self.write(
            {"type": "user", "uuid": uuid, "promptId": self.prompt_id, "message": message}, agent
        )

    def call(
        self,
        tool: str = "Bash",
        given: dict[str, Any] | None = None,
        answer: str = "fine",
        *,
        failed: bool = False,
        agent: str = "",
        hook: bool = True,
        transcript: bool = True,
        copy: dict[str, Any] | None = None,
        took_ms: int = 36,
        use_id: str = "",
    ) -> str:
        """One tool call, as the hook and the transcript tell it."""
        self.calls += 1
        use_id = use_id or f"toolu_{self.session}_{agent}_{self.calls}"
        block = {
            "type": "tool_use",
            "id": use_id,
            "name": tool,
            "input": given or {"command": "ls"},
        }
        if transcript:
            self.answer([block], agent=agent)
        if hook:
            event = "PostToolUseFailure" if failed else "PostToolUse"
            script = {"tool_use_id": use_id, "tool": tool, "duration_ms": took_ms}
            self.line(event, agent, flags="usage", **script)
        if transcript:
            result = {"type": "tool_result", "tool_use_id": use_id, "content": answer}
            message = {"role": "user", "content": [{**result, "is_error": failed}]}
            line: dict[str, Any] = {"type": "user", "uuid": f"r-{self.now_ms}", "message": message}
            self.write({**line, "promptId": self.prompt_id, "toolUseResult": copy or {}}, agent)
        return use_id

    def answer(
        self, blocks: list[dict[str, Any]], *, agent: str = "", stop_reason: str = "tool_use"
    ) -> None:
        usage = {"input_tokens": 10, "output_tokens": 20}
        message = {
            "id": f"msg_{self.now_ms}",
            "model": "claude-sonnet-4-6",
            "content": blocks,
            "stop_reason": stop_reason,
            "usage": usage,
        }
        self.write({"type": "assistant", "uuid": f"a-{self.now_ms}", "message": message}, agent)

    def says(self, text: str) -> None:
        """The last words of a turn."""
        self.answer([{"type": "text", "text": text}], stop_reason="end_turn")
        self.line("Stop", flags="usage")

    def agent_starts(self, agent: str, kind: str = "reviewer") -> None:
        script = {"tool_use_id": agent, "tool": kind, "answer_id": self.prompt_id}
        self.line("SubagentStart", flags="agent", **script)

    def agent_stops(self, agent: str, kind: str = "reviewer") -> None:
        script = {"tool_use_id": agent, "tool": kind, "answer_id": self.prompt_id}
        self.line("SubagentStop", flags="agent", **script)

    def agent_answers(self, agent: str, about: str = "look at the code", **also: Any) -> None:
        given = {"description": about, "prompt": about, "subagent_type": "reviewer"}
        copy = {"agentId": agent, "status": "completed", "totalDurationMs": 900}
        self.call("Agent", given, "all is well", copy=copy, **also)

    def works(self, agent: str) -> None:
        """A subagent from its start to its end, with a call of its own."""
        self.agent_starts(agent)
        self.prompt("find the fault", agent)
        self.call("Read", {"file_path": "/p/tide/a.py"}, agent=agent)
        self.agent_stops(agent)
        self.agent_answers(agent)

    def lists(self, subject: str, number: int) -> None:
        self.call("TaskCreate", {"subject": subject}, f"Task #{number} created successfully")

    def ticks(self, number: int, status: str) -> None:
        self.call("TaskUpdate", {"taskId": str(number), "status": status}, "Updated task")

    def compacts(self) -> None:
        for line in (a_boundary(), a_summary("all that was said")):
            self.write({**line, "timestamp": stamp(self._tick()), "uuid": f"b-{self.now_ms}"})

    def alerts(self) -> None:
        event = {"event": "CONTEXT_PRESSURE", "at_ms": START_MS + self._tick()}
        audit.add({**event, "session_id": self.session, "agent_id": "", "level": "warning"})

    def ends(self) -> None:
        self.line("SessionEnd", flags="usage")

    def starts(self) -> None:
        self.line("SessionStart", flags="usage")

    def rotates(self) -> None:
        spool_file = Path(places.window(self.session), "spool")
        if spool_file.exists():
            spool_file.replace(spool_file.with_name("spool.1"))


def rows_of(store: Store, *tables: str) -> dict[str, list[dict[str, Any]]]:
    """Every derived row, in an order that does not depend on when it was written."""

    def read(connection: sa.Connection) -> dict[str, list[dict[str, Any]]]:
        found = {}
        for name in tables or DERIVED:
            table = metadata.tables[name]
            query = sa.select(table).order_by(*table.primary_key.columns)
            found[name] = [dict(row) for row in connection.execute(query).mappings()]
        return found

    return store.read(read)


def emptied(store: Store) -> Store:
    """As if the database had been deleted."""

    def clear(connection: sa.Connection) -> None:
        for table in reversed(metadata.sorted_tables):
            connection.execute(sa.delete(table))

    store.write(clear)
    return store
