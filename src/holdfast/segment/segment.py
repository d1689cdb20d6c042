"""A segment as it was cut, and its topic according to the session's record.

It holds its steps and files, when it was last mentioned, and its characteristic words. Requests,
turns, failures, tasks and whether it is done come from the record: a segment uses those between its
two offsets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log
from typing import TypeVar

import msgspec

from holdfast.record import commands, open_items
from holdfast.record.model import Decision, FailedRun, Place, Record, Task, Turn
from holdfast.segment.steps import EDITED, READ, SegmentStep, goes_on, is_name, one_line
from holdfast.text.sentences import clip, split
from holdfast.wire.mark import CHARS_PER_TOKEN

HOT, WARM, COLD = "hot", "warm", "cold"
MOST_FILES = 30
MOST_WORDS = 10
MOST_NAMED = 3  # segments that one step can name
LONGEST_TOPIC = 140  # it is never shortened where it is shown
LEAST_TOPIC = 24  # "ok great." names nothing: the next sentence, or a part of it, is added
ENOUGH_TOPIC = 60  # "First, we have a small bug." says little: the next one is added if it fits
LONGEST_PART = 40
MOST_LINES, LEAST_LETTERS = 20, 3
_SIGNS = " \t#*->•|"
_QUOTES = "“„«¿¡"
_PAUSES = (", ", "; ", ": ", " - ", " \u2013 ", " — ", " (")
Placed = TypeVar("Placed", Turn, Task, Decision)


class Segment(msgspec.Struct):
    start_turn: int  # steps: the files of this format call them turns
    end_turn: int
    start_byte: int
    end_byte: int
    segment_id: str = ""  # made from its bytes; empty until they were read
    first_uuid: str = ""
    last_uuid: str = ""
    started_at: str = ""
    ended_at: str = ""
    files: list[str] = []  # its own: those it changed, else those it read
    words: list[str] = []  # its characteristic words
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
    """Make a segment of these steps; `after` are the steps read since, `seen` says in how many
    segments each word occurred before."""
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
        mention([found], step)
    return found


def mention(segments: Sequence[Segment], step: SegmentStep) -> None:
    """Note which earlier segments a step mentions: by a file, or by their words. A text with the
    words of many of them, such as a report on the whole session, singles out none."""
    earlier = [one for one in segments if one.end_turn < step.number]
    touched = [one for one in earlier if _is_touched(one, step)]
    named = [one for one in earlier if _is_named(one, step)]
    for one in [*touched, *(named if len(named) <= MOST_NAMED else ())]:
        one.last_mention = max(one.last_mention, step.number)


def _is_touched(segment: Segment, step: SegmentStep) -> bool:
    return any(step.files.get(name, 0) >= READ for name in segment.files)


def _is_named(segment: Segment, step: SegmentStep) -> bool:
    """Return whether the step has two of its words, one of them a name; in plain words three, or
    two if the user speaks."""
    named = [word for word in segment.words if word in step.words]
    if len(named) < 2:
        return False
    return any(map(is_name, named)) or len(named) > 2 or step.is_prompted


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
    """Return the words used often here and seldom before; a word used once does not count."""
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


def turns(record: Record, segment: Segment) -> list[Turn]:
    """Return the turns that begin in the segment."""
    return [turn for turn in within(record.turns, segment) if turn.asked]


def within(found: Sequence[Placed], segment: Segment) -> list[Placed]:
    return [each for each in found if holds(segment, each.place)]


def holds(segment: Segment, place: Place) -> bool:
    return segment.start_byte <= place.offset < segment.end_byte


def topic(record: Record, segment: Segment) -> str:
    """Return the request that took the most steps. For a part of a longer turn: that turn's
    request, with the files that were changed."""
    own = turns(record, segment)
    requests = [turn for turn in own if not goes_on(turn)]
    if requests:
        return name_of(_longest(requests, own, segment).asked)
    begins = own[:1] and own[0].place.offset == segment.start_byte
    asked = _longest(own, own, segment).asked if begins else part_of(record, segment)
    files = one_line(", ".join(name.rpartition("/")[2] for name in segment.files[:2]), LONGEST_PART)
    name = name_of(asked)
    return f"{name} ({files})" if name and files else name or files


def _longest(some: Sequence[Turn], own: Sequence[Turn], segment: Segment) -> Turn:
    """Return which of some of its turns took the most steps."""
    ends = [*(turn.place.op for turn in own[1:]), segment.end_turn]
    took = {turn.place: end - turn.place.op for turn, end in zip(own, ends, strict=True)}
    return max(some, key=lambda turn: took[turn.place])


def part_of(record: Record, segment: Segment) -> str:
    """Return the request under way when it began; empty if it begins with one."""
    own = turns(record, segment)
    if own and not goes_on(own[0]):
        return ""
    before = record.turns[: bisect_left(record.turns, segment.start_byte, key=_offset)]
    asked = [turn for turn in before if turn.asked]
    last = next((turn for turn in reversed(asked) if not goes_on(turn)), asked[-1:] and asked[-1])
    return last.asked if last else ""


def name_of(asked: str) -> str:
    """Return whole sentences until they say enough; of one that is too long, whole clauses. Words
    that only introduce the next line ("the following plan:") include it."""
    sentences = [one_line(sentence, 4 * LONGEST_TOPIC) for sentence in _sentences(asked)]
    name, *rest = sentences or [one_line(asked, 400)]
    while rest and _says_little(name) and len(name) + len(rest[0]) < LONGEST_TOPIC:
        name = f"{name} {rest.pop(0)}"
    if rest and _leads_on(name):
        name = f"{name} {rest[0]}"
    return name if len(name) <= LONGEST_TOPIC else _clauses(name)


def _says_little(name: str) -> bool:
    """Return whether the next sentence is needed; a heading, which ends without a sign, is not
    continued by the text below it."""
    return _leads_on(name) or (len(name) < ENOUGH_TOPIC and name.endswith((".", "!", "?")))


def _leads_on(name: str) -> bool:
    return len(name) < LEAST_TOPIC or name.endswith(":")


def _sentences(asked: str) -> Iterator[str]:
    """Yield the sentences of lines with words; printed and quoted lines only if there are no
    others."""
    rows = [row for row in map(str.strip, asked.splitlines()[:MOST_LINES]) if row]
    for row in [row for row in rows if not _is_printed(row)] or rows:
        for sentence in split(row.strip(_SIGNS)):
            if sum(map(str.isalnum, sentence)) >= LEAST_LETTERS:
                yield sentence


def _is_printed(row: str) -> bool:
    """Return whether the line begins with a sign that is on no keyboard, or is a quotation."""
    is_sign = row[0] > "\x7f" and not row[0].isalnum() and row[0] not in _QUOTES
    return is_sign or row.startswith("> ")


def _clauses(sentence: str) -> str:
    head = clip(sentence, LONGEST_TOPIC)
    end = max(head.rfind(pause) for pause in _PAUSES)
    if end >= LEAST_TOPIC:
        return head[:end]
    return head[: head.rfind(" ") if " " in head else LONGEST_TOPIC].rstrip(" ,;:") + " …"


def is_done(record: Record, segment: Segment) -> bool:
    """Return whether the request was answered (or, within a turn, a run passed) and nothing that
    began in the segment is still open."""
    if find_unresolved(record, segment) or left_to_do(record, segment):
        return False
    return is_answered(record, segment) or (
        _ends_within_turn(record, segment) and _passed(record, segment)
    )


def find_unresolved(record: Record, segment: Segment) -> list[tuple[str, FailedRun]]:
    """Return the commands that failed in the segment and have not succeeded since."""
    return [pair for pair in commands.unsettled(record) if holds(segment, pair[1].place)]


def left_to_do(record: Record, segment: Segment) -> list[Task]:
    return within(open_items.tasks(record), segment)


def is_answered(record: Record, segment: Segment) -> bool:
    """Return whether its last turn ended with an answer and the user then spoke again."""
    at = bisect_left(record.turns, segment.end_byte, key=_offset)
    if not 0 < at < len(record.turns):
        return False
    turn, following = record.turns[at - 1], record.turns[at]
    return not turn.interrupted and bool(turn.said) and turn.said_op == following.place.op


def _ends_within_turn(record: Record, segment: Segment) -> bool:
    """Return whether work on the request continues after it."""
    return not any(turn.place.offset == segment.end_byte for turn in record.turns)


def _passed(record: Record, segment: Segment) -> bool:
    """Return whether its last test or build passed."""
    ran = (each.op for each in record.commands.values() if each.ok)
    return any(segment.start_turn <= op <= segment.end_turn for op in ran)


def _offset(turn: Turn) -> int:
    return turn.place.offset
