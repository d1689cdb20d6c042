"""Compress a segment to a tenth to a fifth of its tokens, without a model.

Requests and answers come first. Then decisions, failures, tasks, subagents, files and commands;
then, where there is room, the model's other words and the lines it wrote. Tool output is dropped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from holdfast.record.model import Record, StreamState, Turn, TurnCall, TurnPart, TurnText
from holdfast.record.open_items import find_decisions
from holdfast.record.secrets import ToldSecrets
from holdfast.record.stream import read_turns
from holdfast.redact import redact
from holdfast.segment import formats, library, segment
from holdfast.segment.formats import Compressed, Metadata
from holdfast.segment.segment import Segment
from holdfast.text.fence import clean, flat
from holdfast.wire.mark import CHARS_PER_TOKEN

MOST_TOKENS = 10_000  # a longer text is not read in one go
SHARE = 0.19  # of the segment; redaction may lengthen the text, which must stay under a fifth
FIRST_SHARE = 0.6  # of that, for requests and answers
MOST_DECISIONS, MOST_FILES = 12, 40
TURNS, WORDS, CHANGES = "Turns", "On the way", "Changed"
FILES = "Files"
SECTIONS = TURNS, "Decided", "Failed", "Left to do", "Subagents", FILES, "Commands", WORDS, CHANGES
SEPARATORS = {TURNS: "\n", FILES: ", "}  # of the items of a section; all others are lists
CHANGED = "*"  # after the name of a changed file
ASKED_CHARS, REPLY_CHARS, LINE_CHARS = 800, 240, 200
REPORT_CHARS, COMMAND_CHARS, CHANGE_CHARS = 600, 160, 800
WORDS_CHARS, LEAST_WORDS = 2400, 60  # of the model between requests: shorter ones only announce
LAST = (WORDS, CHANGES)


class SegmentItem(msgspec.Struct, gc=False):
    """One thing that a compressed segment may keep; `order` is its place in its section."""

    section: str
    text: str
    order: float


class SegmentSource:
    """What a segment is compressed from: its turns, the session's record, and what the model did
    and said in it."""

    def __init__(self, one: Segment, record: Record, parts: list[TurnPart]) -> None:
        self.segment, self.record, self.parts = one, record, parts
        self.texts: list[TurnText] = [text for part in parts for text in part.texts]
        self.calls: list[TurnCall] = [call for part in parts for call in part.calls]

    @property
    def tokens(self) -> int:
        """Characters / 3.5 of prompts, answers, tool inputs and results."""
        chars = sum(turn.chars for turn in self.segment.turns)
        chars += sum(step.chars for part in self.parts for step in part.steps)
        return int((chars + sum(call.output_chars for call in self.calls)) / CHARS_PER_TOKEN)

    @property
    def edited(self) -> list[str]:
        """The changed files, those that were changed most often first."""
        counts = Counter(name for call in self.calls for name in call.edited)
        return [name for name, _ in counts.most_common()]

    @property
    def read(self) -> list[str]:
        return list(dict.fromkeys(name for call in self.calls for name in call.read))


def read_source(one: Segment, record: Record, transcript: str) -> SegmentSource:
    """Read the segment's lines; Unreadable if the transcript is gone."""
    begun = Record(
        far=True, offset=one.start_byte, cwd=record.cwd, roots=record.roots, told=record.told
    )
    parts = list(read_turns(transcript, StreamState(begun), until=one.end_byte))
    return SegmentSource(one, record, parts)


def compress(
    source: SegmentSource, *, session_id: str, project: str, transcript: str, now_ms: int
) -> Compressed:
    one, record = source.segment, source.record
    text, now = content(source), formats.stamp(now_ms)
    decisions = [redact(words) for words in list_decisions(source)[:MOST_DECISIONS]]
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
    items, room = list_items(source), int(most * CHARS_PER_TOKEN)
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
    taken: list[SegmentItem] = []
    for item in items:
        if _size([*taken, item]) <= room:
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
    for section in SECTIONS:
        mine = sorted((one for one in taken if one.section == section), key=lambda one: one.order)
        text = SEPARATORS.get(section, "\n- ").join(one.text for one in mine)
        if text:
            lines.append(text if section == TURNS else f"{section}: {text}")
    return "\n".join(lines)


def list_items(source: SegmentSource) -> list[SegmentItem]:
    """List what may be kept, the most useful of each section first."""
    answers = _answers(source)
    open_ones = segment.open_tasks(source.record, source.segment)
    return [
        *_turns(source.segment.turns, answers),
        *_numbered("Decided", reversed(list_decisions(source))),
        *_numbered("Failed", reversed(list(_failures(source)))),
        *_numbered("Left to do", (flat(task.text, 120) for task in open_ones)),
        *_numbered("Subagents", _subagents(source)),
        *_numbered(FILES, _files(source)),
        *_numbered("Commands", _commands(source)),
        *_on_the_way(source.texts, {answer.offset for answer in answers.values()}),
        *_changes(source),
    ]


def list_decisions(source: SegmentSource) -> list[str]:
    """List the decisions, each with its question."""
    return [
        flat(
            f"{decision.question} → {decision.text}" if decision.question else decision.text,
            REPLY_CHARS,
        )
        for decision in find_decisions(source.record)
        if segment.holds(source.segment, decision.place)
    ]


def _numbered(section: str, texts: Iterable[str]) -> Iterator[SegmentItem]:
    return (SegmentItem(section, text, number) for number, text in enumerate(texts))


def _answers(source: SegmentSource) -> dict[int, TurnText]:
    """Return the model's last words of each turn, by the turn's number in the segment."""
    starts = [turn.place.offset for turn in source.segment.turns]
    return {
        sum(start <= text.offset for start in starts) - 1: text
        for text in source.texts
        if text.offset >= starts[0]
    }


def _turns(turns: list[Turn], answers: dict[int, TurnText]) -> Iterator[SegmentItem]:
    """Yield the first request and the last answer, then the others, the newest first."""
    newest_first = list(range(len(turns)))[::-1]
    for at in [*newest_first[-1:], *newest_first[:-1]]:
        if turns[at].asked:
            to = f" (to: {flat(turns[at].reply_to, REPLY_CHARS)})" if turns[at].reply_to else ""
            yield SegmentItem(TURNS, f"Asked: {flat(turns[at].asked, ASKED_CHARS)}{to}", at)
        shown = newest_first[0] if at == 0 else at - 1
        if answer := answers.get(shown):
            yield SegmentItem(TURNS, f"Answer: {_indented(answer.text)}", shown + 0.5)


def _indented(text: str) -> str:
    """Indent the text, so that no line can be taken for one of Holdfast's."""
    rows = [row.rstrip() for row in clean(text).strip().splitlines()]
    return "\n  ".join(row for row in rows if row)


def _failures(source: SegmentSource) -> Iterator[str]:
    for line, failed in segment.failures(source.record, source.segment):
        later = f" (passed at step {failed.closed.op})" if failed.closed else ""
        yield f"`{flat(line, 80)}`: {flat(' '.join(failed.lines[:2]), LINE_CHARS)}{later}"


def _subagents(source: SegmentSource) -> Iterator[str]:
    called = [call.report for call in source.calls if call.report is not None]
    for one in [*called, *(report for part in source.parts for report in part.reports)]:
        if one.text:
            yield f"{one.kind or 'agent'}: {flat(one.asked, 160)} → {flat(one.text, REPORT_CHARS)}"


def _files(source: SegmentSource) -> Iterator[str]:
    changed = source.edited
    yield from (f"{flat(name, 120)}{CHANGED}" for name in changed)
    yield from (flat(name, 120) for name in source.read if name not in changed)


def _commands(source: SegmentSource) -> Iterator[str]:
    """Yield each command once, newest first, with the mark of its last run."""
    runs = {call.what: call for call in source.calls if call.tool == "Bash" and call.end}
    for call in sorted(runs.values(), key=lambda call: -call.offset):
        line = flat(call.what.partition("\n")[0], COMMAND_CHARS)
        yield f"`{line}` {'failed' if call.is_error else 'ok'}"


def _on_the_way(texts: list[TurnText], answers: set[int]) -> Iterator[SegmentItem]:
    """Yield the model's other words, the newest first: the oldest are most often refuted since."""
    for said in reversed(texts):
        text = flat(said.text, WORDS_CHARS)
        if said.offset not in answers and len(text) >= LEAST_WORDS:
            yield SegmentItem(WORDS, text, said.offset)


def _changes(source: SegmentSource) -> Iterator[SegmentItem]:
    """Yield the lines that edits added, newest first."""
    for call in reversed(source.calls):
        given = {key: text for key, text in call.input.items() if isinstance(text, str)}
        before = set(map(str.strip, given.get("old_string", "").splitlines()))
        new = given.get("new_string") or given.get("content", "")
        added = [row.strip() for row in new.splitlines() if row.strip() not in before]
        text = flat(" ⏎ ".join(row for row in added if len(row) > 1), CHANGE_CHARS)
        if call.edited and text:
            yield SegmentItem(CHANGES, f"{flat(call.edited[0], 120)}: {text}", call.offset)
