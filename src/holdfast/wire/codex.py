"""Lines of Codex, as Claude Code would have written them: the one place that knows their form.

A rollout has lines `{timestamp, type, payload}`. What the user typed is an event of its own;
messages in the user's name that only the model's history holds are the harness's. A line may become
none, one or two. Nothing that costs is imported: the hook reads with this module, too.
"""

from __future__ import annotations

from holdfast.wire.scan import WINDOW, count_of, parse_object, text_of
from holdfast.wire.tail import ENCRYPTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = "codex"  # how the version of its lines begins
OUTPUT_MARK = "\nOutput:\n"
EXITS = ("Process exited with code ", "Exit code: ")
MOST_HEAD = 400  # characters before the output of a command
TOLD_BY_EVENT = frozenset(("user_message", "item_completed", "turn_aborted", "token_count"))
COUNTS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
INTERRUPTED = "[Request interrupted by user]"


class CodexTranslator:
    """Translates the lines of one rollout in order. What it knows of the lines before is little:
    without the first lines of the file, only session, folder and version are missing."""

    def __init__(self) -> None:
        self._session = self._cwd = self._version = self._model = ""
        self._counted = 0  # answers that were counted: an answer's lines share an id
        self._has_records = False  # older clients write no record of each answer's tokens
        self._is_summing_up = False  # the newest answer is a summary
        self._used = 0

    def lines(self, row: dict[str, Any], place: int) -> list[dict[str, Any]]:
        """What this line means. `place` tells its lines apart from others, as an id does."""
        payload = row.get("payload")
        if not isinstance(payload, dict):
            return []
        kind, part = text_of(row, "type"), text_of(payload, "type")
        if kind == "session_meta":
            self._note_session(payload)
            return []
        if kind == "turn_context":
            self._cwd = text_of(payload, "cwd") or self._cwd
            self._model = text_of(payload, "model") or self._model
            return []
        version = f"{VERSION} {self._version}".rstrip()
        base = base_row(row, self._session, self._cwd, version, f"{self._session}:{place}")
        if kind == "compacted":
            return self._compaction(base, payload)
        if kind == "token_usage_record":
            self._has_records = True
            return self._usage(base, payload.get("usage"))
        if kind == "event_msg" and part in TOLD_BY_EVENT:
            return self._event(base, payload, part)
        if kind == "response_item":
            self._is_summing_up = _is_summary(row)
            return [] if self._is_summing_up else self._item(base, payload, part)
        return []

    def _note_session(self, payload: dict[str, Any]) -> None:
        self._session = text_of(payload, "id") or text_of(payload, "session_id")
        self._cwd = text_of(payload, "cwd")
        self._version = text_of(payload, "cli_version")

    def _event(
        self, base: dict[str, Any], payload: dict[str, Any], part: str
    ) -> list[dict[str, Any]]:
        if part == "user_message":  # up to 0.168
            return [_typed(base, payload, [text_block(text_of(payload, "message"))])]
        if part == "turn_aborted":
            return [user_row(base, [text_block(INTERRUPTED)], isMeta=True)]
        if part == "token_count":
            return self._token_count(base, payload)
        item = payload.get("item")
        if not isinstance(item, dict):
            return []
        if item.get("type") == "UserMessage":
            return [_typed(base, payload, _blocks(item.get("content")))]
        if item.get("type") == "FileChange" and item.get("status") == "completed":
            return self._edits(base, item)
        return []

    def _token_count(self, base: dict[str, Any], payload: dict[str, Any]) -> list[dict[str, Any]]:
        """The client's count, and its window. After a compaction it is an estimate."""
        info = payload.get("info")
        if not isinstance(info, dict):
            return []
        usage, window = info.get("last_token_usage"), count_of(info, "model_context_window")
        stated = {**base, "type": WINDOW, "contextWindow": window, "usedTokens": 0}
        if not isinstance(usage, dict):
            return [stated]
        if not usage.get("input_tokens"):
            return [{**stated, "usedTokens": count_of(usage, "total_tokens")}]
        return [stated] if self._has_records else [*self._usage(base, usage), stated]

    def _usage(self, base: dict[str, Any], usage: Any) -> list[dict[str, Any]]:
        if not isinstance(usage, dict) or self._is_summing_up:
            return []
        counts = usage_counts(usage, COUNTS)
        self._used = sum(counts.values())
        rows = [self._answer(base, [], counts)] if self._used else []
        self._counted += 1
        return rows

    def _answer(
        self, base: dict[str, Any], blocks: list[Any], usage: Any = None, back: int = 0
    ) -> dict[str, Any]:
        message = {
            "id": f"{self._session}/{self._counted - back}",
            "role": "assistant",
            "model": self._model,
            "content": blocks,
            "stop_reason": "end_turn",
        }
        return {**base, "type": "assistant", "message": {**message, "usage": usage}}

    def _item(
        self, base: dict[str, Any], payload: dict[str, Any], part: str
    ) -> list[dict[str, Any]]:
        if part == "message" and payload.get("role") == "assistant":
            return [self._answer(base, _blocks(payload.get("content")))]
        call = text_of(payload, "call_id") or text_of(payload, "id")
        if part in ("function_call", "custom_tool_call", "local_shell_call"):
            name, given = _call(payload)
            if not name:
                return []
            return [self._answer(base, [_use(call, name, given)])]
        if part in ("function_call_output", "custom_tool_call_output"):
            text, failed = _output(payload.get("output"))
            return [user_row(base, [result_block(call, text, failed)])]
        return []

    def _edits(self, base: dict[str, Any], item: dict[str, Any]) -> list[dict[str, Any]]:
        changes = item.get("changes")
        if not isinstance(changes, dict):
            return []
        uses, results = [], []
        for number, (path, change) in enumerate(changes.items()):
            if not isinstance(change, dict):
                continue
            call = f"{text_of(item, 'id')}:{number}"
            uses.append(_use(call, *_edit(str(path), change)))
            results.append(result_block(call, f"{change.get('type')}: {path}", False))
        back = int(self._has_records and self._counted > 0)  # its answer was counted before
        return [self._answer(base, uses, back=back), user_row(base, results)] if uses else []

    def _compaction(self, base: dict[str, Any], payload: dict[str, Any]) -> list[dict[str, Any]]:
        """A boundary, and the summary. OpenAI's own is encrypted: then there are no words."""
        metadata = {"trigger": "", "preTokens": self._used or None}
        return compaction_rows(base, metadata, text_of(payload, "message") or ENCRYPTED)


def _is_summary(row: dict[str, Any]) -> bool:
    metadata = row.get("metadata")
    return isinstance(metadata, dict) and metadata.get("compaction_output") is True


def _typed(base: dict[str, Any], payload: dict[str, Any], blocks: list[Any]) -> dict[str, Any]:
    row = user_row(base, blocks, promptSource="typed", origin={"kind": "human"})
    return {**row, "promptId": text_of(payload, "turn_id")}


def base_row(
    row: dict[str, Any], session: str, cwd: str, version: str, uuid: str
) -> dict[str, Any]:
    known = {"timestamp": text_of(row, "timestamp"), "sessionId": session, "cwd": cwd}
    return {**known, "version": version, "uuid": uuid, "isSidechain": False}


def usage_counts(usage: dict[str, Any], names: tuple[str, ...]) -> dict[str, int]:
    """Claude Code's counts, from those of another agent, whose input has the cached tokens too."""
    given, cached, written, output = (count_of(usage, name) for name in names)
    return {
        "input_tokens": max(0, given - cached - written),
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    }


def compaction_rows(
    base: dict[str, Any], metadata: dict[str, Any], words: str
) -> list[dict[str, Any]]:
    boundary = {**base, "type": "system", "subtype": "compact_boundary"}
    summary = user_row(base, [text_block(words)], isCompactSummary=True)
    return [{**boundary, "compactMetadata": metadata}, summary]


def user_row(base: dict[str, Any], blocks: list[Any], **more: Any) -> dict[str, Any]:
    return {**base, "type": "user", "message": {"role": "user", "content": blocks}, **more}


def _blocks(given: Any) -> list[dict[str, Any]]:
    blocks = []
    for part in given if isinstance(given, list) else ():
        if not isinstance(part, dict):
            continue
        if isinstance(part.get("text"), str):
            blocks.append(text_block(part["text"]))
        elif "image" in str(part.get("type")).lower():
            blocks.append({"type": "image"})
    return blocks


def text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _use(call: str, name: str, given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result_block(call: str, text: Any, failed: bool) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}


def _call(payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A call under the name that Claude Code has for it. Patches are told by their event."""
    name = text_of(payload, "name") or "shell"
    written = payload.get("arguments")
    given = parse_object(written.encode()) if isinstance(written, str) else {}
    if name == "apply_patch":
        return "", {}
    if name in ("exec_command", "shell", "shell_command") or "action" in payload:
        action = payload.get("action")
        command = _command(given if written else action)
        is_patch = command.lstrip().startswith("apply_patch")
        return ("", {}) if is_patch else ("Bash", {"command": command})
    if name == "update_plan":
        steps = given.get("plan")
        steps = steps if isinstance(steps, list) else []
        return "TodoWrite", {"todos": [_todo(step) for step in steps if isinstance(step, dict)]}
    if name == "request_user_input":
        return "AskUserQuestion", given
    if name == "spawn_agent":
        prompt = text_of(given, "message") or text_of(given, "prompt")
        return "Agent", {"description": prompt[:60], "prompt": prompt}
    if name == "view_image":
        return "Read", {"file_path": text_of(given, "path")}
    return name, given or {"input": text_of(payload, "input")}


def _command(given: Any) -> str:
    command = given.get("cmd", given.get("command")) if isinstance(given, dict) else ""
    if isinstance(command, list):
        words = [str(word) for word in command]
        is_shell = len(words) == 3 and words[1] in ("-c", "-lc")
        return words[2] if is_shell else " ".join(words)
    return command if isinstance(command, str) else ""


def _todo(step: dict[str, Any]) -> dict[str, Any]:
    words = text_of(step, "step")
    return {"content": words, "activeForm": words, "status": text_of(step, "status") or "pending"}


def _edit(path: str, change: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    kind = change.get("type")
    if kind == "add":
        return "Write", {"file_path": path, "content": text_of(change, "content")}
    if kind == "delete":
        return "Bash", {"command": f"rm {path}"}
    old, new = [], []
    for line in text_of(change, "unified_diff").splitlines():
        if line.startswith("@@"):
            continue
        if line[:1] in ("-", " "):
            old.append(line[1:])
        if line[:1] in ("+", " "):
            new.append(line[1:])
    moved = text_of(change, "move_path") or path
    given = {"old_string": "\n".join(old), "new_string": "\n".join(new)}
    return "Edit", {"file_path": moved, **given}


def _output(given: Any) -> tuple[Any, bool]:
    """The text without the client's head, and whether the head tells of a failure."""
    if isinstance(given, dict):
        given = given.get("content", given.get("output"))
    if not isinstance(given, str):
        return given or "", False
    head, mark, text = given[:MOST_HEAD].partition(OUTPUT_MARK)
    if not mark:
        return given, False
    code = ""
    for line in f"{head}\n{text[:40]}".splitlines():
        for start in EXITS:
            if line.startswith(start):
                code = line[len(start) :].strip()
    text = given[len(head) + len(mark) :]
    failed = code not in ("", "0")
    return (f"Exit code {code}\n{text}" if failed else text), failed
