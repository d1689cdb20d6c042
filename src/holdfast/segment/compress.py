"""A segment in a fifth of its tokens or less, without a model.

Decisions, files, errors and how they were resolved, outcomes, the user's own words; what tools
printed is dropped. Of what there is, the things are taken first that are likeliest to be used
again for each character they cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.record import RecordReader
from holdfast.record.model import Record
from holdfast.redact import redact
from holdfast.segment import formats, keepsakes, relevance, saved
from holdfast.segment.formats import CHARS_PER_TOKEN, Compressed, Metadata
from holdfast.segment.keepsakes import SECTIONS, Keepsake
from holdfast.segment.segment import Segment

# Past this a longer text names little more: at 1,500 tokens it has what at 3,000 it has, less 2 %.
MOST_TOKENS = 2000
SHARE = 0.19  # of the segment; redaction may lengthen a little what is to stay under a fifth
MOST_DECISIONS, MOST_FILES = 12, 40


def facts_of(one: Segment, transcript: str, roots: Sequence[str] = ()) -> Record:
    """The facts of those turns alone; Unreadable where the transcript is gone."""
    begun = Record(offset=one.start_byte, roots=list(roots))
    return RecordReader(begun).read(transcript, until=one.end_byte)


def compress(
    one: Segment, facts: Record, *, session_id: str, project: str, transcript: str, now_ms: int
) -> Compressed:
    text = content(facts, one.tokens, one.part_of)
    edited = [name for name, used in facts.files.items() if used.edits]
    fixed = [failure for failure in facts.failures if failure.fixed is not None]
    now = relevance.stamp(now_ms)
    made = Compressed(
        segment_id=one.segment_id,
        topic=redact(one.topic),
        session_id=session_id,
        start_turn=one.start_turn,
        end_turn=one.end_turn,
        original_tokens=one.tokens,
        compressed_tokens=formats.tokens(text),
        compression_ratio=formats.ratio(one.tokens, formats.tokens(text)),
        compressed_at=now,
        last_accessed=now,
        compressed_content=text,
        key_decisions=[redact(words) for words in keepsakes.decided(facts)[:MOST_DECISIONS]],
        key_files=[redact(name) for name in keepsakes.main_files(facts)[:MOST_FILES]],
        metadata=_metadata(one, project, transcript),
    )
    made.metadata.contains_code = bool(edited)
    made.metadata.contains_errors = bool(facts.failures)
    made.metadata.substance = relevance.substance(
        decisions=bool(made.key_decisions),
        changes=bool(edited),
        fixes=bool(fixed),
        rules=any(turn.reply_to or turn.questions for turn in facts.turns),
    )
    made.relevance_score = relevance.score(made, now_ms)
    return made


def _metadata(one: Segment, project: str, transcript: str) -> Metadata:
    return Metadata(
        task_completed=bool(one.completed),
        project=project,
        transcript=transcript,
        first_uuid=one.first_uuid,
        last_uuid=one.last_uuid,
        start_byte=one.start_byte,
        end_byte=one.end_byte,
        started_at=one.started_at,
        ended_at=one.ended_at,
        message_count=one.message_count,
    )


def budget(original_tokens: int) -> int:
    """How many tokens the words for it may have."""
    return max(saved.FLOOR_TOKENS, min(MOST_TOKENS, int(original_tokens * SHARE)))


def content(facts: Record, original_tokens: int, part_of: str = "") -> str:
    """What is worth most, within the budget, section by section."""
    room = int(budget(original_tokens) * CHARS_PER_TOKEN)
    while True:
        text = redact(_laid_out(_chosen(keepsakes.of(facts, part_of), room)))
        if formats.tokens(text) <= budget(original_tokens) or room < CHARS_PER_TOKEN:
            return text
        room -= len(text) - int(budget(original_tokens) * CHARS_PER_TOKEN) + 1


def _chosen(things: list[Keepsake], room: int) -> list[Keepsake]:
    """The most worth for each character; a heading and a folder are paid by who comes first."""
    taken: list[Keepsake] = []
    paid: set[tuple[str, str]] = set()
    for one in sorted(things, key=lambda one: one.worth / (len(one.text) + 3), reverse=True):
        groups = {(one.section, ""), (one.section, one.under)}
        cost = len(one.text) + 2 + sum(len(name or kind) + 3 for kind, name in groups - paid)
        if cost <= room:
            room -= cost
            paid |= groups
            taken.append(one)
    return taken


def _laid_out(taken: list[Keepsake]) -> str:
    lines: list[str] = []
    for section, separator in SECTIONS.items():
        mine = sorted((one for one in taken if one.section == section), key=lambda one: one.order)
        groups: dict[str, list[str]] = {}
        for one in mine:
            groups.setdefault(one.under, []).append(one.text)
        rows = [(f"{name} " if name else "") + separator.join(g) for name, g in groups.items()]
        if rows:
            lines.append(f"{section}: " + ("; " if separator == ", " else "\n- ").join(rows))
    return "\n".join(lines)
