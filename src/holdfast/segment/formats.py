"""The formats of queued and compressed segments, and how relevant a segment still is.

Relevance is 0 to 1. It depends on what the segment holds and on how recently and how often it is
read:

    relevance = 0.40 substance + 0.35 · 2^(-days since last access / 14) + 0.25 · (1 - 1 / (1 + n))

`substance` is what the segment held when it was made: decisions 0.3, files changed 0.3, a failure
and its fix 0.2, lasting words of the user 0.2. Unread, it falls to that.
"""

from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec

from holdfast.files.small_files import NewerFile
from holdfast.wire import places
from holdfast.wire.mark import CHARS_PER_TOKEN

VERSION = 1
OURS, MODEL = "holdfast", "model"
FOREIGN = places.FOREIGN
SUBSTANCE, LATELY, OFTEN = 0.40, 0.35, 0.25
HALVES_IN_DAYS = 14.0
MOST_DAYS = 10_000.0


class DamagedSegment(Exception):
    """A file does not hold what its name says; it is set aside."""


class Pending(msgspec.Struct):
    """A cold segment that waits to be compressed."""

    segment_id: str
    topic: str = ""
    start_turn: int = 0
    end_turn: int = 0
    message_count: int = 0
    turns_since_mention: int = 0
    queued_at_turn: int = 0
    timestamp: str = ""
    start_byte: int = 0  # in the transcript, to be read if the cut is lost
    end_byte: int = 0
    written_by: str = OURS


class Done(msgspec.Struct):
    """A segment that was compressed, as its session remembers it."""

    segment_id: str
    topic: str = ""
    compressed_at_turn: int = 0
    original_tokens: int = 0
    compressed_tokens: int = 0
    compression_ratio: float = 0.0
    storage_location: str = ""
    timestamp: str = ""
    key_files: list[str] = []
    start_turn: int = 0


class Queue(msgspec.Struct):
    version: int = VERSION
    pending: list[Pending] = []
    compressed: list[Done] = []
    last_check_turn: int = 0
    last_prune_turn: int = 0


class Metadata(msgspec.Struct):
    """Three fields of every tool of this format, then ours: its origin, and who wrote its text."""

    contains_code: bool = False
    contains_errors: bool = False
    task_completed: bool = False
    project: str = ""
    transcript: str = ""
    first_uuid: str = ""
    last_uuid: str = ""
    start_byte: int = 0
    end_byte: int = 0
    started_at: str = ""
    ended_at: str = ""
    message_count: int = 0
    substance: float = 0.0  # see `relevance`
    written_by: str = OURS
    own_content: str = ""  # Holdfast's text, if the shown one is a model's
    archived_at: str = ""
    pruned_at: str = ""


class Compressed(msgspec.Struct):
    """A compressed segment, as stored in the warm or the cold tier."""

    segment_id: str
    topic: str = ""
    session_id: str = ""
    start_turn: int = 0
    end_turn: int = 0
    original_tokens: int = 0
    compressed_tokens: int = 0
    compression_ratio: float = 0.0
    compressed_at: str = ""
    last_accessed: str = ""
    access_count: int = 0
    relevance_score: float = 0.0
    compressed_content: str = ""
    key_decisions: list[str] = []
    key_files: list[str] = []
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    version: int = 0


Kind = TypeVar("Kind", Queue, Compressed)


class _Stated(msgspec.Struct):
    version: int = 0


def encode(value: Queue | Compressed) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def decode_compressed(data: bytes, segment_id: str = "") -> Compressed:
    compressed = decode(data, Compressed)
    if segment_id and compressed.segment_id != segment_id:
        raise DamagedSegment(f"it contains another segment than {segment_id}")
    if not is_plain(compressed.segment_id):
        raise DamagedSegment("its id cannot be a file's name")
    return compressed


def decode(data: bytes, kind: type[Kind]) -> Kind:
    """Decode a queue or a segment; raises DamagedSegment or NewerFile."""
    try:
        stated = msgspec.json.decode(data, type=_Stated).version
        if stated > VERSION:
            raise NewerFile(f"version {stated}, written by a newer Holdfast")
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise DamagedSegment(str(error)) from None


def is_plain(segment_id: str) -> bool:
    """Whether it names a file inside its folder."""
    return places.plain(segment_id) == segment_id


def tokens(text: str) -> int:
    """Characters / CHARS_PER_TOKEN, rounded up."""
    return -int(-len(text) // CHARS_PER_TOKEN)


def ratio(original: int, now: int) -> float:
    """Return how many times smaller the text became."""
    return round(original / now, 1) if now else 0.0


def render(segment: Compressed) -> str:
    """Render a segment: its text, and the decisions and files that the text does not name."""
    text = segment.compressed_content
    decisions = [words for words in segment.key_decisions if words not in text]
    files = [name for name in segment.key_files if name.rpartition("/")[2] not in text]
    parts = [text]
    parts += ["Decided: " + "\n- ".join(decisions)] if decisions else []
    parts += [f"Files: {', '.join(files)}"] if files else []
    return "\n".join(filter(None, parts))


def plain(value: object) -> Any:
    """Return a value as JSON types, for printing."""
    return msgspec.to_builtins(value)


def substance(*, decisions: bool, changes: bool, fixes: bool, rules: bool) -> float:
    return round(0.3 * decisions + 0.3 * changes + 0.2 * fixes + 0.2 * rules, 2)


def score(segment: Compressed, now_ms: int) -> float:
    substance = min(max(segment.metadata.substance, 0.0), 1.0)
    days = min(
        max(days_since(segment.last_accessed or segment.compressed_at, now_ms), 0.0), MOST_DAYS
    )
    lately = float(2.0 ** (-days / HALVES_IN_DAYS))
    often = 1 - 1 / (1 + max(segment.access_count, 0))
    return round(SUBSTANCE * substance + LATELY * lately + OFTEN * often, 3)


def days_since(stamp: str, now_ms: int) -> float:
    """Days since then; very many for an invalid time. A time without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return MOST_DAYS
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (now_ms / 1000 - moment.timestamp()) / 86_400


def stamp(now_ms: int) -> str:
    return datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
