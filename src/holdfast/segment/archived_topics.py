"""What a session has archived, in a few words: for the summary prompt, and for the brief after it.

A compaction waits while this runs. So only the queue is read, and nothing if there is none.
"""

from __future__ import annotations

from json import loads

from holdfast.wire import places

LONGEST_TOPIC = 160
MOST_BYTES = 1 << 20


def list_archived(session_id: str) -> list[tuple[str, str, list[str]]]:
    """Return id, topic and main files of each segment, newest last; nothing if the queue is
    unreadable."""
    path = f"{places.home()}/segments/queue/{places.plain(session_id)}_pending.json"
    data = places.read_small(path, MOST_BYTES)
    try:
        value = loads(data or b"{}")
        rows = value["compressed"] if value.get("version") == 1 else []
        return [_named(row) for row in rows if row["topic"]]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []


def _named(row: dict[str, object]) -> tuple[str, str, list[str]]:
    files = row.get("key_files")
    names = [str(name).rpartition("/")[2] for name in files] if isinstance(files, list) else []
    return str(row["segment_id"]), str(row["topic"])[:LONGEST_TOPIC], names[:2]
