"""The compactions of a transcript: what each summary lost or got wrong, and what we restore."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.brief.compose import DEFAULT_TOKENS, Brief, compose, lost_items
from holdfast.brief.item import BriefItem
from holdfast.brief.quotes import SECTION, quotes
from holdfast.brief.summary_check import SummaryCheck, check
from holdfast.budget.estimate import tokens_of, units
from holdfast.events import after_compact, window_brief
from holdfast.record import RecordReader
from holdfast.record.secrets import redacted
from holdfast.redact import redact
from holdfast.transcript import Summary, read

REMARK_CHARS = 900  # for what the model noted at work
MAIN = frozenset(("said", "tasks", "failing", "questions"))


@dataclass(frozen=True, slots=True)
class LastLoss:
    """The last compaction. `brief` is what neither the summary nor Claude Code brings back; `items`
    is what matters of it: words of the user and open work."""

    brief: Brief
    checked: SummaryCheck
    items: list[BriefItem]
    messages: int  # that the user had sent
    number: int  # of this compaction in its session
    at: str  # when, as the transcript says it

    @property
    def rest(self) -> dict[str, int]:
        """How many there are of each other kind."""
        return dict(Counter(one.section for one in self.brief.items if one.section not in MAIN))


@dataclass(frozen=True, slots=True)
class SummaryLoss:
    """One compaction: what its summary does not hold, and which of it Holdfast's briefs restore."""

    lost: list[BriefItem]
    restored: list[BriefItem]
    messages: int  # that the user had sent
    brief_tokens: int
    checked: SummaryCheck


def after_last_compaction(path: Path, *, sidechain: bool, max_tokens: int) -> LastLoss | None:
    """The last compaction; None if the transcript has none."""
    found = list(_summaries(path, sidechain))
    if not found:
        return None
    last = found[-1]
    reader = RecordReader(sidechain=sidechain)
    record = redacted(reader.read(path, until=last.offset))
    summary = reader.known.without_in(redact(last.text))
    brief = compose(record, max_tokens, summary=summary, remark_chars=REMARK_CHARS)
    items, messages = lost_items(record, summary), len(quotes(record))
    return LastLoss(brief, check(record, summary), items, messages, len(found), last.timestamp)


def summary_losses(path: Path, *, sidechain: bool) -> Iterator[tuple[int, SummaryLoss]]:
    """Every summary of a transcript with the byte it starts at, in one pass like the hooks."""
    reader = RecordReader(sidechain=sidechain)
    for one in _summaries(path, sidechain):
        record = redacted(reader.read(path, until=one.offset))
        summary = reader.known.without_in(redact(one.text))[: after_compact.MOST_SUMMARY]
        lost, checked = lost_items(record, summary), check(record, summary)
        first = compose(
            record,
            DEFAULT_TOKENS,
            may_grow=True,
            remark_chars=window_brief.REMARK_CHARS,
            summary="",
        )
        second = compose(
            record,
            after_compact.SECOND_TOKENS,
            claims=checked.told,
            remark_chars=after_compact.REMARK_CHARS,
            summary=f"{summary}\n{first.text}",
        )
        given = {_key(item) for item in (*first.items, *second.items)}
        texts = [brief.text for brief in (first, second) if brief.lines]
        yield (
            one.offset,
            SummaryLoss(
                lost,
                [item for item in lost if _key(item) in given],
                len(quotes(record)),
                sum(tokens_of(units(text)) for text in texts),
                checked,
            ),
        )


def _key(item: BriefItem) -> tuple[str, str]:
    """A key by which an item is found in another length: the user's words by their position in the
    session, others by how they start."""
    return item.section, f"{item.order}" if item.section == SECTION else item.text[:40]


def _summaries(path: Path, sidechain: bool) -> Iterator[Summary]:
    for entry in read(path):
        if isinstance(entry, Summary) and entry.is_sidechain is sidechain:
            yield entry
