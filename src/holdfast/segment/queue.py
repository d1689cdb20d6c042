"""The queue of one session: what waits to be compressed, and what was."""

from __future__ import annotations

from holdfast.segment import disk, formats
from holdfast.segment.errors import Damaged
from holdfast.segment.formats import Done, Queue
from holdfast.wire import places

MOST_PENDING, MOST_DONE = 200, 500


def name(session_id: str) -> str:
    return f"{places.plain(session_id)}_pending.json"


def path(session_id: str) -> str:
    return f"{disk.place('queue').path}/{name(session_id)}"


def load(session_id: str) -> Queue:
    """An empty one where there is none; NewerSegments where it is not ours to touch."""
    data = disk.read(path(session_id))
    if not data:
        return Queue()
    try:
        return formats.queue(data)
    except Damaged as slip:
        disk.set_aside(path(session_id), str(slip))
        return Queue()


def save(session_id: str, queue: Queue) -> None:
    """Bounded: the oldest of what was compressed goes, its segment stays on the shelf."""
    del queue.pending[:-MOST_PENDING]
    del queue.compressed[:-MOST_DONE]
    disk.put(disk.place("queue"), name(session_id), formats.encode(queue))


def settle(queue: Queue, done: Done) -> None:
    """From pending to compressed, once."""
    queue.pending = [one for one in queue.pending if one.segment_id != done.segment_id]
    queue.compressed = [one for one in queue.compressed if one.segment_id != done.segment_id]
    queue.compressed.append(done)
