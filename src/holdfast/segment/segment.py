"""A segment as it was cut: which turns and files, when it was last spoken of, whether it is done.

Nothing of what was said is kept in it but its topic and a few words it is known by; the rest is in
the transcript, between two bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

import msgspec

from holdfast.segment.formats import CHARS_PER_TOKEN
from holdfast.segment.plain import is_pasted
from holdfast.segment.turn import EDITED, READ, Turn
from holdfast.segment.words import is_name

HOT, WARM, COLD = "hot", "warm", "cold"
LONGEST_TOPIC, SHORT_TOPIC = 100, 40
MOST_FILES = 30
MOST_WORDS = 10
AT_ITS_END = 3  # turns in which tests passed or a commit was made
_ASKS = frozenset({"request", "question"})


class Segment(msgspec.Struct):
    start_turn: int
    end_turn: int
    start_byte: int
    end_byte: int
    segment_id: str = ""  # see `identity`; none until its bytes were looked at
    first_uuid: str = ""
    last_uuid: str = ""
    started_at: str = ""
    ended_at: str = ""
    topic: str = ""
    part_of: str = ""  # the request it belongs to, where that was made before it
    files: list[str] = []  # its own: those it changed, else those it read
    words: list[str] = []  # that tell it from the others
    tokens: int = 0  # characters / 3.5 of prompts, answers, tool inputs and results
    message_count: int = 0
    last_mention: int = 0
    completed: str = ""  # how it is known: tasks, passed, answered
    stopped: bool = False
    tier: str = HOT

    @property
    def turns(self) -> int:
        return self.end_turn - self.start_turn + 1


def segment_of(
    turns: Sequence[Turn],
    after: Sequence[Turn],
    seen: Mapping[str, int],
    request: str = "",
) -> Segment:
    """Those turns as one segment; `after` are the turns read since, `seen` in how many segments
    each word stood before, `request` what was being worked on when it began."""
    first, last = turns[0], turns[-1]
    found = Segment(
        start_turn=first.number,
        end_turn=last.number,
        start_byte=first.start,
        end_byte=last.end,
        first_uuid=first.first_uuid,
        last_uuid=last.last_uuid,
        started_at=first.at,
        ended_at=last.at,
        files=_files(turns),
        words=_distinctive(turns, seen),
        tokens=int(sum(turn.chars for turn in turns) / CHARS_PER_TOKEN),
        message_count=sum(turn.messages for turn in turns),
        part_of="" if first.asked else _first_words(request),
        last_mention=last.number,
        completed=_completed(turns, after),
        stopped=last.stopped,
    )
    found.topic = topic(turns, found.files, found.words)
    for turn in after:
        mention(found, turn)
    return found


def topic(turns: Sequence[Turn], files: Sequence[str], words: Sequence[str]) -> str:
    """The request it begins with, in its first words; else its task; else its files and words."""
    early = turns[: max(1, len(turns) // 3)]
    asked = [turn.asked for turn in early if turn.kind == "request"] or [turns[0].asked]
    asked = [text for text in asked if not is_pasted(text)] or [""]
    best = max(asked, key=lambda text: min(len(text), LONGEST_TOPIC))
    names = ", ".join(name.rpartition("/")[2] for name in files[:2])
    if best:
        more = f" ({names})" if names and len(best) < SHORT_TOPIC else ""
        return _first_words(best) + more
    if doing := next((turn.doing for turn in turns[: len(turns) // 2] if turn.doing), ""):
        return _first_words(doing)
    return _first_words(": ".join(filter(None, (names, ", ".join(words[:4])))))


def mention(one: Segment, turn: Turn) -> bool:
    """A later turn that touches one of its files, or names two of the words it is known by."""
    if turn.number <= one.end_turn:
        return False
    touched = any(turn.files.get(name, 0) >= READ for name in one.files)
    if not touched:
        named = [word for word in one.words if word in turn.words]
        if len(named) < 2 or not (any(map(is_name, named)) or len(named) > 2 or turn.asked):
            return False
    one.last_mention = max(one.last_mention, turn.number)
    return True


def moves_on(before: Turn, turn: Turn) -> bool:
    """The user asks anew once the model had come to rest: what was asked before is done."""
    return turn.kind in _ASKS and before.rests and not before.stopped


def _completed(turns: Sequence[Turn], after: Sequence[Turn]) -> str:
    told = [turn for turn in turns if turn.began or turn.finished]
    if told and told[-1].finished:
        return "tasks"
    end = [turn for turn in turns[-AT_ITS_END:] if turn.passed or turn.failed]
    if end and end[-1].passed and not end[-1].failed:
        return "passed"
    if turns[-1].stopped:
        return ""
    both = (turns[-1], *after)
    if any(moves_on(one, then) for one, then in zip(both, after, strict=False)):
        return "answered"
    return ""


def _files(turns: Sequence[Turn]) -> list[str]:
    how: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for turn in turns:
        for name, degree in turn.files.items():
            how[name] = max(degree, how.get(name, 0))
            counts[name] += degree
    own = EDITED if any(degree == EDITED for degree in how.values()) else READ
    found = [name for name in how if how[name] >= own]
    return sorted(found, key=lambda name: (-counts[name], name))[:MOST_FILES]


def _distinctive(turns: Sequence[Turn], seen: Mapping[str, int]) -> list[str]:
    """Used often here and seldom before; a word said once tells nothing."""
    counts: Counter[str] = Counter()
    for turn in turns:
        counts.update(turn.words)
    known = max(seen.values(), default=0) + 2
    worth = {
        word: count * log(known / (1 + seen.get(word, 0)))
        for word, count in counts.items()
        if count > 1 and len(word) > 3
    }
    ranked = sorted(worth, key=lambda word: (-worth[word], word))
    return [word for word in ranked if worth[word] > 0][:MOST_WORDS]


def _first_words(text: str) -> str:
    words = " ".join(mark for mark in text.split() if mark.isprintable())
    cut = words[:LONGEST_TOPIC]
    return words if len(words) <= LONGEST_TOPIC else cut.rpartition(" ")[0].rstrip(" ,;:") + " …"
