"""Asking tools, and what is expected of the answer; near or over the wire."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from tests.builders import a_prompt, a_transcript, an_answer
from tests.hot.hooks import fire


class Asking(ABC):
    @abstractmethod
    def call(self, tool: str, **arguments: Any) -> dict[str, Any]: ...

    def good(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found = self.call(tool, **arguments)
        assert not found.get("isError"), found
        structured: dict[str, Any] = found["structuredContent"]
        return structured

    def bad(self, tool: str, **arguments: Any) -> str:
        found = self.call(tool, **arguments)
        assert found["isError"], found
        return str(found["content"][0]["text"])


def a_session(
    project: Path, *lines: dict[str, Any], session: str = "s1", used: int = 50_000
) -> Path:
    """A session our hooks have heard of: a transcript, and a window that was judged."""
    told = lines or (a_prompt("never touch the tide tables"), an_answer(used))
    path = a_transcript(project / f"{session}.jsonl", *told)
    environ = {"CLAUDE_PROJECT_DIR": str(project)}
    fire("SessionStart", path, session=session, source="startup", environ=environ)
    fire("PostToolUse", path, session=session, environ=environ)
    return path
