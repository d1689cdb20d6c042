"""How a session ended, and what it reports about its tasks.

Claude Code checks the report against a JSON schema, and asks the model for it if it is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from holdfast.redact.find import redact
from holdfast.text import fence

# `--json-schema` exists since 2.0.45. A model that refuses to report is asked without end by 2.1.22
# and once by 2.1.197 and 2.1.325; nothing between them was tried.
SCHEMA_SINCE = (2, 1, 197)
SUCCESS = "success"
# of a task; of a session, the first two, or that it was stopped by the end of the run
DONE, FAILED, WAITING, STOPPED = "done", "failed", "waiting", "stopped"
MAX_QUOTE_CHARS = 500
MAX_SUMMARY_CHARS = 2000
MAX_FILES = 50
MAX_PATH_CHARS = 200


@dataclass(frozen=True, slots=True)
class TaskReport:
    id: str
    state: Literal["done", "waiting", "failed"]
    reason: str = ""
    files: tuple[str, ...] = ()  # written for it


@dataclass(frozen=True, slots=True)
class SessionReport:
    tasks: tuple[TaskReport, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """How a session ended. An `exit_code` of None is unknown."""

    exit_code: int | None = None
    result: str = ""  # as Claude Code names it: success, error_max_turns, …; empty if it did not
    is_error: bool = True
    words: str = ""  # its last words, or the client's error
    report: SessionReport | None = None

    @property
    def is_success(self) -> bool:
        """Whether Claude Code ended well. It also did if it was ended after its result."""
        return self.result == SUCCESS and not self.is_error and (self.exit_code or 0) <= 0

    @property
    def summary(self) -> str:
        """What it reports to have done, or the last words of a session that ended well."""
        return self.report.summary if self.report else self.words if self.is_success else ""

    def describe_failure(self) -> str:
        code = self.exit_code
        ended = "it is not known how it ended" if code is None else f"exit {code}"
        result = f" ({quote(self.result)})" if self.result not in ("", SUCCESS) else ""
        return f"{ended}{result}: {self.words or 'it gave no result'}"


def build_schema(names: Sequence[str]) -> dict[str, Any]:
    text = {"type": "string"}
    fields = {
        "id": {"enum": list(names)},
        "state": {"enum": [DONE, WAITING, FAILED]},
        "reason": {**text, "description": "why it is not done, or for whom it waits; else empty"},
        "files": {"type": "array", "items": text, "description": "files you wrote for this task"},
    }
    task = _object(fields)
    summary = {**text, "description": "a few lines: what you did and what you found out"}
    return _object({"tasks": {"type": "array", "items": task}, "summary": summary})


def _object(fields: dict[str, Any]) -> dict[str, Any]:
    shape = {"properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "object", **shape}


def read_end(event: dict[str, Any], exit_code: int | None, errors: str) -> SessionEnd:
    errors_told = event.get("errors")
    listed = "; ".join(map(str, errors_told)) if isinstance(errors_told, list) else ""
    words = str(event.get("result") or event.get("error") or listed)
    return SessionEnd(
        exit_code,
        str(event.get("subtype", ""))[:80],
        bool(event.get("is_error", True)),
        quote(words) or quote_end(errors),
        _read_report(event.get("structured_output")),
    )


def _read_report(value: object) -> SessionReport | None:
    try:
        report = msgspec.convert(value, SessionReport)
    except (ValueError, RecursionError):
        return None
    tasks = (
        replace(
            task,
            reason=quote(task.reason),
            files=tuple(quote(file, MAX_PATH_CHARS) for file in task.files[:MAX_FILES]),
        )
        for task in report.tasks
    )
    return SessionReport(tuple(tasks), quote(report.summary, MAX_SUMMARY_CHARS))


def encode_end(end: SessionEnd) -> bytes:
    return msgspec.json.encode(end)


def decode_end(data: bytes) -> SessionEnd:
    """Without a record the end is unknown: the machine crashed."""
    try:
        return msgspec.json.decode(data, type=SessionEnd)
    except (msgspec.DecodeError, ValueError):
        return SessionEnd()


def quote(text: str, max_chars: int = MAX_QUOTE_CHARS) -> str:
    """Foreign text on one line, without secrets and control characters."""
    return fence.flat(redact(text[: max_chars * 8]), max_chars)


def quote_end(text: str) -> str:
    words = fence.flat(redact(text), len(text) + 1)
    return words if len(words) <= MAX_QUOTE_CHARS else f"… {words[-MAX_QUOTE_CHARS:].lstrip()}"
