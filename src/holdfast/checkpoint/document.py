"""A checkpoint as a value: what was known, when, and in which session. Nothing here accesses the
disk."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.files.folders import digest
from holdfast.redact import redact, redact_each

VERSION = 1
TRIGGERS = ("auto", "manual", "guard", "monitor", "watcher", "batch", "session-end")
REQUIRED = ("What Changed", "Why Changed", "Active Issues", "Key Decisions", "Next Steps")
SUMMARY_CHARACTERS = 160

Sections = Mapping[str, Sequence[str]]


class Document(msgspec.Struct, frozen=True):
    """Items are plain texts without a bullet; they may hold any character and any number of
    lines."""

    created: datetime
    trigger: str
    project: str
    session_id: str
    agent_id: str = ""
    iteration: int = 0  # 0: `keep` continues the count of the parent
    parent: str = ""
    summary: str = ""  # one line for lists; empty: taken from the snapshot or the sections
    sections: Sections = {}
    snapshot: Mapping[str, Any] = {}
    state_hash: str = ""  # of the facts it was made from; empty: of the sections
    is_complete: bool = True  # False: the transcript was not read to its end


def normalize(document: Document) -> Document:
    """Fill in every field that the caller left out. Normalizing twice changes nothing more."""
    if document.trigger not in TRIGGERS:
        raise ValueError(f"no such trigger: {document.trigger}")
    given = {name: list(items) for name, items in document.sections.items()}
    sections = {name: items for name, items in given.items() if items or name in REQUIRED}
    sections |= {name: [] for name in REQUIRED if name not in sections}
    return replace(
        document,
        created=to_second(document.created),
        sections=sections,
        summary=document.summary or summary_of(sections, document.snapshot),
        state_hash=document.state_hash or hash_of(sections),
    )


def summary_of(sections: Sections, snapshot: Mapping[str, Any]) -> str:
    """Return one line: the snapshot's own summary, else the first next step."""
    names = ("Next Steps", "What Changed", "Active Issues", "Key Decisions")
    firsts = (item for name in names for item in list(sections[name])[:1])
    lines = (
        " ".join(str(first).split()) for first in (snapshot.get("context_summary", ""), *firsts)
    )
    text = next(filter(None, lines), "")
    return text if len(text) <= SUMMARY_CHARACTERS else f"{text[: SUMMARY_CHARACTERS - 1]}…"


def hash_of(facts: object) -> str:
    """Return the hash of the facts. The same facts in the same order have the same hash at any
    time."""
    text = json.dumps(facts, sort_keys=True, default=str)
    return digest(text.encode())


def to_second(moment: datetime) -> datetime:
    """UTC to the second, as in the file's name; a time without a zone counts as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(microsecond=0)


def clean_document(document: Document) -> Document:
    """Remove secrets from every text before anything reaches the disk."""
    return replace(
        document,
        session_id=redact(document.session_id),
        agent_id=redact(document.agent_id),
        summary=redact(document.summary),
        sections=redact_each(document.sections),
        snapshot=redact_each(document.snapshot),
    )


def with_snapshot(document: Document, snapshot: Mapping[str, Any]) -> Document:
    return replace(document, snapshot=snapshot)
