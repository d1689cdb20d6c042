"""The room a command plans for: as told, by a session, or a fresh window's."""

from __future__ import annotations

from pathlib import Path

from holdfast.cli import choose
from holdfast.cli.choose import NoSession
from holdfast.client import models
from holdfast.plan import room, session_room
from holdfast.plan.room import Room
from holdfast.settings.load import Settings
from holdfast.window import view


def for_plan(
    settings: Settings, project: Path | None, told: int | None, window: int | None, now_ms: int
) -> Room:
    """As it was said on the command line, else by the session at work, else a fresh window."""
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    if told is not None:
        return room.stated(told, specs)
    if window is not None:
        return room.fresh(window, share, specs, f"{room.share_of(window, share)}, as told")
    try:
        chosen = choose.of_folder(project) if project else choose.of_this_folder()
    except NoSession:
        return session_room.unknown(settings)
    return session_room.of_window(chosen.state, chosen.folder, settings, now_ms)


def for_run(settings: Settings, root: Path, model: str, window: int | None, now_ms: int) -> Room:
    """Every session begins in a fresh window: of the size told, of the model's, or as the last
    session here had."""
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    if window is not None:
        return room.fresh(window, share, specs, f"windows of {window:,} tokens, as told")
    if model:
        tokens = models.find(model).window_tokens
        return room.fresh(tokens, share, specs, f"{model}: windows of {tokens:,} tokens")
    try:
        chosen = choose.of_folder(root)
    except NoSession:
        words = f"no session seen here: windows of {room.UNKNOWN_WINDOW:,} tokens"
        return room.fresh(room.UNKNOWN_WINDOW, share, specs, words)
    seen = view.of_transcript(chosen.state, settings, now_ms, chosen.folder)
    tokens = seen.edge.window_tokens
    words = f"like the last session here: windows of {tokens:,} tokens"
    return room.fresh(tokens, share, specs, words, seen.edge.edge_tokens)
