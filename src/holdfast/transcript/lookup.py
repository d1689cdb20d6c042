"""Look up single facts in a transcript and decode only the lines that hold them.

The session it belongs to, how often it was compacted, tool results by the id of their call, and the
files of its subagents. A microcompaction clears old results from the window and names them by these
ids; the transcript still holds them. Beside `<session>.jsonl` there may be
`<session>/subagents/agent-<id>.jsonl`. Both names come from outside, so neither may contain
anything but letters, digits, `_` and `-`: no dots, no slashes.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from holdfast.text.fence import TAG
from holdfast.transcript import reader
from holdfast.transcript.blocks import Malformed, ToolResult, ToolUse, decoded
from holdfast.transcript.entries import Answer, Attachment, Boundary, Entry, Result, Summary
from holdfast.transcript.parse import LineTally
from holdfast.wire import places

END_BYTES, TIME_BYTES = 1 << 20, 1 << 18  # the newest time stands in the last lines
_SIGNS = (b"compact_boundary", b"isCompactSummary", b'"compacted"', b"compaction_complete")
PREFIXES = ("toolu_", "call_")  # how the id of a call begins
LONGEST_ID = 80
_ID = re.compile(rb'"(?:id|tool_use_id|call_id)": ?"([^"]{1,80})"')


def session_id(path: Path) -> str:
    """Return the session id of the last lines; the first may be of the session before."""
    start = max(0, path.stat().st_size - END_BYTES)
    ids = [row.line.session_id for row in reader.read(path, start=start) if row.line.session_id]
    return ids[-1] if ids else ""


def has_lines(path: Path) -> bool:
    return next(reader.read(path), None) is not None


def folder_of(path: str) -> str:
    return next((entry.line.cwd for entry in reader.read(path) if entry.line.cwd), "")


def tallies(path: Path) -> dict[str, int]:
    lines = reader.Reader(path)
    for _ in lines:
        pass
    return lines.tally.as_dict()


class Compactions(msgspec.Struct, frozen=True):
    count: int = 0
    thinned: tuple[Boundary, ...] = ()


def compactions(path: Path, *, sidechain: bool = False) -> Compactions:
    """Count compactions from the lines that mention one: a second for 1 GB, not ten."""
    boundaries = summaries = 0
    parse_data = reader.parser_for(path)
    thinned: list[Boundary] = []
    with reader.TranscriptSource(path) as source:
        for data in source.lines(0, reader.LONGEST_LINE_BYTES):
            if not any(sign in data for sign in _SIGNS):
                continue
            for entry in _entries(data, parse_data):
                if isinstance(entry, Boundary) and not entry.resets_window:
                    thinned += [entry] if sidechain or not entry.is_sidechain else []
                elif isinstance(entry, Boundary | Summary):
                    boundaries += isinstance(entry, Boundary)
                    summaries += isinstance(entry, Summary)
                    thinned.clear()
    # client 1.0.53 wrote no boundary line
    return Compactions(boundaries or summaries, tuple(thinned))


def _entries(data: bytes, parse_data: reader.LineParser) -> Iterable[Entry]:
    try:
        return parse_data(data, 0, LineTally())
    except Malformed:
        return ()


_ADDED = "hook_additional_context"


class Compaction(msgspec.Struct, frozen=True):
    """Its place in the file, and what the model got: the summary, as the client wrote it, unless
    that is encrypted, and the briefs of our hooks."""

    offset: int
    at: str
    trigger: str = ""
    summary: str | None = None
    given: tuple[str, ...] = ()


def read_compactions(path: str | os.PathLike[str], *, sidechain: bool) -> Iterator[Compaction]:
    """Yield a boundary and its summary as one; client 1.0.53 wrote only summaries."""
    last: Compaction | None = None
    for entry in reader.read(path):
        if entry.is_sidechain is not sidechain:
            continue
        if isinstance(entry, Boundary) and entry.resets_window:
            if last is not None:
                yield last
            last = Compaction(entry.offset, entry.timestamp, entry.trigger)
        elif isinstance(entry, Summary):
            if last is not None and last.summary is not None:
                yield last
                last = None
            last = last or Compaction(entry.offset, entry.timestamp)
            last = msgspec.structs.replace(last, summary=entry.text if entry.is_readable else None)
        elif last is not None and isinstance(entry, Attachment) and entry.kind == _ADDED:
            briefs = (text for text in _texts(entry) if f"<{TAG}" in text)
            last = msgspec.structs.replace(last, given=(*last.given, *briefs))
    if last is not None:
        yield last


def _texts(entry: Attachment) -> list[str]:
    content = decoded(entry.raw).get("content")
    some = content if isinstance(content, list) else [content]
    return [text for text in some if isinstance(text, str)]


class ToolCall(msgspec.Struct, frozen=True):
    use: ToolUse
    result: ToolResult


def is_id(word: str) -> bool:
    return word.startswith(PREFIXES) and len(word) <= LONGEST_ID


def find_calls(path: Path, ids: Collection[str]) -> Iterator[ToolCall]:
    """Find the calls with these ids; only lines that name one are decoded."""
    wanted = {id_.encode() for id_ in ids}
    uses: dict[str, ToolUse] = {}
    parse_data = reader.parser_for(path)
    with reader.TranscriptSource(path) as source:
        for data in source.lines(0, reader.LONGEST_LINE_BYTES):
            if wanted.isdisjoint(_ID.findall(data)):
                continue
            for block in _blocks(data, parse_data):
                if isinstance(block, ToolUse) and block.id in ids:
                    uses[block.id] = block
                elif isinstance(block, ToolResult) and block.tool_use_id in uses:
                    yield ToolCall(uses.pop(block.tool_use_id), block)


def _blocks(data: bytes, parse_data: reader.LineParser) -> Iterator[object]:
    for entry in _entries(data, parse_data):
        if isinstance(entry, Answer | Result):
            yield from entry.message.blocks


_A_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_AN_AGENTS_FILE = re.compile(r"agent-([A-Za-z0-9_-]{1,128})\.jsonl")


def subagent_files(transcript: str | os.PathLike[str]) -> list[tuple[str, Path]]:
    """(agent id, path) for each subagent of the session, by id; links are not followed."""
    folder = _folder(Path(transcript))
    if folder is None:
        return []
    try:
        with os.scandir(folder) as entries:
            files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
    named = (_AN_AGENTS_FILE.fullmatch(name) for name in sorted(files))
    return [(match[1], folder / match[0]) for match in named if match]


def _folder(transcript: Path) -> Path | None:
    session = transcript.name.removesuffix(".gz").removesuffix(".jsonl")
    return transcript.parent / session / "subagents" if _A_NAME.fullmatch(session) else None


def written_ms(transcript: str) -> int:
    """When a transcript was last written to: the last time that its lines state, and never later
    than its file was changed. A backup that is restored has new times of change, and old lines."""
    changed_ms = places.modified_ms(transcript)
    try:
        with os.fdopen(places.open_regular(transcript), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TIME_BYTES))
            stated_ms = _last_time_ms(file.read(TIME_BYTES))
    except (OSError, ValueError):
        return changed_ms
    return min(stated_ms, changed_ms) if stated_ms else changed_ms


def _last_time_ms(data: bytes) -> int:
    """Quoted JSON cannot be mistaken for it, because its quotation marks are escaped."""
    at = len(data)
    while (at := data.rfind(b'"timestamp":', 0, at)) >= 0:
        value = data[at + 12 : at + 64].lstrip(b' "').partition(b'"')[0]
        try:
            moment = datetime.fromisoformat(value.decode())
            return int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1000)
        except (ValueError, OverflowError):
            continue
    return 0
