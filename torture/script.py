"""A session as a client plays it: lines of a transcript, and the hooks that belong to them.

A session knows all that happened in it: its calls, prompts and compactions, what was typed, and
what the model was given by hooks. The checks compare that with what Holdfast has.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from holdfast.client import sample_payloads
from holdfast.hub import row_times
from holdfast.setup.rehearsal import read_output
from holdfast.wire import places

FIRST_TOKENS, STEP_TOKENS, FULL_TOKENS = 24_000, 15_000, 160_000
CALLS_PER_PROMPT = 3
WORDS = ("tables", "harbour", "buoys", "currents", "moorings", "charts", "soundings", "ferries")
SECRET = "ghp_"
SECRET_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


@dataclass(frozen=True, slots=True)
class Firing:
    """One hook that the client starts. `kind` says what it has to do, so that the system calls of
    one firing are those of the next of its kind."""

    event: str
    kind: str
    payload: dict[str, Any]


@dataclass(slots=True)
class ScriptedSession:
    """`play` yields the hooks in the order of a real session; the caller runs each of them and
    tells what it printed, with `hear`."""

    id: str
    project: Path
    transcript: Path
    random: Random
    prompts: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)  # what hooks gave to the model
    agent_calls: dict[str, list[str]] = field(default_factory=dict)
    under_way: str = ""  # a call without its result: only its hook, if it lived, told of it
    compactions: int = 0
    used: int = FIRST_TOKENS
    _lines: int = 0

    def play(self) -> Iterator[Firing]:
        """Forever: prompts, calls, subagents, and a compaction whenever the window is full."""
        yield self._fire("SessionStart", source="startup")
        while True:
            yield from self._turn()
            if self.used > FULL_TOKENS:
                yield from self._compaction()
            if self.random.random() < 0.15:
                yield self._fire("SessionEnd")
                yield self._fire("SessionStart", "resume", source="resume")

    def _turn(self) -> Iterator[Firing]:
        text = self._prompt_text()
        key = f"prompt-{self.id[:8]}-{len(self.prompts)}"
        self.prompts.append(key)
        self._write("user", {"role": "user", "content": text}, promptId=key)
        yield self._fire("UserPromptSubmit", prompt=text)
        for _ in range(CALLS_PER_PROMPT):
            yield from self._call()
        if self.random.random() < 0.3:
            yield from self._agent()
        self._answer([{"type": "text", "text": "This part is done."}], "end_turn")
        yield self._fire("Stop")

    def _prompt_text(self) -> str:
        subject = self.random.choice(WORDS)
        text = f"Please change the {subject}, number {len(self.prompts)}; never touch the {subject}"
        if self.random.random() < 0.4:
            secret = SECRET + "".join(self.random.choices(SECRET_CHARS, k=36))
            self.secrets.append(secret)
            text += f". Use the token {secret} for it"
        return text

    def _call(self) -> Iterator[Firing]:
        call = self.under_way = f"toolu_{self.id[:8]}_{len(self.calls)}"
        self.used += self.random.randrange(STEP_TOKENS)
        given = {"command": f"pytest -q tests/test_{self.random.choice(WORDS)}.py"}
        self._answer([{"type": "tool_use", "id": call, "name": "Bash", "input": given}], "tool_use")
        failed = self.random.random() < 0.2
        told = {"tool_use_id": call, "tool_name": "Bash", "tool_input": given}
        full = " near the limit" if self.used > FULL_TOKENS * 0.7 else ""
        yield self._fire("PostToolUseFailure" if failed else "PostToolUse", full, **told)
        block = {"type": "tool_result", "tool_use_id": call, "content": "3 passed"}
        self._write("user", {"role": "user", "content": [{**block, "is_error": failed}]})
        self.calls.append(call)
        self.under_way = ""

    def _agent(self) -> Iterator[Firing]:
        """A subagent has a window and a transcript of its own."""
        agent = {"agent_id": f"a{self.random.randrange(1 << 40):x}", "agent_type": "reviewer"}
        yield self._fire("SubagentStart", **agent)
        path = Path(places.transcript(str(self.transcript), agent["agent_id"]))
        path.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(self.random.randrange(3)):
            yield from self._agent_call(agent, path)
        yield self._fire("SubagentStop", **agent)

    def _agent_call(self, agent: dict[str, str], path: Path) -> Iterator[Firing]:
        calls = self.agent_calls.setdefault(agent["agent_id"], [])
        call = self.under_way = f"toolu_{agent['agent_id']}_{len(calls)}"
        given = {"file_path": str(self.project / "src" / "a.py")}
        use = {"type": "tool_use", "id": call, "name": "Read", "input": given}
        self._answer([use], "tool_use", path, FIRST_TOKENS + 900 * len(calls))
        told = {"tool_use_id": call, "tool_name": "Read", "tool_input": given}
        yield self._fire("PostToolUse", "of a subagent", **agent, **told)
        result = {"type": "tool_result", "tool_use_id": call, "content": "heights = [1.2]"}
        self._write("user", {"role": "user", "content": [result]}, path)
        calls.append(call)
        self.under_way = ""

    def _compaction(self) -> Iterator[Firing]:
        yield self._fire("PreCompact")
        self.compactions += 1
        for line in sample_payloads.compacted_lines():
            self._append({**line, **self._stamped()})
        self.used = FIRST_TOKENS
        yield self._fire("SessionStart", "compact", source="compact")
        yield self._fire("PostCompact")

    def _fire(self, event: str, variant: str = "", **own: Any) -> Firing:
        sent = sample_payloads.make_payload(
            event, session_id=self.id, transcript=str(self.transcript), cwd=str(self.project)
        )
        if self.prompts:
            sent["prompt_id"] = self.prompts[-1]
        return Firing(event, f"{event} {variant.strip()}".strip(), sent | own)

    def firing(self, event: str) -> str:
        """The payload of one more hook, which is no part of the script."""
        return json.dumps(self._fire(event).payload)

    def hear(self, event: str, printed: str) -> None:
        """What a hook printed reaches the model with the next request, also if the hook died after
        it; a torn answer reaches nobody."""
        context, _, trouble = read_output(event, printed.strip())
        if not context or trouble or event == "PreCompact":
            return
        self.heard.append(context)
        response = {"type": "async_hook_response", "response": json.loads(printed)}
        self._append({"type": "attachment", "attachment": response, **self._stamped()})

    def _answer(
        self,
        blocks: list[dict[str, Any]],
        stop_reason: str,
        path: Path | None = None,
        used: int = 0,
    ) -> None:
        line = sample_payloads.answer_line(used or self.used)
        message = {**line["message"], "id": f"msg_{self.id[:8]}_{self._lines}"}
        message |= {"content": blocks, "stop_reason": stop_reason}
        self._append({**line, "message": message, **self._stamped()}, path)

    def _write(
        self, kind: str, message: dict[str, Any], path: Path | None = None, **own: Any
    ) -> None:
        line = {
            "type": kind,
            "message": message,
            "version": "2.1.325",
            "promptSource": "sdk",
            **own,
        }
        self._append(line | self._stamped(), path)

    def _stamped(self) -> dict[str, Any]:
        at = row_times.to_iso(int(time.time() * 1000)) or ""
        self._lines += 1
        uuid = f"{self.id[:8]}-{self._lines}"
        common = {"uuid": uuid, "timestamp": at, "sessionId": self.id, "cwd": str(self.project)}
        return common

    def _append(self, line: dict[str, Any], path: Path | None = None) -> None:
        line = {**line, "isSidechain": path is not None}
        with (path or self.transcript).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
