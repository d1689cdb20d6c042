"""Cutting a session into segments, a line at a time; what was read once is not read again.

The state is what was cut and the steps of the segment still open. Going on from it gives the same
segments as reading everything anew: no judgement looks at where a reading happened to stop. Where
the user spoke is taken from the session's record.
"""

from __future__ import annotations

import os

import msgspec

from holdfast.record import Record, same_file, secrets
from holdfast.segment import boundary, identity, steps
from holdfast.segment.segment import HOT, Segment, mention, segment_of
from holdfast.segment.steps import Step
from holdfast.transcript import Entry, Reader
from holdfast.wire import log

VERSION = 2
MOST_SEGMENTS = 400
MOST_SEEN = 6000


class Cut(msgspec.Struct):
    version: int = VERSION
    session_id: str = ""
    offset: int = 0
    read_from: str = ""  # see `same_file`
    lost: int = 0
    asked_until: int = 0  # words of the user before this byte are in their steps
    reading: steps.Reading = msgspec.field(default_factory=steps.Reading)
    open: list[Step] = []
    segments: list[Segment] = []
    seen: dict[str, int] = {}  # in how many segments a word stood
    told: list[int] = []  # lines that told a secret with its name

    @property
    def turn(self) -> int:
        """The step the session is at; the files of this format call it a turn."""
        return self.reading.count

    def since_mention(self, one: Segment) -> int:
        return self.turn - one.last_mention


def read(cut: Cut, path: str | os.PathLike[str], record: Record) -> Cut:
    """Everything the transcript holds past the place reached before; Unreadable without a file.
    `record` is of the same file, as far as it goes now."""
    reader = Reader(path, start=cut.offset)
    heard: list[tuple[int, str]] = []
    for entry in reader:
        if not entry.is_sidechain:
            _take(cut, entry, record)
            heard += [(entry.offset, text) for text in secrets.spoken(entry)]
    cut = _without_secrets(cut, path, heard)
    _name(cut, path)
    cut.offset = reader.offset
    cut.read_from = same_file.sign(os.fspath(path), cut.offset)
    return cut


def _without_secrets(cut: Cut, path: str | os.PathLike[str], heard: list[tuple[int, str]]) -> Cut:
    """Those told with their names, also where they are quoted without."""
    known = secrets.Known()
    known.hear_again(path, cut.told)
    known.hear(heard)
    if not known.bare:
        return cut
    cut.told = sorted(known.lines)[-secrets.MOST_LINES :]
    return msgspec.json.decode(known.without(save(cut)), type=Cut)


def _name(cut: Cut, path: str | os.PathLike[str]) -> None:
    new = [one for one in cut.segments if not one.segment_id]
    spans = [(one.start_byte, one.end_byte) for one in new]
    for one, name in zip(new, identity.names(cut.session_id, path, spans), strict=True):
        one.segment_id = name


def goes_on(cut: Cut, path: str) -> bool:
    """True when reading may go on from here: the file only grew since."""
    sane = 0 <= cut.offset < same_file.MOST and 0 <= cut.reading.count < same_file.MOST
    return sane and cut.read_from == same_file.sign(path, cut.offset) != ""


def _take(cut: Cut, entry: Entry, record: Record) -> None:
    """One entry we stumble over costs that entry; the first is told, all are counted."""
    try:
        done = steps.feed(cut.reading, entry)
    except Exception as slip:
        if "HOLDFAST_RAISE" in os.environ:  # set in tests, so our bugs stay loud to us
            raise
        cut.lost += 1
        if cut.lost == 1:
            log.add("ERROR", "segments", f"byte {entry.offset} was passed over: {slip!r}")
        return
    if done is not None:
        hear_user(cut, done, record)
        add(cut, done)


def hear_user(cut: Cut, step: Step, record: Record) -> None:
    """What the user said since the answer before; turns stand in the order of the transcript. Words
    that wait are not heard yet: they are handed over at a later place, or taken back."""
    first, last = cut.asked_until, step.start
    for turn in reversed(record.turns):
        if turn.place.offset < first:
            break
        if turn.asked and not turn.waits and turn.place.offset < last:
            steps.prompt(step, turn, cut.reading)
    cut.asked_until, step.heard = last, []


def add(cut: Cut, step: Step) -> None:
    """One more step: it may mention what was cut before, and end what is open."""
    for one in cut.segments:
        mention(one, step)
    cut.open.append(step)
    at = len(cut.open) - boundary.AHEAD
    if at > 0 and boundary.is_boundary(cut.open, at):
        _close(cut, at)
    elif len(cut.open) > boundary.MOST_STEPS + boundary.AHEAD:
        _close(cut, boundary.weakest(cut.open))


def _close(cut: Cut, at: int) -> None:
    done, cut.open = cut.open[:at], cut.open[at:]
    cut.segments.append(segment_of(done, cut.open, cut.seen))
    for word in {word: 0 for step in done for word in step.words}:
        if word in cut.seen or len(cut.seen) < MOST_SEEN:
            cut.seen[word] = cut.seen.get(word, 0) + 1
    _thin(cut)


def _thin(cut: Cut) -> None:
    """Past the bound the oldest goes that is on the shelf, else the oldest."""
    if len(cut.segments) > MOST_SEGMENTS:
        shelved = (one for one in cut.segments if one.tier != HOT)
        cut.segments.remove(next(shelved, cut.segments[0]))


def save(cut: Cut) -> bytes:
    return msgspec.json.encode(cut)


def load(data: bytes) -> Cut | None:
    """What was saved; None when it is not ours, or of another version: then cut anew."""
    try:
        found = msgspec.json.decode(data, type=Cut)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found if found.version == VERSION else None
