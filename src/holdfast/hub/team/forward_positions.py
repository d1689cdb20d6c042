"""How far the team's server knows each source of ours: `forwarded/`, a small file for each.

Only spares the server a question: lost or wrong, it says where it stands.
"""

from __future__ import annotations

import json
import os

from holdfast.hub.ingest.records import Position
from holdfast.wire import places


def position(url: str, source: str) -> Position:
    """Nothing where another server was told, or nobody."""
    try:
        found = json.loads(places.read_small(_place(source), 4 << 20) or b"{}")
        known = found.get("position") if found.get("server") == url else None
        return known if isinstance(known, dict) else {}
    except (ValueError, AttributeError, RecursionError):
        return {}


def note(url: str, source: str, position: Position) -> None:
    path = _place(source)
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)  # noqa: PTH103, PTH120
    places.replace_whole(path, json.dumps({"server": url, "position": position}).encode())


def noted_at(source: str) -> float | None:
    """Seconds since 1970."""
    try:
        return os.stat(_place(source)).st_mtime  # noqa: PTH116
    except OSError:
        return None


def _place(source: str) -> str:
    return os.path.join(places.home(), "forwarded", places.plain(source))  # noqa: PTH118
