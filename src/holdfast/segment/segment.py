"""Segments: runs of turns about the same thing, made from the session's record.

A turn continues the segment before it, unless it works in other folders and in other words; after
30 steps new words are enough. Replies and small turns always continue it. Nothing is stored: the
same record gives the same segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from holdfast.checkpoint import sections
from holdfast.files.folders import digest
from holdfast.record import commands, open_items
from holdfast.record.model import FailedRun, Place, Record, Task, Turn
from holdfast.record.turns import TERSE_CHARS, is_answer, width
from holdfast.text.fence import flat
from holdfast.text.sentences import is_prose, split, telling
from holdfast.wire import places

SAID = 0.5  # a request in other folders, of whose words less were said before, begins a segment
SAID_HERE, LONG_STEPS = 0.25, 30  # the same in any folder, after so many steps
LEAST_WORDS = 4  # telling ones; fewer name no topic
LEAST_STEPS = 5  # fewer are no topic of their own
MOST_FILES = 30
CLIENTS = "/.claude/"
LONGEST_TOPIC, ENOUGH_TOPIC = 140, 60
MOST_LINES = 20
ID_DIGITS, ID_CHARS = 12, 40
_SIGNS = " \t#*->•|`"


class Segment(msgspec.Struct):
    """A run of turns that is over; what the formats on disk call turns are steps, from 1."""

    segment_id: str
    turns: list[Turn]
    start_turn: int
    end_turn: int
    start_byte: int
    end_byte: int
    files: list[str]  # that were changed; if there are none, those that were read
    last_mention: int  # the last step that touched one of them, or its own last one

    @property
    def message_count(self) -> int:
        """Prompts, answers and results: a turn ends with an answer that has no result."""
        return 2 * (self.end_turn - self.start_turn + 1)


def segments(record: Record, session_id: str) -> list[Segment]:
    """Return the segments that are over, oldest first: all but the last run of turns."""
    turns = [turn for turn in record.turns if not turn.waits]
    starts = list(_starts(turns, record.op))
    found = []
    for start, end in pairwise(starts):
        run, following = turns[start:end], turns[end].place
        files = _files(run)
        last_mention = _last_mention(set(files), turns[end:], record.op)
        found.append(
            Segment(
                *(_segment_id(session_id, run), run, run[0].place.op + 1, following.op),
                *(run[0].place.offset, following.offset, files, max(following.op, last_mention)),
            )
        )
    return found


def _starts(turns: Sequence[Turn], last_step: int) -> Iterator[int]:
    """Yield where each run of turns begins."""
    start, files, words = -1, set[str](), set[str]()
    ends = [*(turn.place.op for turn in turns[1:]), last_step]
    for at, (turn, end) in enumerate(zip(turns, ends, strict=True)):
        before, steps = turn.place.op - turns[start].place.op, end - turn.place.op
        is_large = min(before, steps) >= LEAST_STEPS
        if start < 0 or (is_large and _begins(turn, files, words, is_long=before > LONG_STEPS)):
            yield at
            start, files, words = at, set(), set()
        files |= _touched(turn)
        words |= telling(f"{turn.asked} {turn.said}")


def _begins(turn: Turn, files: set[str], words: set[str], *, is_long: bool) -> bool:
    """Return whether a turn begins a segment, after work on these files in these words."""
    touched, asked = _touched(turn), telling(turn.asked)
    if is_answer(turn.reply_to) or len(asked) < LEAST_WORDS:
        return False
    turns_away = bool(touched and files) and _places(touched).isdisjoint(_places(files))
    share = SAID if turns_away else SAID_HERE
    return (turns_away or is_long) and len(asked & words) < share * len(asked)


def _touched(turn: Turn) -> set[str]:
    """Return the files of a turn, without the client's own: every topic has notes and plans."""
    names = (*turn.edited, *turn.read)
    return {name for name in names if not (name[:1] == "/" and CLIENTS in name)}


def _places(files: set[str]) -> set[str]:
    """Return their folders; files at the top of the project stand for themselves."""
    return {name.rpartition("/")[0] or name for name in files}


def _files(turns: Sequence[Turn]) -> list[str]:
    """List the files, those of most turns first."""
    counts = Counter(name for turn in turns for name in turn.edited)
    counts = counts or Counter(name for turn in turns for name in turn.read)
    return [name for name, _ in counts.most_common(MOST_FILES)]


def _last_mention(files: set[str], turns: Sequence[Turn], last_step: int) -> int:
    """Return the end of the last of these turns that touched one of the files."""
    ends = [*(turn.place.op for turn in turns[1:]), last_step]
    touching = (
        end for turn, end in zip(turns, ends, strict=True) if not files.isdisjoint(_touched(turn))
    )
    return max(touching, default=0)


def _segment_id(session_id: str, turns: Sequence[Turn]) -> str:
    """Return an id that begins with its session's, so that no two sessions share one. It is
    made of the times and first words of its turns, so turns that only moved are found again."""
    head = places.plain(session_id)[:8].strip("%-_.") or "x"
    session = digest(session_id.encode("utf-8", "surrogatepass"))[:8]
    named = "\n".join(f"{turn.place.at} {turn.chars} {turn.asked[:ID_CHARS]}" for turn in turns)
    return f"{head}-{session}_seg_{digest(named.encode())[:ID_DIGITS]}"


def holds(segment: Segment, place: Place) -> bool:
    return segment.start_byte <= place.offset < segment.end_byte


def topic(record: Record, segment: Segment) -> str:
    """Return what was asked: the first request that says something; if all are short, the first
    one with what it answers."""
    asked = next((turn.asked for turn in segment.turns if width(turn.asked) > TERSE_CHARS), "")
    return name_of(asked or sections.title(record, record.turns.index(segment.turns[0])))


def name_of(asked: str) -> str:
    """Return the first sentences until they say enough. Commands and printed lines, of which less
    than half are plain words, are used only if there is nothing else."""
    rows = (row.strip(_SIGNS) for row in asked.splitlines()[:MOST_LINES])
    sentences = [sentence for row in rows for sentence in split(row)]
    name = ""
    for sentence in [one for one in sentences if is_prose(one)] or sentences:
        name = f"{name} {sentence}".strip()
        if len(name) >= ENOUGH_TOPIC:
            break
    return flat(name, LONGEST_TOPIC)


def is_done(record: Record, segment: Segment) -> bool:
    """Return whether the tasks that began in it are closed, or, if there was none, its last request
    was answered; and whether nothing that failed in it has failed since."""
    if open_tasks(record, segment) or _fails_since(record, segment):
        return False
    listed = any(holds(segment, task.place) for task in record.tasks.values())
    last = segment.turns[-1]
    return listed or (bool(last.said) and not last.interrupted and not last.works_on)


def open_tasks(record: Record, segment: Segment) -> list[Task]:
    return [task for task in open_items.tasks(record) if holds(segment, task.place)]


def failures(record: Record, segment: Segment) -> list[tuple[str, FailedRun]]:
    """List the commands that failed in the segment, each with its newest failure there."""
    found = ((key, one.failed) for key, one in record.commands.items())
    return [
        (key, failed)
        for key, failed in found
        if failed is not None and failed.lines and holds(segment, failed.place)
    ]


def _fails_since(record: Record, segment: Segment) -> bool:
    answered = segment.turns[-1].said_op
    return any(
        holds(segment, failed.first) and failed.place.op > answered
        for _, failed in commands.unsettled(record)
    )
