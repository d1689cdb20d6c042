"""The oldest part of a very long transcript, when it is read for the first time.

From so far back only what never expires is read: the user's words, the task list, the compactions.
All other lines are skipped, because decoding 100 MB would delay a compaction too long. A record
that is saved at every checkpoint never needs this.
"""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator

from holdfast.record.model import Record
from holdfast.record.results import looks_rejected
from holdfast.transcript.blocks import Malformed, without_blanks
from holdfast.transcript.entries import Entry, Result
from holdfast.transcript.parse import LineTally, parse
from holdfast.transcript.reader import (
    LONGEST_LINE_BYTES,
    TranscriptSource,
    behind_torn,
    parse_line,
)

HEAD_BYTES = 1500  # the part of a line that shows its kind
_RESULT, _PROGRESS = b'"type":"tool_result"', b'"type":"progress"'
_RECORD, _TEXT = b'"toolUseResult":', b'{"type":"text"'
_USER, _ASSISTANT, _SYSTEM = b'"type":"user"', b'"type":"assistant"', b'_boundary"'
_QUEUE = b'"type":"queue-operation"'
_HANDED_OVER = b'"type":"queued_command"'
_LOCAL = b'"subtype":"local_command"'
_OTHERS = (_SYSTEM, _QUEUE, _HANDED_OVER, _LOCAL)
_SIDECHAIN = b'"isSidechain":true'
_TOOLS = re.compile(rb'"name":"(?:TodoWrite|TaskCreate|TaskUpdate|AskUserQuestion|ExitPlanMode)"')
_USE_ID = b'"tool_use_id":"'
_MESSAGE, _ID = b'"message":{', b'"id":"'


def skim(path: str | os.PathLike[str], record: Record, end: int) -> Iterator[Entry]:
    """Yield the entries that matter up to byte `end`; `record` learns the offset that was
    reached."""
    # The last answers, in case the user stopped one of their calls.
    recent: deque[tuple[int, bytes]] = deque(maxlen=6)
    with TranscriptSource(path) as source:
        for data in source.lines(record.offset, LONGEST_LINE_BYTES):
            if record.offset >= end or not data.endswith(b"\n"):
                return
            offset, record.offset = record.offset, record.offset + len(data)
            record.lines += 1
            spelled = without_blanks(data)
            head, matters = spelled[:HEAD_BYTES], False
            if _RESULT in head:
                if looks_rejected(data):
                    calls = (line for line in recent if _answers(head, line[1]))
                    yield from _entries(record, calls)
                is_asked = any(key.encode() in data for key in record.calls)
                matters = is_asked or _has_words_beside(data, spelled)
            elif _ASSISTANT in spelled and _PROGRESS not in head:
                _count(record, head)
                matters = _TOOLS.search(spelled) is not None
                if not matters:
                    recent.append((offset, data))
            elif _PROGRESS not in head:
                matters = _USER in spelled or any(mark in head for mark in _OTHERS)
            if matters:
                yield from _entries(record, [(offset, data)])


def _entries(record: Record, lines: Iterable[tuple[int, bytes]]) -> Iterator[Entry]:
    for offset, data in lines:
        tally = LineTally()
        try:
            yield from parse_line(data, offset, tally)
        except Malformed:
            yield from behind_torn(data, offset, tally)
            record.lost += tally.words_lost


def _has_words_beside(data: bytes, spelled: bytes) -> bool:
    """Whether a text is beside the results. Some results are texts too, so only decoding can
    tell."""
    end = spelled.find(_RECORD)
    if spelled.find(_TEXT, 0, end if end >= 0 else len(spelled)) < 0:
        return False
    try:
        entry = parse(data, 0, LineTally())
    except Malformed:
        return False
    return isinstance(entry, Result) and bool(entry.text)


def _answers(head: bytes, call: bytes) -> bool:
    name = head.partition(_USE_ID)[2][:200].partition(b'"')[0]
    return bool(name) and name in call


def _count(record: Record, head: bytes) -> None:
    """Count one more step if this line begins another answer."""
    start = head.find(_ID, head.find(_MESSAGE)) + len(_ID)
    name = head[start : start + 80].partition(b'"')[0].decode("utf-8", "replace")
    if name != record.message_id and _SIDECHAIN not in head:
        record.message_id = name
        record.op += 1
