"""Lines of Copilot, as Claude Code would have written them: the one place that knows their form.

Its log has lines `{type, data, timestamp}`, and its name is the folder it lies in. Nothing that
costs is imported: the hook's reader of a transcript's end uses it too.
"""

from __future__ import annotations

from holdfast.wire import codex
from holdfast.wire.codex import result_block, text_block, user_row
from holdfast.wire.scan import count_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = "copilot"  # how the version of its lines begins
COUNTS = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
TOOLS = {"bash": "Bash", "create": "Write", "edit": "Edit", "view": "Read", "task": "Agent"}
FIELDS = {"path": "file_path", "file_text": "content"}
FIELDS |= {"old_str": "old_string", "new_str": "new_string"}


class CopilotTranslator:
    """Translates the lines of one session in order."""

    def __init__(self) -> None:
        self._session = self._cwd = self._version = ""
        self._used = 0

    def lines(self, row: dict[str, Any], place: int) -> list[dict[str, Any]]:
        """What this line means. `place` tells its lines apart from others, as an id does."""
        data, kind = row.get("data"), row.get("type")
        if not isinstance(data, dict):
            return []
        if kind == "session.start":
            self._session = text_of(data, "sessionId")
            self._version = text_of(data, "copilotVersion")
            self._cwd = text_of(data.get("context"), "cwd")
            return []
        version = f"{VERSION} {self._version}".rstrip()
        uuid = text_of(row, "id") or f"{self._session}:{place}"
        base = codex.base_row(row, self._session, self._cwd, version, uuid)
        if kind == "user.message":
            return [_typed(base, data)] if text_of(data, "content") else []
        if kind == "session.usage_record":
            return self._usage(base, data.get("usage"))
        if kind == "assistant.message":
            return [_answer(base, data)]
        if kind == "tool.execution_complete":
            return [_result(base, data)]
        if kind == "session.compaction_start":
            self._used = count_of(data, "currentTokens") or self._used
        if kind == "session.compaction_complete" and data.get("success") is not False:
            return self._compaction(base, data)
        return []

    def _usage(self, base: dict[str, Any], usage: Any) -> list[dict[str, Any]]:
        if not isinstance(usage, dict):
            return []
        counts = codex.usage_counts(usage, COUNTS)
        self._used = sum(counts.values())
        message = {
            "id": text_of(usage, "apiCallId"),
            "role": "assistant",
            "model": text_of(usage, "model"),
            "content": [],
            "usage": counts,
        }
        row = {**base, "type": "assistant", "message": message}
        return [{**row, "contextWindow": count_of(usage, "maxPromptTokens")}]

    def _compaction(self, base: dict[str, Any], data: dict[str, Any]) -> list[dict[str, Any]]:
        metadata = {
            "trigger": "manual" if data.get("trigger") == "manual" else "auto",
            "preTokens": self._used or None,
            "postTokens": count_of(data, "postCompactionTokens") or None,
        }
        return codex.compaction_rows(base, metadata, text_of(data, "summaryContent"))


def _typed(base: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    row = user_row(base, [text_block(text_of(data, "content"))], promptSource="typed")
    return {**row, "origin": {"kind": "human"}, "promptId": text_of(data, "interactionId")}


def _answer(base: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    blocks = [text_block(text_of(data, "content"))] if text_of(data, "content") else []
    requests = data.get("toolRequests")
    known = requests if isinstance(requests, list) else []
    blocks += [_use(request) for request in known if isinstance(request, dict)]
    message = {
        "id": text_of(data, "apiCallId") or text_of(data, "messageId"),
        "role": "assistant",
        "model": text_of(data, "model"),
        "content": blocks,
    }
    return {**base, "type": "assistant", "message": message}


def _use(request: dict[str, Any]) -> dict[str, Any]:
    given = request.get("arguments")
    given = given if isinstance(given, dict) else {}
    named = {FIELDS.get(str(name), str(name)): value for name, value in given.items()}
    name = text_of(request, "name")
    call = {"type": "tool_use", "id": text_of(request, "toolCallId")}
    return {**call, "name": TOOLS.get(name, name), "input": named}


def _result(base: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """A command that ran counts as a success for the client, whatever its exit code says."""
    shell, result = data.get("shellExecution"), data.get("result")
    code = count_of(shell, "exitCode")
    text = text_of(result, "content") or text_of(data.get("error"), "message")
    text = f"Exit code {code}\n{text}" if code else text
    failed = data.get("success") is False or code > 0
    return user_row(base, [result_block(text_of(data, "toolCallId"), text, failed)])
