"""The oldest part of a very long transcript, read for the first time.

Of what lies so far back only what holds for ever is looked for: the user's words, the task list,
the compactions. All other lines are passed over unread, for decoding 100 MB takes longer than a
compaction should be held up. Whoever saves the facts at every checkpoint never comes here.
"""

import os
from collections.abc import Iterator

from holdfast.checkpoint.facts import Facts
from holdfast.transcript.entries import Entry
from holdfast.transcript.mend import Malformed
from holdfast.transcript.parse import parse
from holdfast.transcript.reader import LONGEST_LINE_BYTES
from holdfast.transcript.source import Source
from holdfast.transcript.tally import Tally

HEAD_BYTES = 1500  # where a line says what it is, unless it is a short one
_RESULT, _PROGRESS = b'"type":"tool_result"', b'"type":"progress"'
_USER, _ASSISTANT, _SYSTEM = b'"type":"user"', b'"type":"assistant"', b'_boundary"'
_SIDECHAIN = b'"isSidechain":true'
_TASKS = (b'"name":"TodoWrite"', b'"name":"TaskCreate"', b'"name":"TaskUpdate"')
_MESSAGE, _ID = b'"message":{', b'"id":"'


def skim(path: str | os.PathLike[str], facts: Facts, end: int) -> Iterator[Entry]:
    """The entries that matter up to byte `end`; `facts` learns how far we came."""
    tally = Tally()
    with Source(path) as source:
        for data in source.lines(facts.offset, LONGEST_LINE_BYTES):
            if facts.offset >= end or not data.endswith(b"\n"):
                return
            offset, facts.offset = facts.offset, facts.offset + len(data)
            if _matters(facts, data):
                try:
                    entry = parse(data, offset, tally)
                except Malformed:
                    continue
                if entry is not None:
                    yield entry


def _matters(facts: Facts, data: bytes) -> bool:
    head = data[:HEAD_BYTES]
    if _RESULT in head:
        return bool(facts.calls) and any(key.encode() in data for key in facts.calls)
    if _PROGRESS in head:
        return False
    if _ASSISTANT in data:
        _count(facts, head)
        return any(tool in data for tool in _TASKS)
    return _USER in data or _SYSTEM in head


def _count(facts: Facts, head: bytes) -> None:
    """One more operation, when this line begins another answer."""
    start = head.find(_ID, head.find(_MESSAGE)) + len(_ID)
    name = head[start : start + 80].partition(b'"')[0].decode("utf-8", "replace")
    if name != facts.message_id and _SIDECHAIN not in head:
        facts.message_id = name
        facts.op += 1
