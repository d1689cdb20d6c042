"""The room a command plans for: as given, by a session, or a fresh window's; and an option that
takes a number of tokens.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from holdfast.cli import sessions
from holdfast.cli.sessions import NoSession
from holdfast.client import models
from holdfast.plan import room
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import parse_tokens
from holdfast.settings.load import Settings
from holdfast.wire.log import inert


def for_plan(settings: Settings, root: Path, room_tokens: int | None, now_ms: int) -> PlanRoom:
    """Return the room given on the command line, else that of the session at work, else a fresh
    window's."""
    if room_tokens is not None:
        window_tokens = for_plan(settings, root, None, now_ms).window_tokens
        return room.stated_room(room_tokens, settings.whole("batch_specs"), window_tokens)
    try:
        chosen = sessions.at_work(None if root == Path.cwd() else root)
    except NoSession:
        return room.unknown_room(settings)
    own = room.room_of_window(chosen.state, chosen.folder, settings, now_ms)
    if sessions.calling_session():
        return own
    return replace(own, session=f"session {inert(chosen.state.session_id[:8])}")


def for_run(
    settings: Settings, root: Path, model: str, room_tokens: int | None, now_ms: int
) -> PlanRoom:
    """Return the room of a run: as for a plan, but every session begins in a fresh window. Its size
    is the model's if one is named."""
    if not model:
        return room.use_fresh_windows(for_plan(settings, root, room_tokens, now_ms))
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    tokens = models.find(model).window_tokens
    if room_tokens is not None:
        return room.stated_room(room_tokens, specs, tokens)
    return room.fresh_room(tokens, share, specs, f"{model}: {room.share_of(tokens, share)}")


class TokenCount(click.ParamType[int]):
    """A number of tokens: `12000`, `12,000`, `12k`, `1m`."""

    name = "tokens"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        tokens = parse_tokens(str(value))
        if not tokens:
            self.fail(f"{value!r} is no number of tokens: 12000, 12k or 1m", param, ctx)
        if tokens < room.LEAST_ROOM:
            least = f"at least {room.LEAST_ROOM:,} tokens, such as 90k"
            self.fail(f"{value!r} is too small: {least}", param, ctx)
        return tokens


A_ROOM = TokenCount()
