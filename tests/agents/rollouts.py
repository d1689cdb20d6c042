"""Rollouts as Codex 0.169 writes them, made line by line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SESSION = "01a1f27a-422c-7313-bd68-c3b6e0f83d1d"
TURN = "01a1f27a-4244-7041-9a03-71416324663d"


class Rollout:
    """A session of Codex. Every method adds what the client would write."""

    def __init__(self, cwd: str = "/p", version: str = "0.169.0", *, records: bool = True) -> None:
        self.rows: list[dict[str, Any]] = []
        self._records = records
        meta = {"id": SESSION, "cwd": cwd, "cli_version": version, "originator": "codex_exec"}
        self.add("session_meta", **meta)
        self.event("task_started", model_context_window=258_400)
        self.message("developer", "<permissions instructions>\nAll is allowed.")
        self.message("user", "<environment_context>\n  <cwd>/p</cwd>\n</environment_context>")
        self.add("turn_context", cwd=cwd, model="gpt-5.2-codex")

    def add(self, kind: str, *, metadata: Any = None, **payload: Any) -> Rollout:
        second = len(self.rows) % 60
        row = {"timestamp": f"2026-11-19T06:00:{second:02}.000Z", "type": kind, "payload": payload}
        self.rows.append(row | ({"metadata": metadata} if metadata else {}))
        return self

    def event(self, part: str, **payload: Any) -> Rollout:
        return self.add("event_msg", **{"type": part, "turn_id": TURN, **payload})

    def item(self, part: str, **payload: Any) -> Rollout:
        return self.add("response_item", **{"type": part, **payload})

    def message(self, role: str, text: str, **more: Any) -> Rollout:
        kind = "output_text" if role == "assistant" else "input_text"
        return self.add(
            "response_item",
            type="message",
            role=role,
            content=[{"type": kind, "text": text}],
            **more,
        )

    def user(self, text: str) -> Rollout:
        self.message("user", text)
        content = [{"type": "text", "text": text, "text_elements": []}]
        return self.event("item_completed", item={"type": "UserMessage", "content": content})

    def says(self, text: str) -> Rollout:
        content = [{"type": "Text", "text": text}]
        self.event("item_completed", item={"type": "AgentMessage", "content": content})
        return self.message("assistant", text)

    def runs(self, command: str, output: str, used: int, code: int = 0) -> Rollout:
        call = f"call_{len(self.rows)}"
        written = json.dumps({"cmd": command})
        self.item("function_call", name="exec_command", arguments=written, call_id=call)
        self.counts(used, before=True)
        head = f"Chunk ID: c0\nWall time: 0.1 seconds\nProcess exited with code {code}\n"
        text = f"{head}Original token count: 2\nOutput:\n{output}"
        self.item("function_call_output", call_id=call, output=text)
        return self.counts(used, before=False)

    def patches(self, used: int, **changes: Any) -> Rollout:
        call = f"call_{len(self.rows)}"
        written = json.dumps({"cmd": "apply_patch <<'PATCH'\n*** Begin Patch\nPATCH\n"})
        self.item("function_call", name="exec_command", arguments=written, call_id=call)
        self.counts(used, before=True)
        item = {"type": "FileChange", "id": call, "status": "completed", "changes": changes}
        self.event("item_completed", item=item)
        self.item("function_call_output", call_id=call, output="Success.")
        return self.counts(used, before=False)

    def counts(self, used: int, *, before: bool) -> Rollout:
        """0.169 writes a record before the result and a count after it; older ones the latter."""
        usage = {"input_tokens": used - 50, "cached_input_tokens": 1_000, "output_tokens": 50}
        if before:
            return self.add("token_usage_record", usage=usage) if self._records else self
        return self.token_count(usage | {"total_tokens": used})

    def ends(self, text: str, used: int) -> Rollout:
        self.says(text).counts(used, before=True)
        return self.counts(used, before=False)

    def token_count(self, usage: dict[str, int]) -> Rollout:
        info = {"last_token_usage": usage, "model_context_window": 258_400}
        return self.event("token_count", info=info)

    def compacts(self, summary: str, left: int = 6_000) -> Rollout:
        if self._records:
            self.message("assistant", summary, metadata={"compaction_output": True})
            self.add("token_usage_record", usage={"input_tokens": 5_000, "output_tokens": 50})
        self.add("compacted", message=summary)
        return self.token_count({"input_tokens": 0, "output_tokens": 0, "total_tokens": left})

    def written(self, folder: Path) -> Path:
        path = folder / f"rollout-2026-11-19T06-00-00-{SESSION}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
        return path


def compressed(path: Path) -> Path:
    """The transcript as Codex leaves it after some days."""
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(zstd.compress(path.read_bytes()))
    path.unlink()
    return packed
