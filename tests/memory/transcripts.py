"""Projects with sessions to search in: name what was said, default the rest."""

import json
from pathlib import Path
from typing import Any

from holdfast.memory import locations

VERSION = "2.1.325"


def a_line(kind: str, content: Any, number: int, session: str, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{session}_{number}", "model": "claude-sonnet-4-6"}
        message |= {"stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 5}}
    return {
        "type": kind,
        "message": message,
        "uuid": f"{session}-{number}",
        "timestamp": f"2026-03-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "sessionId": session,
        "cwd": "/p",
        "version": VERSION,
        "isSidechain": False,
        "promptSource": "sdk",
        **more,
    }


def said(session: str, *texts: str, first: int = 0) -> list[dict[str, Any]]:
    """User and model in turn, the user first."""
    return [
        a_line("user", text, first + n, session)
        if n % 2 == 0
        else a_line("assistant", [{"type": "text", "text": text}], first + n, session)
        for n, text in enumerate(texts)
    ]


def a_session(project: Path, session: str, *texts: str) -> Path:
    return written(project, session, said(session, *texts))


def written(project: Path, session: str, lines: list[dict[str, Any]]) -> Path:
    """In the client's own folder for the project, which the lines name."""
    folder = Path(locations.client_folder(str(project)))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    path.write_text(
        "".join(json.dumps(_in_project(line, project)) + "\n" for line in lines), encoding="utf-8"
    )
    return path


def _in_project(line: dict[str, Any], project: Path) -> dict[str, Any]:
    return {**line, "cwd": str(project)} if line.get("cwd") == "/p" else line
