"""The last compaction of a transcript, looked at afterwards: what its summary left out, and what
it calls done that is not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from holdfast.brief.claims import contradicted
from holdfast.brief.compose import Brief, compose
from holdfast.brief.item import Claim
from holdfast.lifecycle.keeping import without_secrets
from holdfast.record import RecordReader
from holdfast.redact import redact
from holdfast.transcript import Summary, read


@dataclass(frozen=True, slots=True)
class Lost:
    """`brief` is what neither the client's summary nor the client itself brings back."""

    brief: Brief
    claims: list[Claim]


def after_last_compaction(path: Path, *, sidechain: bool, max_tokens: int) -> Lost | None:
    """None where the transcript holds no compaction."""
    last = _last_summary(path, sidechain)
    if last is None:
        return None
    reader = RecordReader(sidechain=sidechain)
    record = without_secrets(reader.read(path, until=last.offset))
    summary = reader.known.without_in(redact(last.text))
    return Lost(compose(record, max_tokens, summary=summary), contradicted(record, summary))


def _last_summary(path: Path, sidechain: bool) -> Summary | None:
    found = None
    for entry in read(path):
        if isinstance(entry, Summary) and entry.is_sidechain is sidechain:
            found = entry
    return found
