"""The queue of one session: what waits to be compressed, and what was."""

from __future__ import annotations

from holdfast.segment import disk, formats
from holdfast.segment.errors import DamagedSegment, NewerSegments
from holdfast.segment.formats import Compressed, Done, Queue
from holdfast.wire import log, places

MOST_PENDING, MOST_DONE = 200, 500


def name(session_id: str) -> str:
    return f"{places.plain(session_id)}_pending.json"


def path(session_id: str) -> str:
    return f"{disk.place('queue').path}/{name(session_id)}"


def load(session_id: str) -> Queue:
    """The queue; empty if there is none. NewerSegments if a newer Holdfast wrote it."""
    data = disk.read(path(session_id))
    if not data:
        return Queue()
    try:
        return formats.queue(data)
    except DamagedSegment as slip:
        disk.set_aside(path(session_id), str(slip))
        return Queue()


def save(session_id: str, queue: Queue) -> None:
    """Save it. Past the limit the oldest compressed entry is dropped; its segment stays stored."""
    del queue.pending[:-MOST_PENDING]
    del queue.compressed[:-MOST_DONE]
    disk.put(disk.place("queue"), name(session_id), formats.encode(queue))


def settle(queue: Queue, done: Done) -> None:
    """Move an entry from pending to compressed, once."""
    queue.pending = [one for one in queue.pending if one.segment_id != done.segment_id]
    queue.compressed = [one for one in queue.compressed if one.segment_id != done.segment_id]
    queue.compressed.append(done)


def done(one: Compressed, turn: int, location: str = "") -> Done:
    """How the queue remembers it."""
    return Done(
        segment_id=one.segment_id,
        topic=one.topic,
        compressed_at_turn=turn,
        original_tokens=one.original_tokens,
        compressed_tokens=one.compressed_tokens,
        compression_ratio=one.compression_ratio,
        storage_location=location or f"{disk.place('warm').path}/{one.segment_id}.json",
        timestamp=one.compressed_at,
        key_files=one.key_files[:3],
        start_turn=one.start_turn,
    )


def tell_again(one: Compressed, location: str) -> None:
    """Update the length of a segment's words in the queue, unless a newer Holdfast wrote it."""
    try:
        mine = load(one.session_id)
    except NewerSegments as slip:
        log.add("WARN", "segments", f"{path(one.session_id)}: {slip}")
        return
    known = [row for row in mine.compressed if row.segment_id == one.segment_id]
    turn = known[-1].compressed_at_turn if known else mine.last_check_turn
    settle(mine, done(one, turn, location))
    save(one.session_id, mine)
