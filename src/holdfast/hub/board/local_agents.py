"""The windows of this machine whose agents can get messages, and the name of each.

A main window has the name of its session, a subagent's window the agent's id. Nothing of
the store is loaded here, because the process that sends to the team server uses this too.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from holdfast.hub import ids
from holdfast.hub.errors import Refused
from holdfast.redact.find import redact
from holdfast.text import fence
from holdfast.window import outbox
from holdfast.window import state as states
from holdfast.window.live_windows import is_over
from holdfast.window.outbox import OutboxEntry
from holdfast.window.state import State
from holdfast.wire import places

# A session may wait a day for its user, and still gets messages to its name.
LISTENS_MS = 24 * 3_600_000
# A subagent gets messages only as it ends. These concern its window, which ends with it.
NOT_TO_AGENTS = frozenset(("checkpoint_trigger",))
LEAST_START = 8  # characters of an id that identify it: as many as the log shows


@dataclass(frozen=True, slots=True)
class Listener:
    folder: str
    name: str
    project: str
    is_agent: bool
    transcript: str
    heard_ms: int

    @property
    def project_id(self) -> str:
        return ids.project_id(self.project)


def has_windows() -> bool:
    """Return whether this machine has ever had a session; a team server has none. Takes 10 µs."""
    try:
        with os.scandir(places.windows()) as found:
            return any(found)
    except OSError:
        return False


def listeners(now_ms: int, name: str = "") -> list[Listener]:
    """List windows of live sessions that reported within a day; all, or those of one name."""
    windows = _windows_named(name) if name else states.all_windows(now_ms - LISTENS_MS)
    open_ones = [pair for pair in windows if pair[1].session_id and not is_over(*pair)]
    found = [_listener_of(folder, state) for folder, state in open_ones]
    return [listener for listener in found if now_ms - listener.heard_ms < LISTENS_MS]


def resolve_address(now_ms: int, name: str) -> tuple[str, list[Listener]]:
    """Complete the start of an id; return the name and its listeners on this machine."""
    exact = listeners(now_ms, name)
    if exact or len(name) < LEAST_START:
        return name, exact
    found = [one for one in listeners(now_ms) if one.name.startswith(name)]
    names = sorted({one.name for one in found})
    if len(names) > 1:
        raise Refused(f"{name} is the start of {len(names)} ids: {', '.join(names[:3])}", "to")
    return (names[0] if names else name), found


def _windows_named(name: str) -> list[tuple[str, State]]:
    """Find windows by their folder names; nothing else is opened."""
    folders = [places.window(name)]
    folders += map(str, Path(places.windows()).glob(f"*/agent-{escape(places.plain(name))}"))
    return [(folder, states.load(folder)) for folder in folders]


def with_outbox() -> Iterator[Listener]:
    """List windows with unsettled messages, whether they are live or not."""
    files = Path(places.windows()).glob("*/*/outbox.*")
    names = ("outbox.json", "outbox.done")
    for folder in sorted({str(path.parent) for path in files if path.name in names}):
        yield _listener_of(folder, states.load(folder))


def _listener_of(folder: str, state: State) -> Listener:
    """`heard_ms`: only hooks deliver messages, so other activity does not count."""
    name, place = state.agent_id or state.session_id, state.project or state.cwd
    heard_ms = max(state.at_ms, places.modified_ms(f"{folder}/spool"))
    return Listener(folder, name, place, bool(state.agent_id), state.transcript, heard_ms)


def entry_of(row: Mapping[str, Any]) -> OutboxEntry:
    """Make an outbox entry from a message."""
    tag = f"m-{row['id'].replace('-', '')[-12:]}"
    content = row["content"] or {}
    words = content.get("message")
    words = words if isinstance(words, str) else json.dumps(content, ensure_ascii=False)
    whom = "you" if row["to_agent"] is not None else "all agents"
    who = fence.agent_name(row["from_agent"])
    line = f"- [{tag}] {who} to {whom}, {row['topic']}: {redact(words)}"
    text = fence.flat(line, outbox.MOST_CHARS)
    return OutboxEntry(row["id"], tag, text, row["created_ms"], row["expires_ms"])
