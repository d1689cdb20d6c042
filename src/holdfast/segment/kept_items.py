"""The items of a segment that are kept, each with its worth to a later reader.

Each turn's request and outcome come first and are complete. Then comes what is likely to be used
again: decisions, errors and their fixes, files and commands by how recently they were used, names
by that and by how rare they are. The remaining room goes to the model's other words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from holdfast.record import commands, files
from holdfast.record import decisions as record_decisions
from holdfast.record.model import FLOOR, Command, FileUse, Place, Record, Turn, heat_at
from holdfast.record.turns import CUT
from holdfast.segment import segment
from holdfast.segment.segment import Segment
from holdfast.segment.steps import one_line, visible

TURNS = "Turns"
# Section names, each with the separator of its items.
SECTIONS = {
    TURNS: "\n",
    "Decided": "\n- ",
    "Resolved": "\n- ",
    "Not resolved": "\n- ",
    "Left to do": "\n- ",
    "Subagents": "\n- ",
    "Files": ", ",
    "Commands": "\n- ",
    "References": ", ",
    "Names": ", ",
    "On the way": "\n- ",
    "Changed": "\n- ",
}
CHANGED = "*"  # after the name of a changed file
MOST_NAMES = 60  # more would help nobody
LONGEST_ASKED, LONGEST_REPLY, LONGEST_LINE = 800, 240, 200
LONGEST_COMMAND = 160
LONGEST_CHANGE = 800
LONGEST_WORDS, LEAST_WORDS = 2400, 60  # of the model between requests: shorter ones only announce
FIRST, USUAL, LAST = 0, 1, 2


class ModelWords(msgspec.Struct, gc=False):
    """One complete text of the model in the segment."""

    offset: int
    text: str


class WrittenText(msgspec.Struct, gc=False):
    """Text the model wrote into a file."""

    offset: int
    path: str
    old: str
    new: str


class SegmentItem(msgspec.Struct, gc=False):
    """One thing that a compressed segment may keep."""

    section: str
    text: str
    worth: float
    order: float = 0.0
    under: str = ""  # the folder a file is written under
    rank: int = USUAL


class SegmentSource(msgspec.Struct, gc=False):
    """What a segment is compressed from: its cut, the session's record, the record of its lines
    alone, and what the model said in them and wrote into files."""

    segment: Segment
    record: Record
    facts: Record
    words: list[ModelWords]
    changes: list[WrittenText] = []


def list_items(source: SegmentSource) -> list[SegmentItem]:
    facts = source.facts
    closing = _closing(source)
    return [
        *_turns(source, closing),
        *_decided(source),
        *_failures(source),
        *_left_to_do(source),
        *_subagents(facts),
        *_files(facts),
        *_commands(facts),
        *_names(facts),
        *_on_the_way(source.words, {one.offset for one in closing.values()}),
        *_changes(source),
    ]


def list_decisions(source: SegmentSource) -> list[str]:
    """List the decisions, each with its question."""
    return [
        one_line(f"{one.question} → {one.text}" if one.question else one.text, 240)
        for one in record_decisions.find_decisions(source.record)
        if segment.holds(source.segment, one.place)
    ]


def main_files(facts: Record) -> list[str]:
    """List the changed files, most used first; if there are none, the files read."""
    ranked = sorted(facts.files, key=lambda name: (-_heat(facts, facts.files[name]), name))
    changed = [name for name in ranked if facts.files[name].edits]
    return changed or [name for name in ranked if facts.files[name].reads]


def _closing(source: SegmentSource) -> dict[int, ModelWords]:
    """Return the model's last words of each turn, by the turn's offset."""
    found: dict[int, ModelWords] = {}
    starts = [source.segment.start_byte, *(turn.place.offset for turn in _turns_of(source))]
    for one in source.words:
        found[max(start for start in starts if start <= one.offset)] = one
    return found


def _turns_of(source: SegmentSource) -> list[Turn]:
    return segment.turns(source.record, source.segment)


def _turns(source: SegmentSource, closing: dict[int, ModelWords]) -> Iterator[SegmentItem]:
    """Yield turns, newest first; if not all fit, the first request and the last outcome do."""
    start, own = source.segment.start_byte, _turns_of(source)
    turns = [(one.place.offset, one) for one in own]
    if not own or own[0].place.offset != start:
        asked = segment.part_of(source.record, source.segment)
        turns.insert(0, (start, Turn(asked, Place(start))))
    for age, (offset, turn) in enumerate(reversed(turns)):
        number = len(turns) - 1 - age
        worth = 9.0 if not number else 8.0 / (1 + age)
        if turn.asked:
            label = "Asked" if (own and turn is own[0]) or number else "Part of"
            text = f"{label}: {_request_of(turn)}"
            yield SegmentItem(TURNS, text, worth, number, rank=FIRST)
        if said := closing.get(offset):
            text = f"Outcome: {_indented(said.text)}"
            rank = USUAL if age else FIRST
            yield SegmentItem(TURNS, text, 10.0 if not age else worth, number + 0.5, rank=rank)


def _request_of(turn: Turn) -> str:
    asked = one_line(turn.asked.replace(CUT, " […] "), LONGEST_ASKED)
    return f"{asked} (to: {one_line(turn.reply_to, LONGEST_REPLY)})" if turn.reply_to else asked


def _indented(text: str) -> str:
    """Indent the text, so that no line can be taken for one of Holdfast's."""
    rows = [row.rstrip() for row in visible(text).strip().splitlines()]
    return "\n  ".join(row for row in rows if row)


def _decided(source: SegmentSource) -> Iterator[SegmentItem]:
    for age, words in enumerate(reversed(list_decisions(source))):
        yield SegmentItem("Decided", words, 6.0 / (1 + age / 6), -age)


def _failures(source: SegmentSource) -> Iterator[SegmentItem]:
    record, one = source.record, source.segment
    settled = [pair for pair in commands.settled(record) if segment.holds(one, pair[1].place)]
    for age, (line, failed) in enumerate(reversed(settled)):
        text = f"`{one_line(line, 80)}`: {one_line(failed.lines[0], 120)}"
        yield SegmentItem("Resolved", text, 2.5 / (1 + age / 3), -age)
    for age, (line, failed) in enumerate(segment.find_unresolved(record, one)):
        text = f"`{one_line(line, 80)}`: {one_line(' '.join(failed.lines[:2]), LONGEST_LINE)}"
        yield SegmentItem("Not resolved", text, 2.5 / (1 + age / 2), -age)


def _left_to_do(source: SegmentSource) -> Iterator[SegmentItem]:
    for number, task in enumerate(segment.left_to_do(source.record, source.segment)):
        yield SegmentItem("Left to do", one_line(task.text, 120), 1.0 / (1 + number / 3), number)


def _subagents(facts: Record) -> Iterator[SegmentItem]:
    for number, one in enumerate(facts.agents.values()):
        answer = f" → {one_line(one.answer, 600)}" if one.answer else ""
        text = f"{one.kind or 'agent'}: {one_line(one.asked, 160)}{answer}"
        yield SegmentItem("Subagents", text, 2.0, number)


def _on_the_way(words: Sequence[ModelWords], closing: set[int]) -> Iterator[SegmentItem]:
    """Yield the model's other words, the longest first."""
    for one in words:
        text = one_line(one.text, LONGEST_WORDS)
        if one.offset not in closing and len(text) >= LEAST_WORDS:
            yield SegmentItem("On the way", text, float(len(text)) ** 2, one.offset, rank=LAST)


def _changes(source: SegmentSource) -> Iterator[SegmentItem]:
    """Yield the added lines, newest first; they are used if there is room."""
    for age, one in enumerate(reversed(source.changes)):
        before = set(map(str.strip, one.old.splitlines()))
        added = [row.strip() for row in one.new.splitlines() if row.strip() not in before]
        text = one_line(" ⏎ ".join(row for row in added if len(row) > 1), LONGEST_CHANGE)
        if text:
            text = f"{one_line(files.relative(source.record, one.path), 120)}: {text}"
            yield SegmentItem("Changed", text, 1e-3 / (1 + age), one.offset, rank=LAST)


def _files(facts: Record) -> Iterator[SegmentItem]:
    heats = {
        name: _heat(facts, used)
        for name, used in facts.files.items()
        if used.count > used.seen
        or used.seen > 1  # a file that only a search listed once is left out
    }
    shown = _split(facts.files)
    for rank, (name, worth) in enumerate(_ranked(heats)):
        folder, short = shown[name]
        text = one_line(short, 120) + (CHANGED if facts.files[name].edits else "")
        yield SegmentItem("Files", text, 0.5 + 5.0 * worth, rank, folder)


def _split(files: dict[str, FileUse]) -> dict[str, tuple[str, str]]:
    """Split paths into folder and name; a folder with only one file stays in its name."""
    found = {name: name.rpartition("/") for name in files}
    counts: dict[str, int] = {}
    for folder, _, _ in found.values():
        counts[folder] = counts.get(folder, 0) + 1
    return {
        name: (f"{folder}/:", short) if folder and counts[folder] > 1 else ("", name)
        for name, (folder, _, short) in found.items()
    }


def _heat(facts: Record, used: FileUse | Command) -> float:
    """Return how much it was used; recency counts less, because anything may be used again."""
    return heat_at(used, facts.op, 3 * 40.0) + 10 * FLOOR * used.count


def _ranked(heats: dict[str, float]) -> list[tuple[str, float]]:
    """Return the most used first, each with its worth: nearly 1 for the first, then less."""
    total = sum(heats.values()) or 1.0
    ranked = sorted(heats, key=lambda key: (-heats[key], key))
    return [(key, heats[key] / (heats[key] + 0.08 * total)) for key in ranked]


def _commands(facts: Record) -> Iterator[SegmentItem]:
    heats = {key: _heat(facts, one) for key, one in facts.commands.items()}
    for rank, (key, worth) in enumerate(_ranked(heats)):
        how = {True: " ok", False: " failed", None: ""}[facts.commands[key].ok]
        text = f"`{one_line(key.partition(chr(10))[0], LONGEST_COMMAND)}`{how}"
        yield SegmentItem("Commands", text, 0.5 + 5.0 * worth, rank)


def _names(facts: Record) -> Iterator[SegmentItem]:
    heats = {
        key: (heat_at(one, facts.op, 120.0) + 10 * FLOOR * one.count)
        for key, one in facts.names.items()
        if not key.startswith("__") and not key.isdigit()
    }
    for rank, (key, worth) in enumerate(_ranked(heats)[:MOST_NAMES]):
        yield SegmentItem("Names", key, 0.1 + 3.0 * worth, rank)
