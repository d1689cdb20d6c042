"""What a segment keeps: what was asked and answered, then what is likely to be used again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from holdfast.record.decisions import find_decisions
from holdfast.record.model import Record, Turn
from holdfast.record.stream import read_turns
from holdfast.record.turn_part import StreamState, TurnCall, TurnPart, TurnText
from holdfast.segment import segment
from holdfast.segment.segment import Segment
from holdfast.text.fence import clean, flat
from holdfast.wire.mark import CHARS_PER_TOKEN

TURNS, WORDS, CHANGES = "Turns", "On the way", "Changed"
# Section names, each with the separator of its items.
SECTIONS = {
    TURNS: "\n",
    "Decided": "\n- ",
    "Failed": "\n- ",
    "Left to do": "\n- ",
    "Subagents": "\n- ",
    "Files": ", ",
    "Commands": "\n- ",
    WORDS: "\n- ",
    CHANGES: "\n- ",
}
CHANGED = "*"  # after the name of a changed file
ASKED_CHARS, REPLY_CHARS, LINE_CHARS = 800, 240, 200
REPORT_CHARS, COMMAND_CHARS, CHANGE_CHARS = 600, 160, 800
WORDS_CHARS, LEAST_WORDS = 2400, 60  # of the model between requests: shorter ones only announce


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


def list_items(source: SegmentSource) -> list[SegmentItem]:
    """List what may be kept, the most useful of each section first."""
    answers = _answers(source)
    return [
        *_turns(source.segment.turns, answers),
        *_numbered("Decided", reversed(list_decisions(source))),
        *_numbered("Failed", reversed(list(_failures(source)))),
        *_numbered("Left to do", _open_tasks(source)),
        *_numbered("Subagents", _subagents(source)),
        *_numbered("Files", _files(source)),
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
            yield SegmentItem(TURNS, f"Asked: {_request(turns[at])}", at)
        shown = newest_first[0] if at == 0 else at - 1
        if answer := answers.get(shown):
            yield SegmentItem(TURNS, f"Answer: {_indented(answer.text)}", shown + 0.5)


def _request(turn: Turn) -> str:
    asked = flat(turn.asked, ASKED_CHARS)
    return f"{asked} (to: {flat(turn.reply_to, REPLY_CHARS)})" if turn.reply_to else asked


def _indented(text: str) -> str:
    """Indent the text, so that no line can be taken for one of Holdfast's."""
    rows = [row.rstrip() for row in clean(text).strip().splitlines()]
    return "\n  ".join(row for row in rows if row)


def _failures(source: SegmentSource) -> Iterator[str]:
    for line, failed in segment.failures(source.record, source.segment):
        later = f" (passed at step {failed.closed.op})" if failed.closed else ""
        yield f"`{flat(line, 80)}`: {flat(' '.join(failed.lines[:2]), LINE_CHARS)}{later}"


def _open_tasks(source: SegmentSource) -> list[str]:
    return [flat(task.text, 120) for task in segment.open_tasks(source.record, source.segment)]


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
