"""The compactions of a transcript: their summaries, and the briefs that our hooks gave."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

from holdfast.text.fence import TAG
from holdfast.transcript.blocks import decoded
from holdfast.transcript.entries import Attachment, Boundary, Summary
from holdfast.transcript.reader import read

ADDED = "hook_additional_context"


@dataclass(frozen=True, slots=True)
class Compaction:
    """Its place in the file, and what the model got: the summary, as the client wrote it, unless
    that is encrypted, and the briefs of our hooks."""

    offset: int
    at: str
    trigger: str = ""
    summary: str | None = None
    given: tuple[str, ...] = ()


def read_compactions(path: str | os.PathLike[str], *, sidechain: bool) -> Iterator[Compaction]:
    """Yield them in order. A boundary and the summary behind it are one; client 1.0.53 wrote only
    the summary."""
    last: Compaction | None = None
    for entry in read(path):
        if entry.is_sidechain is not sidechain:
            continue
        if isinstance(entry, Boundary) and entry.resets_window:
            if last is not None:
                yield last
            last = Compaction(entry.offset, entry.timestamp, entry.trigger)
        elif isinstance(entry, Summary):
            if last is not None and last.summary is not None:
                yield last
                last = None
            last = last or Compaction(entry.offset, entry.timestamp)
            last = replace(last, summary=entry.text if entry.is_readable else None)
        elif last is not None and isinstance(entry, Attachment) and entry.kind == ADDED:
            briefs = (text for text in _texts(entry) if f"<{TAG}" in text)
            last = replace(last, given=(*last.given, *briefs))
    if last is not None:
        yield last


def _texts(entry: Attachment) -> list[str]:
    content = decoded(entry.raw).get("content")
    some = content if isinstance(content, list) else [content]
    return [one for one in some if isinstance(one, str)]
