"""Cut a session into segments, one line at a time; no line is read twice.

The state holds the segments and the steps of the segment still open. Continuing from it gives the
same segments as reading everything again. The user's turns come from the session's record.

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
    """Return the id of the segment between two bytes of the transcript."""
    return segment_ids(session_id, transcript, [(start, end)])[0]


def segment_ids(
    session_id: str, transcript: str | os.PathLike[str], spans: Sequence[tuple[int, int]]
) -> list[str]:
    """Return the ids of several segments in file order; the file is read once. An id begins with
    its session's, so no two sessions share one."""
    data = session_id.encode("utf-8", "surrogatepass")
    head = places.plain(session_id)[:8].strip("%-_.") or "x"
    prefix = f"{head}-{digest(data)[:8]}"
    return [f"{prefix}_seg_{content[:ID_DIGITS]}" for content in _digests(transcript, spans)]


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
    asked_until: int = 0  # the user's words before this byte were added to their steps
    reading: steps.StepReading = msgspec.field(default_factory=steps.StepReading)
    open: list[SegmentStep] = []
    segments: list[Segment] = []
    seen: dict[str, int] = {}  # in how many segments a word occurred
    # offsets of lines that name a secret
    secret_lines: list[int] = msgspec.field(default_factory=list, name="told")

    @property
    def turn(self) -> int:
        """The step the session is at; the files of this format call it a turn."""
        return self.reading.count

    def since_mention(self, segment: Segment) -> int:
        return self.turn - segment.last_mention


def read(cut: Cut, path: str | os.PathLike[str], record: Record) -> Cut:
    """Read what the transcript has added; raises Unreadable without a file. `record` is the record
    of the whole file."""
    reader = Reader(path, start=cut.offset)
    secret_texts: list[tuple[int, str]] = []
    for entry in reader:
        if not entry.is_sidechain:
            _read_entry(cut, entry, record)
            secret_texts += [(entry.offset, text) for text in secrets.spoken(entry)]
    cut = _without_secrets(cut, path, secret_texts)
    _name(cut, path)
    cut.offset = reader.offset
    cut.read_from = storage.sign(os.fspath(path), cut.offset)
    return cut


def _without_secrets(
    cut: Cut, path: str | os.PathLike[str], secret_texts: list[tuple[int, str]]
) -> Cut:
    """Remove named secrets, also where they are quoted without their names."""
    known = secrets.ToldSecrets()
    known.hear_again(path, cut.secret_lines)
    known.hear(secret_texts)
    if not known.bare:
        return cut
    cut.secret_lines = sorted(known.lines)[-secrets.MOST_LINES :]
    return msgspec.json.decode(known.without(save(cut)), type=Cut)


def _name(cut: Cut, path: str | os.PathLike[str]) -> None:
    new = [segment for segment in cut.segments if not segment.segment_id]
    spans = [(segment.start_byte, segment.end_byte) for segment in new]
    for segment, name in zip(new, segment_ids(cut.session_id, path, spans), strict=True):
        segment.segment_id = name


def goes_on(cut: Cut, path: str) -> bool:
    """Return whether reading may continue: the file has only grown since."""
    sane = 0 <= cut.offset < storage.MOST and 0 <= cut.reading.count < storage.MOST
    return sane and cut.read_from == storage.sign(path, cut.offset) != ""


def _read_entry(cut: Cut, entry: Entry, record: Record) -> None:
    """Read one entry. An error costs only that entry; the first is logged, all are counted."""
    try:
        done = steps.feed(cut.reading, entry)
    except Exception as error:
        if "HOLDFAST_RAISE" in os.environ:  # set in tests, so that bugs are raised
            raise
        cut.lost += 1
        if cut.lost == 1:
            log.add("ERROR", "segments", f"byte {entry.offset} was passed over: {error!r}")
        return
    if done is not None:
        add_user_words(cut, done, record)
        add(cut, done)


def add_user_words(cut: Cut, step: SegmentStep, record: Record) -> None:
    """Add what the user said since the previous answer; turns are in the order of the transcript.
    Queued words are not added yet: they are delivered at a later place, or withdrawn."""
    first, last = cut.asked_until, step.start
    for turn in reversed(record.turns):
        if turn.place.offset < first:
            break
        if turn.asked and not turn.waits and turn.place.offset < last:
            steps.prompt(step, turn, cut.reading)
    cut.asked_until, step.prompt_lines = last, []


def add(cut: Cut, step: SegmentStep) -> None:
    """Add a step: it may mention earlier segments, and end the open one."""
    mention(cut.segments, step)
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
        stored = (segment for segment in cut.segments if segment.tier != HOT)
        cut.segments.remove(next(stored, cut.segments[0]))


def save(cut: Cut) -> bytes:
    return msgspec.json.encode(cut)


def load(data: bytes) -> Cut | None:
    """Load the saved state; None if it is unreadable or of another version: then cut again."""
    try:
        found = msgspec.json.decode(data, type=Cut)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found if found.version == VERSION else None


def queue_entry(known: Cut, segment: Segment, topic: str, now_ms: int) -> Pending:
    return Pending(
        segment_id=segment.segment_id,
        topic=topic,
        start_turn=segment.start_turn,
        end_turn=segment.end_turn,
        message_count=segment.message_count,
        turns_since_mention=known.since_mention(segment),
        queued_at_turn=known.turn,
        timestamp=formats.stamp(now_ms),
        start_byte=segment.start_byte,
        end_byte=segment.end_byte,
    )


def segment_from_queue(waiting: Pending) -> Segment:
    """Return a segment that the state has lost, as far as the queue knows it."""
    return Segment(
        segment_id=waiting.segment_id,
        start_turn=waiting.start_turn,
        end_turn=waiting.end_turn,
        start_byte=waiting.start_byte,
        end_byte=waiting.end_byte,
        message_count=waiting.message_count,
        tokens=int((waiting.end_byte - waiting.start_byte) / CHARS_PER_TOKEN),
    )
