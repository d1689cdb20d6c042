"""What of a segment is kept, thing by thing, with what each is worth to whoever comes back to it.

Worth is the chance to be used again in the session, times what it would cost to be without: files
and commands by how warm they were at the end of the segment, names by that and by how rare they
are; the words of the user and the outcome first of all.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from holdfast.record import decisions as record_decisions
from holdfast.record.failures import resolved
from holdfast.record.heat import FLOOR, heat_at
from holdfast.record.model import Command, Record, Used
from holdfast.segment.plain import line

# Each with what stands between its things.
SECTIONS = {
    "Asked": "\n- ",
    "Outcome": "\n- ",
    "Decided": "\n- ",
    "Resolved": "\n- ",
    "Not resolved": "\n- ",
    "Left to do": "\n- ",
    "Files": ", ",
    "Commands": "\n- ",
    "References": ", ",
    "Names": ", ",
}
CHANGED = "*"  # behind a file
MOST_NAMES = 60  # a wall of them helps nobody
LONGEST_ASKED, LONGEST_OUTCOME, LONGEST_LINE = 300, 400, 200
LONGEST_COMMAND = 160
TELLING_CHARS = 120
_ANNOUNCING = ("let me", "let's", "now ", "i'll", "next", "first")


class Keepsake(msgspec.Struct, gc=False):
    section: str
    text: str
    worth: float
    order: float = 0.0
    under: str = ""  # the folder a file is written under


def of(facts: Record, part_of: str = "") -> list[Keepsake]:
    """`part_of`: the request, where it was made before the segment began."""
    return [
        *([Keepsake("Asked", f"(as part of) {part_of}", 6.0, -1)] if part_of else []),
        *_said(facts),
        *_outcomes(facts),
        *_files(facts),
        *_commands(facts),
        *_names(facts),
        *_references(facts),
    ]


def decided(facts: Record) -> list[str]:
    """What was decided, each with its question."""
    return [
        line(f"{one.question} → {one.text}" if one.question else one.text, 240)
        for one in record_decisions.decided(facts)
    ]


def main_files(facts: Record) -> list[str]:
    """Those changed, warmest first; where none was, those read."""
    ranked = sorted(facts.files, key=lambda name: (-_heat(facts, facts.files[name]), name))
    changed = [name for name in ranked if facts.files[name].edits]
    return changed or [name for name in ranked if facts.files[name].reads]


def _said(facts: Record) -> Iterator[Keepsake]:
    asked = [one for one in facts.turns if one.asked]
    for age, turn in enumerate(reversed(asked)):
        first = turn is asked[0]
        worth = 6.0 if first or not age else 4.0 / (1 + age / 8)
        yield Keepsake("Asked", line(turn.asked, LONGEST_ASKED), worth, turn.place.op)
    for age, words in enumerate(reversed(decided(facts))):
        yield Keepsake("Decided", words, 3.0 / (1 + age / 3), -age)


def _outcomes(facts: Record) -> Iterator[Keepsake]:
    if facts.last_texts:
        told = _outcome(facts.last_texts)
        yield Keepsake("Outcome", line(told, LONGEST_OUTCOME), 5.0)
        before = [text for text in facts.last_texts if text != told and len(text) >= TELLING_CHARS]
        for age, text in enumerate(reversed(before)):
            yield Keepsake("Outcome", line(text, LONGEST_LINE), 1.0 / (1 + age), -1 - age)
    for age, one in enumerate(reversed([one for one in resolved(facts) if one.lines])):
        by = f", by edits in {', '.join(one.fix[-3:])}" if one.fix else ""
        text = f"`{line(one.command, 80)}`: {line(one.lines[0], 120)}{by}"
        yield Keepsake("Resolved", text, 2.5 / (1 + age / 3), -age)
    for age, one in enumerate(reversed([one for one in facts.failures if one.fixed is None])):
        text = f"`{line(one.command, 80)}`: {line(' '.join(one.lines[:2]), LONGEST_LINE)}"
        yield Keepsake("Not resolved", text, 2.5 / (1 + age / 2), -age)
    known = list(facts.tasks.values())  # steps of a plan nobody ticks off, where there is a list
    listed = [one for one in known if one.source in ("task", "todo")] or known
    for number, task in enumerate(one for one in listed if one.is_open):
        yield Keepsake("Left to do", line(task.text, 120), 1.0 / (1 + number / 3), number)


def _outcome(texts: list[str]) -> str:
    """The last words, unless they only announce the next step: then the longest of the last few."""
    announces = texts[-1].rstrip().endswith(":") or texts[-1].lower().startswith(_ANNOUNCING)
    return max(texts, key=len) if announces and len(texts[-1]) < TELLING_CHARS else texts[-1]


def _files(facts: Record) -> Iterator[Keepsake]:
    heats = {
        name: _heat(facts, used)
        for name, used in facts.files.items()
        if used.count > used.seen or used.seen > 1  # once told of by a search is nobody's file
    }
    shown = _split(facts.files)
    for rank, (name, worth) in enumerate(_ranked(heats)):
        folder, short = shown[name]
        text = line(short, 120) + (CHANGED if facts.files[name].edits else "")
        yield Keepsake("Files", text, 0.5 + 5.0 * worth, rank, folder)


def _split(files: dict[str, Used]) -> dict[str, tuple[str, str]]:
    """Folder and name; a folder that has one file only is written with it."""
    found = {name: name.rpartition("/") for name in files}
    counts: dict[str, int] = {}
    for folder, _, _ in found.values():
        counts[folder] = counts.get(folder, 0) + 1
    return {
        name: (f"{folder}/:", short) if folder and counts[folder] > 1 else ("", name)
        for name, (folder, _, short) in found.items()
    }


def _heat(facts: Record, used: Used | Command) -> float:
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
        how = {True: "ok", False: "failed", None: ""}[one.ok]
        text = f"`{line(one.line.partition(chr(10))[0], LONGEST_COMMAND)}` {how}".rstrip()
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
        note = f" ({line(one.note, 60)})" if one.note else ""
        yield Keepsake("References", f"{line(key, 120)}{note}", 0.6 / (1 + rank / 5), rank)
