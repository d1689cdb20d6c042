"""The compactions of a transcript: what each summary lost, and what we restore.

What was restored is read from the transcript; if no hook ran, it is what would have been restored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from holdfast.brief.compose import Brief, compose
from holdfast.brief.item import OUTPUT_TOKENS, BriefItem
from holdfast.brief.quotes import quotes
from holdfast.brief.roles import sections_of
from holdfast.brief.summary_coverage import SummaryContents, contents_of
from holdfast.brief.summary_instructions import write_instructions
from holdfast.budget.compartments import tokens_of, units
from holdfast.events import after_compact
from holdfast.events.window_brief import headline
from holdfast.record.model import Place, Record
from holdfast.record.reader import RecordReader
from holdfast.record.turns import place_of
from holdfast.redact import redact
from holdfast.text.fence import TAG
from holdfast.transcript.blocks import decoded
from holdfast.transcript.entries import Attachment, Boundary, Summary
from holdfast.transcript.reader import read
from holdfast.window.state import State

NO_ROOM = "there was no room for it"
MAIN = frozenset(("said", "tasks", "failing", "questions"))


@dataclass(frozen=True, slots=True)
class LastLoss:
    """The last compaction. `brief` is what neither the summary nor Claude Code brings back;
    `contents` is what matters of it: words of the user and open work."""

    brief: Brief
    contents: SummaryContents
    messages: int  # that the user had sent
    number: int  # of this compaction in its session
    at: str  # when, as the transcript says it

    @property
    def rest(self) -> dict[str, int]:
        """How many there are of each other kind."""
        return dict(Counter(one.section for one in self.brief.items if one.section not in MAIN))

    @property
    def rest_lines(self) -> Iterator[str]:
        """Those, laid out as in a brief."""
        main = {f"## {one.heading}" for one in sections_of(self.brief.role) if one.name in MAIN}
        is_shown = True
        for line in self.brief.lines:
            if line.text.startswith("## "):
                is_shown = line.text not in main
            if is_shown:
                yield line.text


@dataclass(frozen=True, slots=True)
class SummaryLoss:
    """One compaction: what its summary does not hold, and which of it Holdfast's briefs restore."""

    lost: list[BriefItem]
    restored: list[BriefItem]
    messages: int  # that the user had sent
    brief_sizes: tuple[int, ...]  # tokens of the first brief, and of the second if there is one

    @property
    def brief_tokens(self) -> int:
        return sum(self.brief_sizes)

    @property
    def not_restored(self) -> list[BriefItem]:
        """What is in neither brief: there was no room for it."""
        return [one for one in self.lost if one not in self.restored]


def after_last_compaction(path: Path, *, sidechain: bool, max_tokens: int) -> LastLoss | None:
    """The last compaction; None if the transcript has none."""
    found = list(_summaries(path, sidechain))
    if not found:
        return None
    last = found[-1]
    reader = RecordReader(sidechain=sidechain)
    record = reader.read_redacted(path, until=last.offset)
    summary = reader.known.without_in(redact(last.text))[: after_compact.MOST_SUMMARY]
    brief = compose(record, max_tokens, given=summary)
    contents, messages = contents_of(summary, record), len(quotes(record))
    return LastLoss(brief, contents, messages, len(found), last.timestamp)


def summary_losses(path: Path, *, sidechain: bool) -> Iterator[tuple[int, SummaryLoss]]:
    """Every summary of a transcript with the byte it starts at, in one pass like the hooks."""
    reader = RecordReader(sidechain=sidechain)
    for one in _summaries(path, sidechain):
        record = reader.read_redacted(path, until=one.offset)
        summary = reader.known.without_in(redact(one.text))[: after_compact.MOST_SUMMARY]
        lost = contents_of(summary, record).lost
        first = _first_brief(record)
        second = after_compact.compose_second(record, summary, first.text)
        given = {_key(item) for item in (*first.items, *second.items)}
        texts = [brief.text for brief in (first, second) if brief.lines]
        yield (
            one.offset,
            SummaryLoss(
                lost,
                [item for item in lost if _key(item) in given],
                len(quotes(record)),
                tuple(tokens_of(units(text)) for text in texts),
            ),
        )


def _first_brief(record: Record) -> Brief:
    """The brief that SessionStart composes after a compaction."""
    return compose(record, OUTPUT_TOKENS, headline=headline(State(), record), given="")


def _key(item: BriefItem) -> tuple[str, float]:
    """A key by which an item is found in another length: its position among those of its kind."""
    return item.section, item.order


def _summaries(path: Path, sidechain: bool) -> Iterator[Summary]:
    for entry in read(path):
        if isinstance(entry, Summary) and entry.is_sidechain is sidechain:
            yield entry


ADDED = "hook_additional_context"
MOST_REPORTS = 16


@dataclass(frozen=True, slots=True)
class _Compaction:
    """Its place in the file, and what the model got: the summary and the briefs of our hooks."""

    offset: int
    trigger: str = ""
    summary: str | None = None
    given: tuple[str, ...] = ()


def compaction_report(path: Path, number: int, *, sidechain: bool) -> dict[str, Any] | None:
    """As plain values, without secrets; None if the transcript has no compaction of this number.
    Raises Unreadable or OSError where it cannot be read."""
    found = list(_compactions(str(path), sidechain))
    if not 1 <= number <= len(found):
        return None
    one = found[number - 1]
    report = _report(str(path), path.stat().st_ino, one, sidechain)
    return {"total": len(found), **report}


@lru_cache(MOST_REPORTS)  # a long transcript takes a second, and its past does not change
def _report(path: str, _inode: int, one: _Compaction, sidechain: bool) -> dict[str, Any]:
    reader = RecordReader(sidechain=sidechain)
    record = reader.read_redacted(path, until=one.offset)

    def clean(text: str) -> str:
        return reader.known.without_in(redact(text))

    summary = None if one.summary is None else clean(one.summary)[: after_compact.MOST_SUMMARY]
    contents = _ReportedContents(record, summary or "", [clean(text) for text in one.given])
    return {
        "was_given": bool(one.given),
        "summary": summary,
        "instructions": write_instructions(record, shown=one.trigger == "manual") or None,
        "summary_tokens": tokens_of(units(summary or "")),
        **contents.values(),
    }


def _compactions(path: str, sidechain: bool) -> Iterator[_Compaction]:
    """A boundary and the summary behind it are one; client 1.0.53 wrote only the summary."""
    last: _Compaction | None = None
    for entry in read(Path(path)):
        if entry.is_sidechain is not sidechain:
            continue
        if isinstance(entry, Boundary) and entry.resets_window:
            if last is not None:
                yield last
            last = _Compaction(entry.offset, entry.trigger)
        elif isinstance(entry, Summary):
            if last is not None and last.summary is not None:
                yield last
                last = None
            last = replace(last or _Compaction(entry.offset), summary=entry.text)
        elif last is not None and isinstance(entry, Attachment) and entry.kind == ADDED:
            briefs = (text for text in _texts(entry) if f"<{TAG}" in text)
            last = replace(last, given=(*last.given, *briefs))
    if last is not None:
        yield last


def _texts(entry: Attachment) -> list[str]:
    content = decoded(entry.raw).get("content")
    some = content if isinstance(content, list) else [content]
    return [one for one in some if isinstance(one, str)]


class _ReportedContents:
    """What one summary and two briefs hold of a record."""

    def __init__(self, record: Record, summary: str, given: list[str]) -> None:
        self._record = record
        self._contents = contents_of(summary, record)
        first = _first_brief(record)
        second = after_compact.compose_second(record, summary, given[0] if given else first.text)
        self._briefs = {
            "brief": _lines(first, given[:1] if given else None),
            "second_brief": _lines(second, given[1:2] if given else None),
        }

    def values(self) -> dict[str, Any]:
        briefs = {
            name: [
                {"line": text, "reason": reason, **self._place(place)} for text, reason, place in b
            ]
            for name, b in self._briefs.items()
        }
        texts = ["\n".join(text for text, _, _ in lines) for lines in self._briefs.values()]
        return {
            "kept": [
                *({**self._item(one), "is_shortened": False} for one in self._contents.kept),
                *({**self._item(one), "is_shortened": True} for one in self._contents.shortened),
            ],
            "lost": [{**self._item(one), **self._restored(one)} for one in self._contents.lost],
            "restored_tokens": sum(tokens_of(units(text)) for text in texts),
            **briefs,
        }

    def _restored(self, item: BriefItem) -> dict[str, Any]:
        for name, lines in self._briefs.items():
            text = "\n".join(text for text, _, _ in lines)
            if text and _line_of(item, lines) is not None:
                return {"restored_in": name, "line": _line_of(item, lines), "why_not": None}
        return {"restored_in": None, "line": None, "why_not": NO_ROOM}

    def _item(self, one: BriefItem) -> dict[str, Any]:
        item = {"kind": one.section, "text": one.text, "reason": one.reason}
        return {**item, **self._place(one.place)}

    def _place(self, place: Place) -> dict[str, Any]:
        return place_of(self._record, place)


_Line = tuple[str, str, Place]


def _lines(brief: Brief, given: list[str] | None) -> list[_Line]:
    """The restored lines, each with its reason if a brief composed now has the same line. An item
    of several lines stays one."""
    composed = [(one.text, one.reason, one.source) for one in brief.lines]
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
