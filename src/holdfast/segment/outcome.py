"""What a segment is about, by the session's record: what was asked, and whether it is done.

Nothing is judged a second time here. The turns, the failures and the tasks are the record's; a
segment takes those that lie between its two bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TypeVar

from holdfast.record import open_items
from holdfast.record.failures import is_one_off
from holdfast.record.model import Decision, Failure, Place, Record, Task, Turn
from holdfast.segment.plain_text import line
from holdfast.segment.segment import Segment
from holdfast.segment.steps import goes_on
from holdfast.text.sentences import clip, split

LONGEST_TOPIC = 140  # it stands whole wherever it is shown
LEAST_TOPIC = 24  # "ok great." names nothing: the sentence behind it goes with it
LONGEST_PART = 40
MOST_LINES, LEAST_LETTERS = 20, 3
_SIGNS = " \t#*->•|"
_QUOTES = "“„«¿¡"
_PAUSES = (", ", "; ", ": ", " - ", " \u2013 ", " — ", " (")
Placed = TypeVar("Placed", Turn, Failure, Task, Decision)


def turns(record: Record, one: Segment) -> list[Turn]:
    """Those that begin in it."""
    return [turn for turn in within(record.turns, one) if turn.asked]


def within(found: Sequence[Placed], one: Segment) -> list[Placed]:
    return [each for each in found if holds(one, each.place)]


def holds(one: Segment, place: Place) -> bool:
    return one.start_byte <= place.offset < one.end_byte


def topic(record: Record, one: Segment) -> str:
    """The request that took the most steps; of a part of a longer turn, that turn's, with what was
    changed."""
    own = turns(record, one)
    requests = [turn for turn in own if not goes_on(turn)]
    if requests:
        return name_of(_longest(requests, own, one).asked)
    begins = own[:1] and own[0].place.offset == one.start_byte
    asked = _longest(own, own, one).asked if begins else part_of(record, one)
    files = line(", ".join(name.rpartition("/")[2] for name in one.files[:2]), LONGEST_PART)
    name = name_of(asked)
    return f"{name} ({files})" if name and files else name or files


def _longest(some: Sequence[Turn], own: Sequence[Turn], one: Segment) -> Turn:
    """Of some of its own turns, the one that took the most steps."""
    ends = [*(turn.place.op for turn in own[1:]), one.end_turn]
    took = {turn.place: end - turn.place.op for turn, end in zip(own, ends, strict=True)}
    return max(some, key=lambda turn: took[turn.place])


def part_of(record: Record, one: Segment) -> str:
    """The request that was being worked on when it began; nothing where it begins with one."""
    own = turns(record, one)
    if own and not goes_on(own[0]):
        return ""
    before = record.turns[: bisect_left(record.turns, one.start_byte, key=_offset)]
    asked = [turn for turn in before if turn.asked]
    last = next((turn for turn in reversed(asked) if not goes_on(turn)), asked[-1:] and asked[-1])
    return last.asked if last else ""


def name_of(asked: str) -> str:
    """As many of its first sentences as fit, whole; of one that is too long, whole clauses. Words
    that only lead to the next line ("the following plan:") take that with them."""
    told = [line(one, 4 * LONGEST_TOPIC) for one in _sentences(asked)] or [line(asked, 400)]
    name, rest = told[0], told[1:]
    while rest and _leads_on(name) and len(name) + len(rest[0]) < LONGEST_TOPIC:
        name = f"{name} {rest.pop(0)}"
    if rest and _leads_on(name):
        name = f"{name} {rest[0]}"
    return name if len(name) <= LONGEST_TOPIC else _clauses(name)


def _leads_on(name: str) -> bool:
    return len(name) < LEAST_TOPIC or name.endswith(":")


def _sentences(asked: str) -> Iterator[str]:
    """Of lines with words in them, whatever stands before the words; what a terminal printed comes
    last."""
    rows = [row for row in map(str.strip, asked.splitlines()[:MOST_LINES]) if row]
    for row in sorted(rows, key=_is_printed):
        for sentence in split(row.strip(_SIGNS)):
            if sum(map(str.isalnum, sentence)) >= LEAST_LETTERS:
                yield sentence


def _is_printed(row: str) -> bool:
    """It begins with a sign that no keyboard has."""
    return row[0] > "\x7f" and not row[0].isalnum() and row[0] not in _QUOTES


def _clauses(sentence: str) -> str:
    head = clip(sentence, LONGEST_TOPIC)
    end = max(head.rfind(pause) for pause in _PAUSES)
    if end >= LEAST_TOPIC:
        return head[:end]
    return head[: head.rfind(" ") if " " in head else LONGEST_TOPIC].rstrip(" ,;:") + " …"


def is_done(record: Record, one: Segment) -> bool:
    """What was asked has been answered, or, in the midst of a turn, a run passed in it; and nothing
    that began in it is open."""
    if unresolved(record, one) or left_to_do(record, one):
        return False
    return is_answered(record, one) or (_ends_within_turn(record, one) and _passed(record, one))


def unresolved(record: Record, one: Segment) -> list[Failure]:
    """Tests and builds that still fail; what was only tried may never be run again."""
    found = within(open_items.failures(record), one)
    return [each for each in found if not is_one_off(each)]


def left_to_do(record: Record, one: Segment) -> list[Task]:
    return within([*open_items.tasks(record), *open_items.steps(record)], one)


def is_answered(record: Record, one: Segment) -> bool:
    """The turn it ends in came to rest with words of the model, and the user spoke again."""
    at = bisect_left(record.turns, one.end_byte, key=_offset)
    if not 0 < at < len(record.turns):
        return False
    turn, following = record.turns[at - 1], record.turns[at]
    return not turn.interrupted and bool(turn.said) and turn.said_op == following.place.op


def _ends_within_turn(record: Record, one: Segment) -> bool:
    """The work on the request goes on behind it."""
    return not any(turn.place.offset == one.end_byte for turn in record.turns)


def _passed(record: Record, one: Segment) -> bool:
    """A test or build that ran in it passed the last time, or a commit was made."""
    made = (each.op for each in record.references.values() if each.kind == "commit")
    ran = (each.op for each in record.commands.values() if each.kind and each.ok)
    return any(one.start_turn <= op <= one.end_turn for op in (*made, *ran))


def _offset(turn: Turn) -> int:
    return turn.place.offset
