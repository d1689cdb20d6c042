"""Cut a session into segments, one line at a time; what was read once is not read again.

The state is what was cut and the steps of the segment still open. Going on from it gives the same
segments as reading everything again: no judgement depends on where a reading stopped. Where the
user spoke is taken from the session's record.

The id of a segment is made of its session and the bytes of its turns. A transcript can be rewound,
restored or rewritten under the same session: the same turn is then another one, while earlier
turns may have stayed. An id made of the bytes tells them apart, and finds again what only moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from holdfast.files.digest import digest, sha256
from holdfast.record import Record, secrets, storage
from holdfast.segment import boundary, formats, steps
from holdfast.segment.formats import Pending
from holdfast.segment.segment import HOT, Segment, mention, segment_of
from holdfast.segment.steps import SegmentStep
from holdfast.transcript import Entry, Reader
from holdfast.transcript.reader import PIECE_BYTES, TranscriptSource
from holdfast.wire import log, places
from holdfast.wire.mark import CHARS_PER_TOKEN

ID_DIGITS = 12
VERSION = 2
MOST_SEGMENTS = 400
MOST_SEEN = 6000


def segment_id(session_id: str, transcript: str | os.PathLike[str], start: int, end: int) -> str:
    """Of the segment that the transcript holds between two bytes."""
    return segment_ids(session_id, transcript, [(start, end)])[0]


def segment_ids(
    session_id: str, transcript: str | os.PathLike[str], spans: Sequence[tuple[int, int]]
) -> list[str]:
    """Of several, one after the other in the file, which is read once. No two
    sessions share a name: it begins with the session's own."""
    data = session_id.encode("utf-8", "surrogatepass")
    head = places.plain(session_id)[:8].strip("%-_.") or "x"
    whose = f"{head}-{digest(data)[:8]}"
    return [f"{whose}_seg_{content[:ID_DIGITS]}" for content in _digests(transcript, spans)]


def _digests(transcript: str | os.PathLike[str], spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    if not spans:
        return
    with TranscriptSource(transcript) as source:
        at = spans[0][0]
        pieces = source.lines(at, PIECE_BYTES)
        for start, end in spans:
            content = sha256()
            while at < end and (data := next(pieces, b"")):
                content.update(data if at >= start else b"")
                at += len(data)
            yield str(content.hexdigest())


class Cut(msgspec.Struct):
    version: int = VERSION
    session_id: str = ""
    offset: int = 0
    read_from: str = ""  # see `storage.sign`
    lost: int = 0
    asked_until: int = 0  # words of the user before this byte are in their steps
    reading: steps.StepReading = msgspec.field(default_factory=steps.StepReading)
    open: list[SegmentStep] = []
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
    cut.read_from = storage.sign(os.fspath(path), cut.offset)
    return cut


def _without_secrets(cut: Cut, path: str | os.PathLike[str], heard: list[tuple[int, str]]) -> Cut:
    """Those told with their names, also where they are quoted without."""
    known = secrets.ToldSecrets()
    known.hear_again(path, cut.told)
    known.hear(heard)
    if not known.bare:
        return cut
    cut.told = sorted(known.lines)[-secrets.MOST_LINES :]
    return msgspec.json.decode(known.without(save(cut)), type=Cut)


def _name(cut: Cut, path: str | os.PathLike[str]) -> None:
    new = [one for one in cut.segments if not one.segment_id]
    spans = [(one.start_byte, one.end_byte) for one in new]
    for one, name in zip(new, segment_ids(cut.session_id, path, spans), strict=True):
        one.segment_id = name


def goes_on(cut: Cut, path: str) -> bool:
    """True when reading may go on from here: the file only grew since."""
    sane = 0 <= cut.offset < storage.MOST and 0 <= cut.reading.count < storage.MOST
    return sane and cut.read_from == storage.sign(path, cut.offset) != ""


def _take(cut: Cut, entry: Entry, record: Record) -> None:
    """One entry we stumble over costs that entry; the first is told, all are counted."""
    try:
        done = steps.feed(cut.reading, entry)
    except Exception as error:
        if "HOLDFAST_RAISE" in os.environ:  # set in tests, so our bugs stay loud to us
            raise
        cut.lost += 1
        if cut.lost == 1:
            log.add("ERROR", "segments", f"byte {entry.offset} was passed over: {error!r}")
        return
    if done is not None:
        hear_user(cut, done, record)
        add(cut, done)


def hear_user(cut: Cut, step: SegmentStep, record: Record) -> None:
    """What the user said since the answer before; turns stand in the order of the transcript. Words
    that wait are not heard yet: they are handed over at a later place, or taken back."""
    first, last = cut.asked_until, step.start
    for turn in reversed(record.turns):
        if turn.place.offset < first:
            break
        if turn.asked and not turn.waits and turn.place.offset < last:
            steps.prompt(step, turn, cut.reading)
    cut.asked_until, step.heard = last, []


def add(cut: Cut, step: SegmentStep) -> None:
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
    """Past the limit, drop the oldest segment that is stored, else the oldest."""
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


def queue_entry(known: Cut, one: Segment, topic: str, now_ms: int) -> Pending:
    return Pending(
        segment_id=one.segment_id,
        topic=topic,
        start_turn=one.start_turn,
        end_turn=one.end_turn,
        message_count=one.message_count,
        turns_since_mention=known.since_mention(one),
        queued_at_turn=known.turn,
        timestamp=formats.stamp(now_ms),
        start_byte=one.start_byte,
        end_byte=one.end_byte,
    )


def segment_from_queue(waiting: Pending) -> Segment:
    """As much as the queue knows of a segment the cut has lost."""
    return Segment(
        segment_id=waiting.segment_id,
        start_turn=waiting.start_turn,
        end_turn=waiting.end_turn,
        start_byte=waiting.start_byte,
        end_byte=waiting.end_byte,
        message_count=waiting.message_count,
        tokens=int((waiting.end_byte - waiting.start_byte) / CHARS_PER_TOKEN),
    )
