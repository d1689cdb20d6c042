"""A segment as it was cut: which steps and files, and when it was last spoken of.

Nothing of what was said is kept in it but a few words it is known by. What was asked and whether it
is done tells the session's record, see `about`; the rest is in the transcript, between two bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

import msgspec

from holdfast.segment.steps import EDITED, READ, Step
from holdfast.segment.words import is_name
from holdfast.wire.mark import CHARS_PER_TOKEN

HOT, WARM, COLD = "hot", "warm", "cold"
MOST_FILES = 30
MOST_WORDS = 10


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


def segment_of(steps: Sequence[Step], after: Sequence[Step], seen: Mapping[str, int]) -> Segment:
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


def mention(one: Segment, step: Step) -> bool:
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


def _files(steps: Sequence[Step]) -> list[str]:
    how: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for step in steps:
        for name, degree in step.files.items():
            how[name] = max(degree, how.get(name, 0))
            counts[name] += degree
    own = EDITED if any(degree == EDITED for degree in how.values()) else READ
    found = [name for name in how if how[name] >= own]
    return sorted(found, key=lambda name: (-counts[name], name))[:MOST_FILES]


def _distinctive(steps: Sequence[Step], seen: Mapping[str, int]) -> list[str]:
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
