"""Which files subagents changed since the last commit, read from their own transcripts.

A subagent's calls are not in the session's transcript but in `<session>/subagents/agent-<id>.jsonl`
beside it. Each pass reads only the new part of those files, and takes only the names of edited
files from it.
"""

import os
from typing import Any

import msgspec

from holdfast.record import files, git_work
from holdfast.record.model import Record

MOST_BYTES = 16 << 20  # read in one pass over all files, the newest first
MOST_LOOKED_AT = 60
_ENDING, _NAMED = ".jsonl", "agent-"
_NAMES = (b'"name":"Edit"', b'"name":"Write"', b'"name":"MultiEdit"', b'"name":"NotebookEdit"')
_FAILED, _COMMITS = b'"is_error":true', b"git commit"
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def look(record: Record, transcript: str) -> None:
    """Count files that subagents edited after the last commit as changed."""
    if not record.agents or not transcript.endswith(_ENDING):
        return
    if record.git.commits and not record.git.at:  # written by an earlier release
        record.git.at = record.at
    room = MOST_BYTES
    for name, path, size in _newest_transcripts(f"{transcript.removesuffix(_ENDING)}/subagents"):
        start = record.looked.pop(name, 0)
        start = start if start <= size else 0
        if start < size <= start + room:
            room -= size - start
            start += _take(record, path, start, size)
        record.looked[name] = start
    while len(record.looked) > MOST_LOOKED_AT:
        del record.looked[next(iter(record.looked))]


def _newest_transcripts(folder: str) -> list[tuple[str, str, int]]:
    """Return name, path and size of the newest subagents' transcripts. Links are not followed."""
    try:
        with os.scandir(folder) as found:
            known = [
                (entry.stat(follow_symlinks=False), entry)
                for entry in found
                if entry.name.startswith(_NAMED)
                and entry.name.endswith(_ENDING)
                and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    known.sort(key=lambda pair: pair[0].st_mtime_ns)
    newest = [(entry.name, entry.path, stat.st_size) for stat, entry in known]
    return newest[-MOST_LOOKED_AT:][::-1]


def _take(record: Record, path: str, start: int, end: int) -> int:
    """Read the complete lines between `start` and `end`; return how many bytes they have."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (pathlib costs 8 ms)
            file.seek(start)
            data = file.read(end - start)
    except OSError:
        return 0
    data = data[: data.rfind(b"\n") + 1]
    edited: dict[str, str] = {}  # the path, by the id of the call
    for line in data.splitlines():
        if any(name in line for name in _NAMES):
            edited |= _edits(line, record.git.at)
        elif _FAILED in line:
            for failed in [one for one in edited if one.encode() in line]:
                del edited[failed]
        elif _COMMITS in line and b'"name":"Bash"' in line:
            edited.clear()
    for path in dict.fromkeys(edited.values()):
        name = files.relative(record, path)
        files.note_agent_edit(record, name)
        git_work.note_change(record, name, path.rpartition("/")[0])
    return len(data)


def _edits(line: bytes, since: str) -> dict[str, str]:
    """Return the calls in a line that edit a file, if they are newer than the last commit."""
    try:
        found = _decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return {}
    message = found.get("message")
    blocks = message.get("content") if isinstance(message, dict) else None
    at = found.get("timestamp")
    if not isinstance(blocks, list) or not isinstance(at, str) or at < since:
        return {}
    calls = [one for one in blocks if isinstance(one, dict) and isinstance(one.get("input"), dict)]
    return {
        name: path
        for one in calls
        if isinstance(name := one.get("id"), str) and (path := files.path_argument(one["input"]))
    }
