"""What of a segment is kept, thing by thing, with what each is worth to whoever comes back to it.

What was asked and what came of it, turn by turn, comes first and whole. Then what is likely to be
used again: decisions, errors and how they were resolved, files and commands by how warm they were
at the end of the segment, names by that and by how rare they are. What room is left goes to the
model's other words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from holdfast.record import decisions as record_decisions
from holdfast.record import files
from holdfast.record.failures import FAILED, PASSED, outcome, resolved
from holdfast.record.model import FLOOR, Command, FileUse, Place, Record, Turn, heat_at
from holdfast.record.turns import CUT
from holdfast.segment import segment
from holdfast.segment.segment import Segment
from holdfast.segment.steps import one_line, visible

TURNS = "Turns"
# Each with what stands between its things.
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
CHANGED = "*"  # behind a file
MOST_NAMES = 60  # a wall of them helps nobody
LONGEST_ASKED, LONGEST_REPLY, LONGEST_LINE = 800, 240, 200
LONGEST_COMMAND = 160
LONGEST_CHANGE = 800
LONGEST_WORDS, LEAST_WORDS = 2400, 60  # of the model on the way: shorter ones only announce
FIRST, USUAL, LAST = 0, 1, 2


class ModelWords(msgspec.Struct, gc=False):
    """Something the model said in the segment, whole."""

    offset: int
    text: str


class WrittenText(msgspec.Struct, gc=False):
    """Text the model wrote into a file."""

    offset: int
    path: str
    old: str
    new: str


class Keepsake(msgspec.Struct, gc=False):
    section: str
    text: str
    worth: float
    order: float = 0.0
    under: str = ""  # the folder a file is written under
    rank: int = USUAL


class SegmentSource(msgspec.Struct, gc=False):
    """What a segment is told from: itself, the session's record, the record of its lines alone,
    what the model said in them and wrote into files."""

    segment: Segment
    record: Record
    facts: Record
    words: list[ModelWords]
    changes: list[WrittenText] = []


def of(source: SegmentSource) -> list[Keepsake]:
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
        *_references(facts),
        *_on_the_way(source.words, {one.offset for one in closing.values()}),
        *_changes(source),
    ]


def decided(source: SegmentSource) -> list[str]:
    """What was decided, each with its question."""
    return [
        one_line(f"{one.question} → {one.text}" if one.question else one.text, 240)
        for one in record_decisions.decided(source.record)
        if segment.holds(source.segment, one.place)
    ]


def main_files(facts: Record) -> list[str]:
    """Those changed, warmest first; where none was, those read."""
    ranked = sorted(facts.files, key=lambda name: (-_heat(facts, facts.files[name]), name))
    changed = [name for name in ranked if facts.files[name].edits]
    return changed or [name for name in ranked if facts.files[name].reads]


def _closing(source: SegmentSource) -> dict[int, ModelWords]:
    """The model's last words of each turn, by where the turn begins."""
    found: dict[int, ModelWords] = {}
    starts = [source.segment.start_byte, *(turn.place.offset for turn in _own(source))]
    for one in source.words:
        found[max(start for start in starts if start <= one.offset)] = one
    return found


def _own(source: SegmentSource) -> list[Turn]:
    return segment.turns(source.record, source.segment)


def _turns(source: SegmentSource, closing: dict[int, ModelWords]) -> Iterator[Keepsake]:
    """Newest first: where not all of them fit, the first request and the last outcome do."""
    start, own = source.segment.start_byte, _own(source)
    turns = [(one.place.offset, one) for one in own]
    if not own or own[0].place.offset != start:
        asked = segment.part_of(source.record, source.segment)
        turns.insert(0, (start, Turn(asked, Place(start))))
    for age, (offset, turn) in enumerate(reversed(turns)):
        number = len(turns) - 1 - age
        worth = 9.0 if not number else 8.0 / (1 + age)
        if turn.asked:
            text = f"{'Asked' if (own and turn is own[0]) or number else 'Part of'}: {_asked(turn)}"
            yield Keepsake(TURNS, text, worth, number, rank=FIRST)
        if said := closing.get(offset):
            text = f"Outcome: {_indented(said.text)}"
            rank = USUAL if age else FIRST
            yield Keepsake(TURNS, text, 10.0 if not age else worth, number + 0.5, rank=rank)


def _asked(turn: Turn) -> str:
    asked = one_line(turn.asked.replace(CUT, " […] "), LONGEST_ASKED)
    return f"{asked} (to: {one_line(turn.reply_to, LONGEST_REPLY)})" if turn.reply_to else asked


def _indented(text: str) -> str:
    """As it was said, with no line that could be taken for one of ours."""
    rows = [row.rstrip() for row in visible(text).strip().splitlines()]
    return "\n  ".join(row for row in rows if row)


def _decided(source: SegmentSource) -> Iterator[Keepsake]:
    for age, words in enumerate(reversed(decided(source))):
        yield Keepsake("Decided", words, 6.0 / (1 + age / 6), -age)


def _failures(source: SegmentSource) -> Iterator[Keepsake]:
    record, one = source.record, source.segment
    fixed = [each for each in segment.within(resolved(record), one) if each.lines]
    for age, each in enumerate(reversed(fixed)):
        by = f", by edits in {', '.join(each.fix[-3:])}" if each.fix else ""
        text = f"`{one_line(each.command, 80)}`: {one_line(each.lines[0], 120)}{by}"
        yield Keepsake("Resolved", text, 2.5 / (1 + age / 3), -age)
    for age, each in enumerate(reversed(segment.unresolved(record, one))):
        text = f"`{one_line(each.command, 80)}`: {one_line(' '.join(each.lines[:2]), LONGEST_LINE)}"
        yield Keepsake("Not resolved", text, 2.5 / (1 + age / 2), -age)


def _left_to_do(source: SegmentSource) -> Iterator[Keepsake]:
    for number, task in enumerate(segment.left_to_do(source.record, source.segment)):
        yield Keepsake("Left to do", one_line(task.text, 120), 1.0 / (1 + number / 3), number)


def _subagents(facts: Record) -> Iterator[Keepsake]:
    for number, one in enumerate(facts.agents.values()):
        answer = f" → {one_line(one.answer, 600)}" if one.answer else ""
        text = f"{one.kind or 'agent'}: {one_line(one.asked, 160)}{answer}"
        yield Keepsake("Subagents", text, 2.0, number)


def _on_the_way(words: Sequence[ModelWords], closing: set[int]) -> Iterator[Keepsake]:
    """The longest first: they tell the most."""
    for one in words:
        text = one_line(one.text, LONGEST_WORDS)
        if one.offset not in closing and len(text) >= LEAST_WORDS:
            yield Keepsake("On the way", text, float(len(text)) ** 2, one.offset, rank=LAST)


def _changes(source: SegmentSource) -> Iterator[Keepsake]:
    """The lines that were added, where there is still room: the newest first."""
    for age, one in enumerate(reversed(source.changes)):
        before = set(map(str.strip, one.old.splitlines()))
        added = [row.strip() for row in one.new.splitlines() if row.strip() not in before]
        text = one_line(" ⏎ ".join(row for row in added if len(row) > 1), LONGEST_CHANGE)
        if text:
            text = f"{one_line(files.relative(source.record, one.path), 120)}: {text}"
            yield Keepsake("Changed", text, 1e-3 / (1 + age), one.offset, rank=LAST)


def _files(facts: Record) -> Iterator[Keepsake]:
    heats = {
        name: _heat(facts, used)
        for name, used in facts.files.items()
        if used.count > used.seen or used.seen > 1  # once told of by a search is nobody's file
    }
    shown = _split(facts.files)
    for rank, (name, worth) in enumerate(_ranked(heats)):
        folder, short = shown[name]
        text = one_line(short, 120) + (CHANGED if facts.files[name].edits else "")
        yield Keepsake("Files", text, 0.5 + 5.0 * worth, rank, folder)


def _split(files: dict[str, FileUse]) -> dict[str, tuple[str, str]]:
    """Folder and name; a folder that has one file only is written with it."""
    found = {name: name.rpartition("/") for name in files}
    counts: dict[str, int] = {}
    for folder, _, _ in found.values():
        counts[folder] = counts.get(folder, 0) + 1
    return {
        name: (f"{folder}/:", short) if folder and counts[folder] > 1 else ("", name)
        for name, (folder, _, short) in found.items()
    }


def _heat(facts: Record, used: FileUse | Command) -> float:
    """Where the segment ends matters less than how much it was used: anything may come back."""
    return heat_at(used, facts.op, 3 * 40.0) + 10 * FLOOR * used.count


def _ranked(heats: dict[str, float]) -> list[tuple[str, float]]:
    """The warmest first, each with its worth: nearly one for the warmest, less for the rest."""
    total = sum(heats.values()) or 1.0
    ranked = sorted(heats, key=lambda key: (-heats[key], key))
    return [(key, heats[key] / (heats[key] + 0.08 * total)) for key in ranked]


def _commands(facts: Record) -> Iterator[Keepsake]:
    heats = {key: _heat(facts, one) for key, one in facts.commands.items()}
    for rank, (key, worth) in enumerate(_ranked(heats)):
        one = facts.commands[key]
        how = {PASSED: "ok", FAILED: "failed"}.get(outcome(one), "")
        text = f"`{one_line(one.line.partition(chr(10))[0], LONGEST_COMMAND)}` {how}".rstrip()
        yield Keepsake("Commands", text, 0.5 + 5.0 * worth, rank)


def _names(facts: Record) -> Iterator[Keepsake]:
    heats = {
        key: (heat_at(one, facts.op, 120.0) + 10 * FLOOR * one.count)
        for key, one in facts.names.items()
        if not key.startswith("__") and not key.isdigit()
    }
    for rank, (key, worth) in enumerate(_ranked(heats)[:MOST_NAMES]):
        yield Keepsake("Names", key, 0.1 + 3.0 * worth, rank)


def _references(facts: Record) -> Iterator[Keepsake]:
    """A hash seen once may be of anything."""
    told = [
        pair for pair in facts.references.items() if pair[1].kind != "hash" or pair[1].count > 1
    ]
    for rank, (key, one) in enumerate(sorted(told, key=lambda pair: -pair[1].count)[:20]):
        note = f" ({one_line(one.note, 60)})" if one.note else ""
        yield Keepsake("References", f"{one_line(key, 120)}{note}", 0.6 / (1 + rank / 5), rank)
