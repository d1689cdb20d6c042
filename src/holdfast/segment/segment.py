"""A segment as it was cut, and what it is about by the session's record.

It holds its steps and files, when it was last mentioned, and a few words it is known by. What was
asked, whether it is done, its turns, failures and tasks are the record's: a segment takes those
between its two offsets, and judges nothing a second time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import TypeVar

import msgspec

from holdfast.record import open_items
from holdfast.record.failures import is_one_off
from holdfast.record.model import Decision, Failure, Place, Record, Task, Turn
from holdfast.segment.steps import EDITED, READ, SegmentStep, goes_on, is_name, one_line
from holdfast.text.sentences import clip, split
from holdfast.wire.mark import CHARS_PER_TOKEN

HOT, WARM, COLD = "hot", "warm", "cold"
MOST_FILES = 30
MOST_WORDS = 10
LONGEST_TOPIC = 140  # it stands whole wherever it is shown
LEAST_TOPIC = 24  # "ok great." names nothing: the sentence behind it goes with it
LONGEST_PART = 40
MOST_LINES, LEAST_LETTERS = 20, 3
_SIGNS = " \t#*->•|"
_QUOTES = "“„«¿¡"
_PAUSES = (", ", "; ", ": ", " - ", " \u2013 ", " — ", " (")
Placed = TypeVar("Placed", Turn, Failure, Task, Decision)


class Segment(msgspec.Struct):
    start_turn: int  # steps: the files of this format call them turns
    end_turn: int
    start_byte: int
    end_byte: int
    segment_id: str = ""  # see `identity`; none until its bytes were looked at
    first_uuid: str = ""
    last_uuid: str = ""
    started_at: str = ""
    ended_at: str = ""
    files: list[str] = []  # its own: those it changed, else those it read
    words: list[str] = []  # that tell it from the others
    tokens: int = 0  # characters / 3.5 of prompts, answers, tool inputs and results
    message_count: int = 0
    last_mention: int = 0
    tier: str = HOT

    @property
    def turns(self) -> int:
        return self.end_turn - self.start_turn + 1


def segment_of(
    steps: Sequence[SegmentStep], after: Sequence[SegmentStep], seen: Mapping[str, int]
) -> Segment:
    """Those steps as one segment; `after` are the steps read since, `seen` in how many segments
    each word stood before."""
    first, last = steps[0], steps[-1]
    found = Segment(
        start_turn=first.number,
        end_turn=last.number,
        start_byte=first.start,
        end_byte=after[0].start,
        first_uuid=first.first_uuid,
        last_uuid=last.last_uuid,
        started_at=first.at,
        ended_at=last.at,
        files=_files(steps),
        words=_distinctive(steps, seen),
        tokens=int(sum(step.chars for step in steps) / CHARS_PER_TOKEN),
        message_count=sum(step.messages for step in steps),
        last_mention=last.number,
    )
    for step in after:
        mention(found, step)
    return found


def mention(one: Segment, step: SegmentStep) -> bool:
    """A later step that touches one of its files, or names two of the words it is known by."""
    if step.number <= one.end_turn:
        return False
    touched = any(step.files.get(name, 0) >= READ for name in one.files)
    if not touched:
        named = [word for word in one.words if word in step.words]
        if len(named) < 2 or not (any(map(is_name, named)) or len(named) > 2 or step.is_prompted):
            return False
    one.last_mention = max(one.last_mention, step.number)
    return True


def _files(steps: Sequence[SegmentStep]) -> list[str]:
    how: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for step in steps:
        for name, degree in step.files.items():
            how[name] = max(degree, how.get(name, 0))
            counts[name] += degree
    own = EDITED if any(degree == EDITED for degree in how.values()) else READ
    found = [name for name in how if how[name] >= own]
    return sorted(found, key=lambda name: (-counts[name], name))[:MOST_FILES]


def _distinctive(steps: Sequence[SegmentStep], seen: Mapping[str, int]) -> list[str]:
    """Used often here and seldom before; a word said once tells nothing."""
    counts: Counter[str] = Counter()
    for step in steps:
        counts.update(step.words)
    known = max(seen.values(), default=0) + 2
    worth = {
        word: count * log(known / (1 + seen.get(word, 0)))
        for word, count in counts.items()
        if count > 1 and len(word) > 3
    }
    ranked = sorted(worth, key=lambda word: (-worth[word], word))
    return [word for word in ranked if worth[word] > 0][:MOST_WORDS]


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
    files = one_line(", ".join(name.rpartition("/")[2] for name in one.files[:2]), LONGEST_PART)
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
    told = [one_line(one, 4 * LONGEST_TOPIC) for one in _sentences(asked)] or [one_line(asked, 400)]
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
