"""The room a command plans for: as given, by a session, or a fresh window's; and an option that
takes a number of tokens.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from holdfast.cli import choose_session
from holdfast.cli.choose_session import NoSession
from holdfast.client import models
from holdfast.plan import room
from holdfast.plan.fields import parse_tokens
from holdfast.plan.room import PlanRoom
from holdfast.settings.load import Settings
from holdfast.wire.log import inert


def for_plan(
    settings: Settings,
    project: Path | None,
    room_tokens: int | None,
    window: int | None,
    now_ms: int,
) -> PlanRoom:
    """Return the room given on the command line, else that of the session at work, else a fresh
    window's."""
    share, specs = settings.share("batch_share"), settings.whole("batch_specs")
    if room_tokens is not None:
        found = for_plan(settings, project, None, window, now_ms)
        return room.stated_room(room_tokens, specs, found.window_tokens)
    if window is not None:
        return room.fresh_room(window, share, specs, f"{room.share_of(window, share)}, as given")
    try:
        chosen = choose_session.of_folder(project) if project else choose_session.of_this_folder()
    except NoSession:
        return room.unknown_room(settings)
    found = room.room_of_window(chosen.state, chosen.folder, settings, now_ms)
    if choose_session.calling_session():
        return found
    return replace(found, session=f"session {inert(chosen.state.session_id[:8])}")


def for_run(
    settings: Settings,
    project: Path | None,
    model: str,
    room_tokens: int | None,
    window: int | None,
    now_ms: int,
) -> PlanRoom:
    """Return the room of a run: as for a plan, but every session begins in a fresh window. Its size
    is the model's if one is named."""
    if model and window is None:
        share, specs = settings.share("batch_share"), settings.whole("batch_specs")
        tokens = models.find(model).window_tokens
        if room_tokens is not None:
            return room.stated_room(room_tokens, specs, tokens)
        return room.fresh_room(tokens, share, specs, f"{model}: {room.share_of(tokens, share)}")
    return room.use_fresh_windows(for_plan(settings, project, room_tokens, window, now_ms))


class TokenCount(click.ParamType[int]):
    """A number of tokens, at least so many: `12000`, `12,000`, `12k`, `1m`."""

    name = "tokens"

    def __init__(self, least: int, usual: str) -> None:
        """`usual`: a number that makes sense, as it is written."""
        self._least, self._usual = least, usual

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        found = parse_tokens(str(value))
        if not found:
            self.fail(f"{value!r} is no number of tokens: 12000, 12k or 1m", param, ctx)
        if found < self._least:
            words = (
                f"{value!r} is too small: at least {self._least:,} tokens, such as {self._usual}"
            )
            self.fail(words, param, ctx)
        return found


A_ROOM = TokenCount(room.LEAST_ROOM, "90k")
A_WINDOW = TokenCount(room.least_window(), "200k or 1m")
