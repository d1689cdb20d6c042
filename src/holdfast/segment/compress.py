"""Compress a segment to a tenth to a fifth of its tokens, without a model.

Requests and answers come first. Then decisions, failures, tasks, subagents, files and commands;
then, where there is room, the model's other words and the lines it wrote. Tool output is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from holdfast.record.model import Record
from holdfast.record.secrets import ToldSecrets
from holdfast.redact import redact
from holdfast.segment import formats, kept_items, library, segment
from holdfast.segment.formats import Compressed, Metadata
from holdfast.segment.kept_items import CHANGES, SECTIONS, TURNS, WORDS, SegmentItem, SegmentSource
from holdfast.wire.mark import CHARS_PER_TOKEN

MOST_TOKENS = 10_000  # a longer text is not read in one go
SHARE = 0.19  # of the segment; redaction may lengthen the text, which must stay under a fifth
FIRST_SHARE = 0.6  # of that, for requests and answers
MOST_DECISIONS, MOST_FILES = 12, 40
LAST = (WORDS, CHANGES)


def compress(
    source: SegmentSource, *, session_id: str, project: str, transcript: str, now_ms: int
) -> Compressed:
    one, record = source.segment, source.record
    text, now = content(source), formats.stamp(now_ms)
    decisions = [redact(words) for words in kept_items.list_decisions(source)[:MOST_DECISIONS]]
    edited, failed = source.edited, any(call.is_error for call in source.calls)
    made = Compressed(
        segment_id=one.segment_id,
        topic=redact(segment.topic(record, one)),
        session_id=session_id,
        start_turn=one.start_turn,
        end_turn=one.end_turn,
        original_tokens=source.tokens,
        compressed_tokens=formats.tokens(text),
        compression_ratio=formats.ratio(source.tokens, formats.tokens(text)),
        compressed_at=now,
        last_accessed=now,
        compressed_content=text,
        key_decisions=decisions,
        key_files=[redact(name) for name in (edited or source.read)[:MOST_FILES]],
        metadata=Metadata(
            contains_code=bool(edited),
            contains_errors=failed,
            task_completed=segment.is_done(record, one),
            project=project,
            transcript=transcript,
            first_uuid=source.parts[0].first_uuid if source.parts else "",
            last_uuid=source.parts[-1].last_uuid if source.parts else "",
            start_byte=one.start_byte,
            end_byte=one.end_byte,
            started_at=source.parts[0].at if source.parts else "",
            ended_at=source.parts[-1].ended_at if source.parts else "",
            message_count=one.message_count,
            substance=formats.substance(
                decisions=bool(decisions),
                changes=bool(edited),
                fixes=any(run.closed for _, run in segment.failures(record, one)),
                rules=any(turn.reply_to or turn.questions for turn in one.turns),
            ),
        ),
    )
    made.relevance_score = formats.score(made, now_ms)
    return _without_secrets(made, record)


def _without_secrets(made: Compressed, record: Record) -> Compressed:
    """Remove secrets that the session named, also where they are quoted without their names."""
    known = ToldSecrets()
    known.hear_again(made.metadata.transcript, record.told)
    if not known.bare:
        return made
    data = known.without(msgspec.json.encode(made), fits=True)
    return msgspec.json.decode(data, type=Compressed)


def budget(original_tokens: int) -> int:
    """Return how many tokens the compressed text may have."""
    return max(library.FLOOR_TOKENS, min(MOST_TOKENS, int(original_tokens * SHARE)))


def content(source: SegmentSource) -> str:
    """Render what fits into the budget, section by section."""
    most = budget(source.tokens)
    items, room = kept_items.list_items(source), int(most * CHARS_PER_TOKEN)
    while True:
        text = redact(_render(_choose(items, room)))
        if formats.tokens(text) <= most or room < CHARS_PER_TOKEN:
            return text
        room -= len(text) - int(most * CHARS_PER_TOKEN) + 1


def _choose(items: list[SegmentItem], room: int) -> list[SegmentItem]:
    """Choose requests and answers, cut where they are too long; of the rest what fits, with other
    words and changed lines last. Answers are cut only as far as the rest needs the room."""
    turns = [item for item in items if item.section == TURNS]
    usual = [item for item in items if item.section not in (TURNS, *LAST)]
    usual = _fit(usual, room - _size(_cut(turns, int(room * FIRST_SHARE))))
    taken = _cut(turns, room - _size(usual)) + usual
    last = (item for item in items if item.section in LAST)
    return taken + _fit(last, room - _size(taken))


def _fit(items: Iterable[SegmentItem], room: int) -> list[SegmentItem]:
    """Take the items that fit, the first ones first; each heading is written once."""
    taken, headings = list[SegmentItem](), set[str]()
    for item in items:
        cost = _size([item]) - (len(item.section) + 3 if item.section in headings else 0)
        if cost <= room:
            room -= cost
            headings.add(item.section)
            taken.append(item)
    return taken


def _cut(items: Iterable[SegmentItem], room: int) -> list[SegmentItem]:
    taken: list[SegmentItem] = []
    for item in items:
        if len(item.text) > room:
            item = msgspec.structs.replace(item, text=item.text[: max(0, room - 2)].rstrip() + " …")
        if len(item.text) <= room:
            taken.append(item)
            room -= len(item.text) + 2
    return taken


def _size(taken: list[SegmentItem]) -> int:
    headings = {one.section for one in taken}
    return sum(len(one.text) + 2 for one in taken) + sum(len(name) + 3 for name in headings)


def _render(taken: list[SegmentItem]) -> str:
    lines: list[str] = []
    for section, separator in SECTIONS.items():
        mine = sorted((one for one in taken if one.section == section), key=lambda one: one.order)
        text = separator.join(one.text for one in mine)
        if text:
            lines.append(text if section == TURNS else f"{section}: {text}")
    return "\n".join(lines)
