"""Whose transcript a file is, and what translates its lines into Claude Code's."""

from __future__ import annotations

from holdfast.wire import codex, copilot

TYPE_CHECKING = False
if TYPE_CHECKING:
    Translator = codex.Translator | copilot.Translator


def translator_for(path: str) -> Translator | None:
    """Nothing for Claude Code's own."""
    if codex.is_codex(path):
        return codex.Translator()
    return copilot.Translator() if copilot.is_copilot(path) else None
