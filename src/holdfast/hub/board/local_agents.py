"""The windows of this machine whose agents can be told something, and by which name each is called.

A main window is called by its session, a subagent's by its own id. Either may be of a kind: what
the client says it was started as (`agent_type`). Nothing of the store is loaded here: who sends to
the team's server asks too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from holdfast.hub import ids
from holdfast.hub.errors import Refused
from holdfast.redact import redact
from holdfast.text import fence
from holdfast.window import outbox
from holdfast.window import state as states
from holdfast.window.outbox import OutboxEntry
from holdfast.window.state import State
from holdfast.window.windows import LIVE_MS, is_over
from holdfast.wire import places

LISTENS_MS = 24 * 3_600_000  # called by name, it may have waited a day for its user
# Said to a subagent only as it ends, and not worth making it go on: it is about its window.
NOT_TO_AGENTS = frozenset(("checkpoint_trigger",))
AHEAD_MS = 10 * 60_000
LEAST_START = 8  # of an id that stands for the whole: as much as the log shows


@dataclass(frozen=True, slots=True)
class Listener:
    folder: str
    name: str
    project: str
    is_agent: bool
    transcript: str
    kind: str
    heard_ms: int

    @property
    def project_id(self) -> str:
        return ids.project_id(self.project)

    @property
    def withheld_topics(self) -> Collection[str]:
        """Topics."""
        return NOT_TO_AGENTS if self.is_agent else ()


def has_windows() -> bool:
    """Whether this machine has seen a session at all: a team's server has not. Takes 10 µs."""
    try:
        with os.scandir(places.windows()) as found:
            return any(found)
    except OSError:
        return False


def listeners(now_ms: int, name: str = "") -> list[Listener]:
    """Of sessions that have not ended and were heard of within a day; all, or of one name."""
    return _live(_windows_named(name) if name else states.all_windows(now_ms - LISTENS_MS), now_ms)


def sessions_called(now_ms: int, session_ids: Collection[str]) -> list[Listener]:
    """The same, of the main windows of these sessions: no other window is read."""
    folders = [places.window(session_id) for session_id in session_ids]
    return _live([(folder, states.load(folder)) for folder in folders], now_ms)


def _live(windows: list[tuple[str, State]], now_ms: int) -> list[Listener]:
    return [
        _of(folder, state)
        for folder, state in windows
        if state.session_id and _is_live(folder, state, now_ms)
    ]


def of_kind(now_ms: int, kind: str) -> list[Listener]:
    """Those at work that were started as this; sessions first, as they hear at once, then the
    newest, as it has the longest to go."""
    found = [one for one in listeners(now_ms) if one.kind == kind and _is_at_work(one, now_ms)]
    return sorted(found, key=lambda one: (one.is_agent, -one.heard_ms))


def find_listeners(now_ms: int, name: str) -> list[Listener]:
    """By this name: the one with this id, else those of this kind, else by the start of an id."""
    exact = listeners(now_ms, name)
    if exact or len(name) < LEAST_START:
        return exact or of_kind(now_ms, name)
    return of_kind(now_ms, name) or [one for one in listeners(now_ms) if one.name.startswith(name)]


def resolve_address(
    now_ms: int, name: str, project_id: str | None = None
) -> tuple[str, list[Listener]]:
    """The name to send to, and who of this machine is going to hear it: one of them, where it is
    a kind. The start of an id is made whole."""
    found = find_listeners(now_ms, name)
    names = sorted({one.name for one in found})
    if name in names:
        return name, found
    if any(one.kind == name for one in found):
        return name, [one for one in found if project_id in (None, one.project_id)]
    if len(names) > 1:
        raise Refused(f"{name} is the start of {len(names)} ids: {', '.join(names[:3])}", "to")
    return (names[0] if names else name), found


def _is_at_work(one: Listener, now_ms: int) -> bool:
    """Of a kind, another one may be asked: who is silent that long is not, nor who was last heard
    of before the clock was set back."""
    return -AHEAD_MS < now_ms - one.heard_ms < LIVE_MS


def _windows_named(name: str) -> list[tuple[str, State]]:
    """By their folders: nothing else is opened."""
    folders = [places.window(name)]
    folders += map(str, Path(places.windows()).glob(f"*/agent-{escape(places.plain(name))}"))
    return [(folder, states.load(folder)) for folder in folders]


def with_outbox() -> Iterator[Listener]:
    """Those with something to settle, whether they live or not."""
    for path in sorted(Path(places.windows()).glob("*/*/outbox.*")):
        if path.name == "outbox.done" and places.has_outbox(str(path.parent)):
            continue  # told of by its other file
        if path.name in ("outbox.json", "outbox.done"):
            yield _of(str(path.parent), states.load(str(path.parent)))


def _of(folder: str, state: State) -> Listener:
    return Listener(
        folder,
        state.agent_id or state.session_id,
        state.project or state.cwd,
        bool(state.agent_id),
        state.transcript,
        state.agent_type,
        _last_report_ms(folder, state),
    )


def _is_live(folder: str, state: State, now_ms: int) -> bool:
    return not is_over(folder, state) and now_ms - _last_report_ms(folder, state) < LISTENS_MS


def _last_report_ms(folder: str, state: State) -> int:
    """By hooks alone: without one it hears nothing, however much is written of it."""
    return max(state.at_ms, places.modified_ms(f"{folder}/spool"))


MOST_NAME = 40  # characters of who says it: the words are what matters


def entry_of(row: Mapping[str, Any]) -> OutboxEntry:
    """For an outbox."""
    tag = f"m-{row['id'].replace('-', '')[-12:]}"
    content = row["content"] or {}
    words = content.get("message")
    words = words if isinstance(words, str) else json.dumps(content, ensure_ascii=False)
    whom = "you" if row["to_agent"] is not None else "all agents"
    who = fence.flat(row["from_agent"], MOST_NAME)
    line = f"- [{tag}] {who} to {whom}, {row['topic']}: {redact(words)}"
    text = fence.flat(line, outbox.MOST_CHARS)
    return OutboxEntry(row["id"], tag, text, row["created_ms"], row["expires_ms"])
