"""The compactions of a transcript: how much of each item the summary holds, and what we restore.

What was restored is read from the transcript; if no hook ran, it is what would have been restored.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from holdfast.brief.compose import MOST_SUMMARY, Brief, compose, compose_second
from holdfast.brief.item import OUTPUT_TOKENS, BriefItem
from holdfast.brief.summary_coverage import MeasuredItem, measure, missing
from holdfast.brief.summary_instructions import write_instructions
from holdfast.budget.compartments import tokens_of, units
from holdfast.memory.embedders import nearness
from holdfast.record.model import Place, Record
from holdfast.record.reader import RecordReader
from holdfast.record.turns import place_of
from holdfast.redact.find import redact
from holdfast.session.window_brief import headline
from holdfast.transcript.lookup import Compaction, read_compactions
from holdfast.window.state import State

NO_ROOM = "there was no room for it"


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """One compaction: every item, least found first, and which our briefs restore."""

    items: list[MeasuredItem]
    restored: list[MeasuredItem]
    brief_sizes: tuple[int, ...]  # tokens of the first brief, and of the second if there is one

    @property
    def not_found(self) -> list[MeasuredItem]:
        return [item for item in self.items if not item.is_found]

    @property
    def not_restored(self) -> list[MeasuredItem]:
        return [one for one in self.not_found if one not in self.restored]


def measure_last(path: Path, *, sidechain: bool) -> tuple[int, str, list[MeasuredItem]] | None:
    """The last compaction that has a summary: number, time, every item; None if there is none."""
    known = enumerate(read_compactions(path, sidechain=sidechain), 1)
    found = [(number, one) for number, one in known if one.summary is not None]
    if not found:
        return None
    number, last = found[-1]
    return number, last.at, _Measured(RecordReader(sidechain=sidechain), path, last).items


def summary_reports(path: Path, *, sidechain: bool) -> Iterator[tuple[int, SummaryReport]]:
    """Every summary of a transcript with the byte of its compaction, in one pass like the hooks."""
    reader = RecordReader(sidechain=sidechain)
    for compaction in read_compactions(path, sidechain=sidechain):
        if compaction.summary is None:
            continue
        measured = _Measured(reader, path, compaction)
        first, second = measured.briefs()
        left_out = missing(measured.items, f"{first.text}\n{second.text}")
        yield (
            compaction.offset,
            SummaryReport(
                measured.items,
                [item for item in measured.items if not (item.is_found or item in left_out)],
                _sizes([brief.text for brief in (first, second) if brief.lines]),
            ),
        )


class _Measured:
    """One compaction with the session's record as it was then."""

    def __init__(self, reader: RecordReader, path: Path, one: Compaction) -> None:
        self.record = reader.read_redacted(path, until=one.offset)
        self._known = reader.known
        self.summary = self.clean(one.summary or "")[:MOST_SUMMARY]
        self.items = measure(self.summary, self.record, nearness())

    def clean(self, text: str) -> str:
        return self._known.without_in(redact(text))

    def briefs(self, given: str = "") -> tuple[Brief, Brief]:
        """Return the two briefs that follow this compaction; `given`: the first one as it was."""
        first = compose(
            self.record, OUTPUT_TOKENS, headline=headline(State(), self.record), given=""
        )
        second = compose_second(self.record, f"{self.summary}\n{given or first.text}")
        return first, second


def _sizes(briefs: list[str]) -> tuple[int, ...]:
    return tuple(tokens_of(units(text)) for text in briefs)


MOST_REPORTS = 16


def compaction_report(path: Path, number: int, *, sidechain: bool) -> dict[str, Any] | None:
    """As plain values, without secrets; None without it. Raises Unreadable or OSError."""
    found = list(read_compactions(path, sidechain=sidechain))
    if not 1 <= number <= len(found):
        return None
    report = _report(str(path), path.stat().st_ino, found[number - 1], sidechain)
    return {"total": len(found), **report}


@lru_cache(MOST_REPORTS)  # a long transcript takes a second, and its past does not change
def _report(path: str, _inode: int, one: Compaction, sidechain: bool) -> dict[str, Any]:
    measured = _Measured(RecordReader(sidechain=sidechain), Path(path), one)
    record, given = measured.record, [measured.clean(text) for text in one.given]
    first, second = measured.briefs(given[0] if given else "")
    briefs = {
        "brief": _lines(first, given[:1] if given else None),
        "second_brief": _lines(second, given[1:2] if given else None),
    }
    texts = {name: "\n".join(text for text, _, _ in lines) for name, lines in briefs.items()}
    left_out = {name: missing(measured.items, text) for name, text in texts.items()}
    return {
        "was_given": bool(given),
        "summary": None if one.summary is None else measured.summary,
        "instructions": write_instructions(record, shown=one.trigger == "manual") or None,
        "summary_tokens": tokens_of(units(measured.summary)),
        "restored_tokens": sum(_sizes(given or [one.text for one in (first, second) if one.lines])),
        "items": [_item(record, item, briefs, left_out) for item in measured.items],
        **{
            name: [
                {"line": text, "reason": reason, **place_of(record, place)}
                for text, reason, place in lines
            ]
            for name, lines in briefs.items()
        },
    }


_Line = tuple[str, str, Place]


def _item(
    record: Record,
    one: MeasuredItem,
    briefs: dict[str, list[_Line]],
    left_out: dict[str, list[MeasuredItem]],
) -> dict[str, Any]:
    """Restored in the first brief that holds it; what the summary holds may stand there too."""
    lines = {name: _line_of(one.item, some) for name, some in briefs.items()}
    if one.is_found:
        name = next((name for name in briefs if lines[name] is not None), None)
    else:
        name = next((name for name in briefs if one not in left_out[name]), None)
    return {
        **plain(one),
        "reason": one.item.reason,
        "restored_in": name,
        "line": lines[name] if name else None,
        "why_not": None if name or one.is_found else NO_ROOM,
        **place_of(record, one.item.place),
    }


def plain(one: MeasuredItem) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "text": one.item.text,
        "share": round(one.share, 2),
        "is_found": one.is_found,
        "passage": one.passage,
        "by_meaning": one.by_meaning,
    }


def _lines(brief: Brief, given: list[str] | None) -> list[_Line]:
    """The restored lines, with the reason if a brief of now has the same; an item stays one."""
    composed = [(line.text, line.reason, line.source) for line in brief.lines]
    if given is None:
        return composed
    known = {text: (reason, place) for text, reason, place in composed}
    return [
        (text, *known.get(text, ("", Place())))
        for whole in given
        for text in _items(whole.split("\n"), {text for text in known if "\n" in text})
        if text
    ]


def _items(lines: list[str], longer: Collection[str]) -> Iterator[str]:
    """The lines one by one; those that are one of the longer texts together."""
    whole = [one.split("\n") for one in longer]
    at = 0
    while at < len(lines):
        count = next((len(one) for one in whole if lines[at : at + len(one)] == one), 1)
        yield "\n".join(lines[at : at + count])
        at += count


def _line_of(item: BriefItem, lines: list[_Line]) -> int | None:
    """Which line holds it: by its words, else by its place."""
    words = " ".join(item.text.split()).strip("“”-` ")[:40]
    same = [n for n, (text, _, _) in enumerate(lines) if words and words in " ".join(text.split())]
    here = [n for n, (_, reason, place) in enumerate(lines) if reason and place == item.place]
    return next(iter([*(n for n in same if n in here), *same, *here]), None)
