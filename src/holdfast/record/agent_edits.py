"""Files that subagents edited.

A subagent's calls are not in the session's transcript but in a file of its own beside it. Each pass
reads only the new part of those files.
"""

import os
from contextlib import suppress

from holdfast.record import files, git
from holdfast.record.model import Record
from holdfast.transcript import Unreadable
from holdfast.transcript.blocks import ToolUse
from holdfast.transcript.entries import Answer, Result
from holdfast.transcript.reader import Reader

MOST_BYTES = 16 << 20  # read in one pass over all files, the newest first
MOST_LOOKED_AT = 60


def note_edits(record: Record, transcript: str) -> None:
    """Count files that subagents edited as changed."""
    if not record.agents:
        return
    from holdfast.transcript.lookup import subagent_files  # most sessions have no subagents

    room, found = MOST_BYTES, list[tuple[int, int, str, str]]()
    for name, file in subagent_files(transcript):
        with suppress(OSError):
            stat = os.lstat(file)
            found.append((stat.st_mtime_ns, stat.st_size, name, os.fspath(file)))
    for _, size, agent_id, path in sorted(found, reverse=True)[:MOST_LOOKED_AT]:
        start = record.looked.pop(agent_id, 0)
        start = start if start <= size else 0
        if start < size <= start + room:
            room -= size - start
            agent = record.agents.get(agent_id)
            start = _take_edits(record, path, start, agent.asked if agent else "")
        record.looked[agent_id] = start
    while len(record.looked) > MOST_LOOKED_AT:
        del record.looked[next(iter(record.looked))]


def _take_edits(record: Record, path: str, start: int, asked: str) -> int:
    """Count the edits from this byte on; return where the next pass begins."""
    edited: dict[str, tuple[str, str]] = {}  # the path and the time, by the id of the call
    reader = Reader(path, start=start)
    with suppress(Unreadable):
        for entry in reader:
            if isinstance(entry, Answer):
                calls = (block for block in entry.blocks if isinstance(block, ToolUse))
                for call in calls:
                    if call.name in files.EDITS and (edits := files.path_argument(call.input)):
                        edited[call.id] = edits, entry.timestamp
            elif isinstance(entry, Result):
                for result in entry.results:
                    if result.is_error:
                        edited.pop(result.tool_use_id, None)
    for name, at in edited.values():
        files.note_agent_edit(record, files.relative(record, name), asked)
        git.note_edit(record, at)
    return reader.offset
