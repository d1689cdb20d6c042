"""Cut a session into segments, one line at a time; no line is read twice.

The state holds the segments and the steps of the segment still open. Continuing from it gives the
same segments as reading everything again. The user's turns come from the session's record.

A turn of the user begins a segment, unless its words answer the model, are very short, or continue
with the same files and words. Within one long turn, a segment begins where files and words change
together (TextTiling on what was said, touched and run). A compaction is no boundary. Two runs of
steps are compared by the files they touch and the words they use.

The id of a segment is made of its session and the bytes of its turns. A transcript can be rewound,
restored or rewritten under the same session: the same turn is then another one, while earlier
turns may have stayed. An id made of the bytes tells them apart, and finds again what only moved.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from holdfast.files.digest import digest, sha256
from holdfast.record import secrets, storage
from holdfast.record.model import Record
from holdfast.segment import formats, steps
from holdfast.segment.formats import Pending
from holdfast.segment.segment import HOT, Segment, mention, segment_of
from holdfast.segment.steps import SegmentStep
from holdfast.transcript.entries import Entry
from holdfast.transcript.reader import PIECE_BYTES, Reader, TranscriptSource
from holdfast.wire import log, places
from holdfast.wire.errors import describe
from holdfast.wire.mark import CHARS_PER_TOKEN

ID_DIGITS = 12
VERSION = 3
MOST_SEGMENTS = 400
MOST_SEEN = 6000
LEAST_WORDS = 5
SAME_FOLDER = 0.35  # weight of a file's folder beside the file itself
AHEAD = 8  # steps needed after a gap before it is judged
BEFORE, AFTER = 10, 5  # steps compared where the user speaks
BEFORE_WITHIN, AFTER_WITHIN = 14, 8  # steps compared within a turn, where changes are smaller
LEAST_STEPS = 3  # fewer steps are not a topic: they join the next one
LEAST_WITHIN = 10  # within one turn
MOST_STEPS = 90  # longer segments are cut at the weakest gap


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
    secret_lines: list[int] = []  # in which secrets are named: `secrets.ToldSecrets.lines`

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
    known = _known_secrets(cut, path, secret_texts)
    cut = _without_secrets(cut, path, known)
    _name(cut, path)
    cut.offset = reader.offset
    cut.read_from = storage.sign(os.fspath(path), cut.offset)
    return cut


def _known_secrets(
    cut: Cut, path: str | os.PathLike[str], secret_texts: list[tuple[int, str]]
) -> secrets.ToldSecrets:
    known = secrets.ToldSecrets()
    known.hear_again(path, cut.secret_lines)
    known.hear(secret_texts)
    return known


def _without_secrets(cut: Cut, path: str | os.PathLike[str], known: secrets.ToldSecrets) -> Cut:
    """Remove named secrets, also where they are quoted without their names."""
    if not known.bare:
        return cut
    cut.secret_lines = known.lines
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
            log.add("ERROR", "segments", f"byte {entry.offset} was passed over: {describe(error)}")
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
    at = len(cut.open) - AHEAD
    if at > 0 and is_boundary(cut.open, at):
        _close(cut, at)
    elif len(cut.open) > MOST_STEPS + AHEAD:
        _close(cut, weakest(cut.open))


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


def lexical(one: Sequence[SegmentStep], other: Sequence[SegmentStep]) -> float:
    """Return the cosine of their words, 0 to 1; -1 if either has too few words to compare."""
    left, right = (_bag(step.words for step in side) for side in (one, other))
    return _cosine(left, right, least=LEAST_WORDS)


def by_files(one: Sequence[SegmentStep], other: Sequence[SegmentStep]) -> float:
    """Return the cosine of their files and folders; -1 if either touches none."""
    return _cosine(_places(one), _places(other), least=1)


def _bag(tables: Iterable[Mapping[str, int]]) -> dict[str, float]:
    counts: Counter[str] = Counter()
    for table in tables:
        counts.update(table)
    return {word: 1 + math.log(count) for word, count in counts.items()}


def _places(steps: Sequence[SegmentStep]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for step in steps:
        for name, how in step.files.items():
            weights[name] = weights.get(name, 0.0) + how
            folder = name.rpartition("/")[0] + "/"
            weights[folder] = weights.get(folder, 0.0) + how * SAME_FOLDER
    return {name: math.sqrt(weight) for name, weight in weights.items()}


def _cosine(one: Mapping[str, float], other: Mapping[str, float], least: int) -> float:
    if len(one) < least or len(other) < least:
        return -1.0
    shared = sum(weight * other[key] for key, weight in one.items() if key in other)
    length = math.sqrt(sum(w * w for w in one.values())) * math.sqrt(
        sum(w * w for w in other.values())
    )
    return shared / length if length else -1.0


def is_boundary(steps: Sequence[SegmentStep], at: int) -> bool:
    """Return whether a segment begins with `steps[at]`, if all steps before it are one segment."""
    if at < LEAST_STEPS:
        return False
    if steps[at].is_prompted:
        return steps[at].asks and _turns_away(steps, at)
    return at >= LEAST_WITHIN and not _is_near_prompt(steps, at) and _moves_on(steps, at)


def weakest(steps: Sequence[SegmentStep]) -> int:
    """Return where to cut a segment that has become too long."""
    gaps = range(LEAST_WITHIN, len(steps) - AHEAD)
    return min(gaps, key=lambda at: (_likeness(steps, at), -at))


def _turns_away(steps: Sequence[SegmentStep], at: int) -> bool:
    """Compare files and words on both sides; without files, words alone.

    Most questions are about what was just done, so a question begins a topic only if it shares
    almost nothing.
    """
    left, right = steps[max(0, at - BEFORE) : at], steps[at : at + AFTER]
    files, words = by_files(left, right), lexical(left, right)
    if steps[at].inquires:
        return files < 0.1 and words < 0.15
    if files < 0:
        return words < 0.4
    return not (files > 0.6 and not 0 <= words <= 0.35)


def _is_near_prompt(steps: Sequence[SegmentStep], at: int) -> bool:
    """Return whether the user has just spoken or is about to. Only words count there: the last
    steps of a turn, its tests and its report, are no topic of their own."""
    return any(step.is_prompted for step in steps[at - 1 : at + AHEAD])


def _moves_on(steps: Sequence[SegmentStep], at: int) -> bool:
    """Return whether both files and words change here, and no gap nearby is a greater change."""
    files, words = _within(steps, at)
    if not (0 <= files < 0.08 and 0 <= words < 0.2):
        return False
    if not any(step.files for step in steps[at : at + 2]):
        return False  # tests and reports belong to what they end; the next topic begins later
    around = [one for one in range(at - 2, at + 3) if LEAST_STEPS <= one < len(steps) - 1]
    return _likeness(steps, at) <= min(_likeness(steps, one) for one in around)


def _likeness(steps: Sequence[SegmentStep], at: int) -> float:
    """Return how alike both sides of a gap are; sides that cannot be compared count as alike."""
    files, words = _within(steps, at)
    return (0.5 if files < 0 else files) + (0.5 if words < 0 else words)


def _within(steps: Sequence[SegmentStep], at: int) -> tuple[float, float]:
    left, right = steps[max(0, at - BEFORE_WITHIN) : at], steps[at : at + AFTER_WITHIN]
    return by_files(left, right), lexical(left, right)
