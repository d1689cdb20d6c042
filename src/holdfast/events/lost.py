"""The last compaction of a transcript, looked at afterwards: what its summary left out, and what
it got wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from holdfast.brief.compose import Brief, Line, compose
from holdfast.brief.quotes import OUTCOME
from holdfast.brief.roles import sections_of
from holdfast.brief.summary_check import SummaryCheck, check
from holdfast.events.take_checkpoint import without_secrets
from holdfast.record import RecordReader
from holdfast.redact import redact
from holdfast.transcript import Summary, read

REMARK_CHARS = 900  # for what the model noted at work
MAIN = frozenset(
    ("said", "marked", "pinned", "tasks", "failing", "questions", "agents", "decisions")
)


@dataclass(frozen=True, slots=True)
class Lost:
    """`brief` is what neither the client's summary nor the client itself brings back."""

    brief: Brief
    checked: SummaryCheck

    @property
    def main(self) -> list[Line]:
        """The lines of what cannot be found again: words, open work, decisions."""
        names = {f"## {one.heading}": one.name for one in sections_of(self.brief.role)}
        lines, section = [], ""
        for line in self.brief.lines:
            if line.text.startswith("## "):
                section = names.get(line.text, "")
            if section in MAIN and line.reason != OUTCOME:
                lines.append(line)
        return lines

    @property
    def rest(self) -> dict[str, int]:
        """How many of each kind the other lines hold."""
        sections = (item.section for item in self.brief.items if item.section not in MAIN)
        return dict(Counter(sections))


def after_last_compaction(path: Path, *, sidechain: bool, max_tokens: int) -> Lost | None:
    """None where the transcript holds no compaction."""
    last = _last_summary(path, sidechain)
    if last is None:
        return None
    reader = RecordReader(sidechain=sidechain)
    record = without_secrets(reader.read(path, until=last.offset))
    summary = reader.known.without_in(redact(last.text))
    brief = compose(record, max_tokens, summary=summary, remark_chars=REMARK_CHARS)
    return Lost(brief, check(record, summary))


def _last_summary(path: Path, sidechain: bool) -> Summary | None:
    found = None
    for entry in read(path):
        if isinstance(entry, Summary) and entry.is_sidechain is sidechain:
            found = entry
    return found
