"""Whose transcript a file is, and what translates its lines into Claude Code's."""

from __future__ import annotations

from holdfast.wire import codex, copilot

TYPE_CHECKING = False
if TYPE_CHECKING:
    Translator = codex.CodexTranslator | copilot.CopilotTranslator


def path_of(session_id: str) -> str:
    """The transcript of a session whose client names none to a hook; empty if there is none."""
    return copilot.path_of(session_id)


def translator_for(path: str) -> Translator | None:
    """Nothing for Claude Code's own."""
    if codex.is_codex(path):
        return codex.CodexTranslator()
    return copilot.CopilotTranslator() if copilot.is_copilot(path) else None
