"""Files that subagents edited.

A subagent's calls are not in the session's transcript but in `<session>/subagents/agent-<id>.jsonl`
beside it. Each pass reads only the new part of those files.
"""

import os
from contextlib import suppress

from holdfast.record import files, git
from holdfast.record.model import Record
from holdfast.transcript.blocks import ToolUse
from holdfast.transcript.entries import Answer, Result
from holdfast.transcript.reader import Reader, Unreadable

MOST_BYTES = 16 << 20  # read in one pass over all files, the newest first
MOST_LOOKED_AT = 60
_ENDING, _AGENT_FILE = ".jsonl", "agent-"


def note_edits(record: Record, transcript: str) -> None:
    """Count files that subagents edited as changed."""
    if not record.agents or not transcript.endswith(_ENDING):
        return
    room = MOST_BYTES
    for name, path, size in _newest_agent_transcripts(
        f"{transcript.removesuffix(_ENDING)}/subagents"
    ):
        start = record.looked.pop(name, 0)
        start = start if start <= size else 0
        if start < size <= start + room:
            room -= size - start
            agent = record.agents.get(name[len(_AGENT_FILE) : -len(_ENDING)])
            start = _take_edits(record, path, start, agent.asked if agent else "")
        record.looked[name] = start
    while len(record.looked) > MOST_LOOKED_AT:
        del record.looked[next(iter(record.looked))]


def _newest_agent_transcripts(folder: str) -> list[tuple[str, str, int]]:
    """Return name, path and size of the newest subagents' transcripts. Links are not followed."""
    try:
        with os.scandir(folder) as entries:
            known = [
                (entry.stat(follow_symlinks=False), entry)
                for entry in entries
                if entry.name.startswith(_AGENT_FILE)
                and entry.name.endswith(_ENDING)
                and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    known.sort(key=lambda pair: pair[0].st_mtime_ns)
    newest = [(entry.name, entry.path, stat.st_size) for stat, entry in known]
    return newest[-MOST_LOOKED_AT:][::-1]


def _take_edits(record: Record, path: str, start: int, asked: str) -> int:
    """Count the edits from this byte on; return where the next pass begins."""
    edited: dict[str, tuple[str, str]] = {}  # the path and the time, by the id of the call
    reader = Reader(path, start=start)
    with suppress(Unreadable):
        for entry in reader:
            if isinstance(entry, Answer):
                calls = (one for one in entry.blocks if isinstance(one, ToolUse))
                for call in calls:
                    if call.name in files.EDITS and (edits := files.path_argument(call.input)):
                        edited[call.id] = edits, entry.timestamp
            elif isinstance(entry, Result):
                for one in entry.results:
                    if one.is_error:
                        edited.pop(one.tool_use_id, None)
    for name, at in edited.values():
        files.note_agent_edit(record, files.relative(record, name), asked)
        git.note_edit(record, at)
    return reader.offset
