"""The oldest part of a very long transcript, read for the first time.

Of what lies so far back only what holds for ever is looked for: the user's words, the task list,
the compactions. All other lines are passed over unread, for decoding 100 MB takes longer than a
compaction should be held up. Whoever saves the facts at every checkpoint never comes here.
"""

import os
from collections.abc import Iterable, Iterator

from holdfast.checkpoint.extract.results import is_rejection
from holdfast.checkpoint.facts import Facts
from holdfast.transcript.entries import Entry
from holdfast.transcript.parse import parse
from holdfast.transcript.reader import LONGEST_LINE_BYTES
from holdfast.transcript.repair import Malformed
from holdfast.transcript.source import Source
from holdfast.transcript.tally import Tally

SHORT_BYTES = 20_000  # a stopped call says little
HEAD_BYTES = 1500  # where a line says what it is, unless it is a short one
_RESULT, _PROGRESS = b'"type":"tool_result"', b'"type":"progress"'
_USER, _ASSISTANT, _SYSTEM = b'"type":"user"', b'"type":"assistant"', b'_boundary"'
_QUEUE = b'"type":"queue-operation"'
_SIDECHAIN = b'"isSidechain":true'
_TOOLS = (
    *(b'"name":"TodoWrite"', b'"name":"TaskCreate"', b'"name":"TaskUpdate"'),
    *(b'"name":"AskUserQuestion"', b'"name":"ExitPlanMode"'),
)
_USE_ID = b'"tool_use_id":"'
_MESSAGE, _ID = b'"message":{', b'"id":"'


def skim(path: str | os.PathLike[str], facts: Facts, end: int) -> Iterator[Entry]:
    """The entries that matter up to byte `end`; `facts` learns how far we came."""
    recent: list[tuple[int, bytes]] = []  # answers, should the user have stopped one of their calls
    with Source(path) as source:
        for data in source.lines(facts.offset, LONGEST_LINE_BYTES):
            if facts.offset >= end or not data.endswith(b"\n"):
                return
            offset, facts.offset = facts.offset, facts.offset + len(data)
            facts.lines += 1
            head = data[:HEAD_BYTES]
            if _RESULT in head and len(data) < SHORT_BYTES and is_rejection(data):
                yield from _entries(line for line in recent if _answers(head, line[1]))
            if _matters(facts, head, data):
                yield from _entries([(offset, data)])
            elif _ASSISTANT in data:
                recent = [*recent[-5:], (offset, data)]


def _entries(lines: Iterable[tuple[int, bytes]]) -> Iterator[Entry]:
    for offset, data in lines:
        try:
            entry = parse(data, offset, Tally())
        except Malformed:
            continue
        if entry is not None:
            yield entry


def _answers(head: bytes, call: bytes) -> bool:
    name = head.partition(_USE_ID)[2][:200].partition(b'"')[0]
    return bool(name) and name in call


def _matters(facts: Facts, head: bytes, data: bytes) -> bool:
    if _RESULT in head:
        return bool(facts.calls) and any(key.encode() in data for key in facts.calls)
    if _PROGRESS in head:
        return False
    if _ASSISTANT in data:
        _count(facts, head)
        return any(tool in data for tool in _TOOLS)
    return _USER in data or _SYSTEM in head or _QUEUE in head


def _count(facts: Facts, head: bytes) -> None:
    """One more operation, when this line begins another answer."""
    start = head.find(_ID, head.find(_MESSAGE)) + len(_ID)
    name = head[start : start + 80].partition(b'"')[0].decode("utf-8", "replace")
    if name != facts.message_id and _SIDECHAIN not in head:
        facts.message_id = name
        facts.op += 1
