"""`checkpoint`: take one now, proven."""

from __future__ import annotations

import time

from holdfast.checkpoint.errors import NotKept
from holdfast.events import take_checkpoint
from holdfast.mcp import client_session
from holdfast.mcp.reply import Answer
from holdfast.mcp.schemas import Checkpoint
from holdfast.settings import load as settings_load
from holdfast.window import state as window_state
from holdfast.window import view


def answer(asked: Checkpoint) -> Answer:
    folder, _ = client_session.window()
    now_ms = int(time.time() * 1000)
    with window_state.held_if_can_be(folder) as state:
        view.measure(state, settings_load.load(state.project), now_ms, folder)
        kept = take_checkpoint.take(state, folder, "manual", now_ms)
    if kept is None:
        raise NotKept("no checkpoint could be kept; `holdfast log` says why")
    fields = {
        "id": kept.id,
        "path": kept.path,
        "verified": True,  # it has its name only once it was read back
        "reused": kept.reused,
        "why_elsewhere": kept.why_elsewhere or None,
    }
    again = "the same state was kept already" if kept.reused else "verified"
    return Answer(f"checkpoint {kept.id}: {again}", fields)
