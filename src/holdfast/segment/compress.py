"""Compress a segment to a tenth to a fifth of its tokens, without a model.

Requests and outcomes, decisions, errors and their fixes, files, commands and names are kept; tool
output is dropped. Turns come first. Of the rest, the items most likely to be used again per
character are taken.
"""

from __future__ import annotations

from functools import partial

import msgspec

from holdfast.record import commands, files
from holdfast.record.model import Record
from holdfast.record.reader import RecordReader
from holdfast.record.secrets import ToldSecrets
from holdfast.redact import redact
from holdfast.segment import formats, kept_items, library, segment
from holdfast.segment.formats import Compressed, Metadata
from holdfast.segment.kept_items import (
    FIRST,
    LAST,
    SECTIONS,
    TURNS,
    USUAL,
    ModelWords,
    SegmentItem,
    SegmentSource,
    WrittenText,
)
from holdfast.segment.segment import Segment
from holdfast.transcript.blocks import Text, ToolUse
from holdfast.transcript.entries import Answer
from holdfast.transcript.reader import Reader
from holdfast.wire.mark import CHARS_PER_TOKEN

MOST_TOKENS = 10_000  # a longer text is not read in one go
SHARE = 0.19  # of the segment; redaction may lengthen the text, which must stay under a fifth
FIRST_SHARE = 0.6  # of that, for requests and outcomes
MOST_DECISIONS, MOST_FILES = 12, 40


def source_of(one: Segment, record: Record, transcript: str) -> SegmentSource:
    """Read what a segment is compressed from; Unreadable if the transcript is gone."""
    begun = Record(offset=one.start_byte, roots=list(record.roots))
    facts = RecordReader(begun).read(transcript, until=one.end_byte)
    source = SegmentSource(one, record, facts, [], [])
    for entry in Reader(transcript, start=one.start_byte):
        if entry.offset >= one.end_byte:
            break
        if isinstance(entry, Answer) and not entry.is_sidechain:
            _read_answer(source, entry)
    return source


def _read_answer(source: SegmentSource, entry: Answer) -> None:
    texts = [block.text for block in entry.message.blocks if isinstance(block, Text)]
    if said := "\n".join(texts).strip():
        source.words.append(ModelWords(entry.offset, said))
    for block in entry.message.blocks:
        if isinstance(block, ToolUse) and block.name in ("Edit", "Write"):
            text_of = partial(files.text_of, block.input)
            new = text_of("new_string") or text_of("content")
            change = WrittenText(entry.offset, text_of("file_path"), text_of("old_string"), new)
            source.changes.append(change)


def compress(
    source: SegmentSource, *, session_id: str, project: str, transcript: str, now_ms: int
) -> Compressed:
    one, facts = source.segment, source.facts
    text = content(source)
    edited = [name for name, used in facts.files.items() if used.edits]
    settled = (failed.place for _, failed in commands.settled(source.record))
    now = formats.stamp(now_ms)
    made = Compressed(
        segment_id=one.segment_id,
        topic=redact(segment.topic(source.record, one)),
        session_id=session_id,
        start_turn=one.start_turn,
        end_turn=one.end_turn,
        original_tokens=one.tokens,
        compressed_tokens=formats.tokens(text),
        compression_ratio=formats.ratio(one.tokens, formats.tokens(text)),
        compressed_at=now,
        last_accessed=now,
        compressed_content=text,
        key_decisions=[
            redact(words) for words in kept_items.list_decisions(source)[:MOST_DECISIONS]
        ],
        key_files=[redact(name) for name in kept_items.main_files(facts)[:MOST_FILES]],
        metadata=_metadata(source, project, transcript),
    )
    made.metadata.contains_code = bool(edited)
    made.metadata.contains_errors = any(each.failed for each in facts.commands.values())
    made.metadata.substance = formats.substance(
        decisions=bool(made.key_decisions),
        changes=bool(edited),
        fixes=any(segment.holds(one, place) for place in settled),
        rules=any(turn.reply_to or turn.questions for turn in segment.turns(source.record, one)),
    )
    made.relevance_score = formats.score(made, now_ms)
    return _without_secrets(made, source.record)


def _without_secrets(made: Compressed, record: Record) -> Compressed:
    """Remove secrets that the session named, also where they are quoted without their names."""
    known = ToldSecrets()
    known.hear_again(made.metadata.transcript, record.told)
    if not known.bare:
        return made
    data = known.without(msgspec.json.encode(made), fits=True)
    return msgspec.json.decode(data, type=Compressed)


def _metadata(source: SegmentSource, project: str, transcript: str) -> Metadata:
    one = source.segment
    return Metadata(
        task_completed=segment.is_done(source.record, one),
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
    """Return how many tokens the compressed text may have."""
    return max(library.FLOOR_TOKENS, min(MOST_TOKENS, int(original_tokens * SHARE)))


def content(source: SegmentSource) -> str:
    """Render the most valuable items within the budget, section by section."""
    most = budget(source.segment.tokens)
    items, room = kept_items.list_items(source), int(most * CHARS_PER_TOKEN)
    while True:
        text = redact(_render(_choose(items, room)))
        if formats.tokens(text) <= most or room < CHARS_PER_TOKEN:
            return text
        room -= len(text) - int(most * CHARS_PER_TOKEN) + 1


def _choose(items: list[SegmentItem], room: int) -> list[SegmentItem]:
    """Choose the first-ranked items, then the most valuable per character, then the rest.
    First-ranked items are shortened only if they would leave no room for others."""
    first = sorted((one for one in items if one.rank == FIRST), key=lambda one: -one.worth)
    at_first = int(room * FIRST_SHARE)
    usual = _choose_most_valuable(items, USUAL, room - _size(_fit(first, at_first)))
    taken = _fit(first, max(at_first, room - _size(usual))) + usual
    return taken + _choose_most_valuable(items, LAST, room - _size(taken))


def _choose_most_valuable(items: list[SegmentItem], rank: int, room: int) -> list[SegmentItem]:
    mine = [one for one in items if one.rank == rank]
    taken: list[SegmentItem] = []
    paid: set[tuple[str, str]] = set()
    for one in sorted(mine, key=lambda one: one.worth / (len(one.text) + 3), reverse=True):
        cost = len(one.text) + 2 + _headings(_groups(one) - paid)
        if cost <= room:
            room -= cost
            paid |= _groups(one)
            taken.append(one)
    return taken


def _size(taken: list[SegmentItem]) -> int:
    groups = {group for one in taken for group in _groups(one)}
    return sum(len(one.text) + 2 for one in taken) + _headings(groups)


def _groups(one: SegmentItem) -> set[tuple[str, str]]:
    """Return the section and the folder of an item: each heading is written once."""
    return {(one.section, ""), (one.section, one.under)}


def _headings(groups: set[tuple[str, str]]) -> int:
    return sum(len(name or section) + 3 for section, name in groups)


def _fit(items: list[SegmentItem], room: int) -> list[SegmentItem]:
    taken: list[SegmentItem] = []
    for one in items:
        if len(one.text) > room:
            one = msgspec.structs.replace(one, text=one.text[: max(0, room - 2)].rstrip() + " …")
        if len(one.text) <= room:
            taken.append(one)
            room -= len(one.text) + 1
    return taken


def _render(taken: list[SegmentItem]) -> str:
    lines: list[str] = []
    for section, separator in SECTIONS.items():
        mine = sorted((one for one in taken if one.section == section), key=lambda one: one.order)
        groups: dict[str, list[str]] = {}
        for one in mine:
            groups.setdefault(one.under, []).append(one.text)
        rows = [(f"{name} " if name else "") + separator.join(g) for name, g in groups.items()]
        if section == TURNS:
            lines += rows
        elif rows:
            lines.append(f"{section}: " + ("; " if separator == ", " else "\n- ").join(rows))
    return "\n".join(lines)
