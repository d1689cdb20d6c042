"""What a person typed, from every place where the client records it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from holdfast.transcript.user_words import Author, Words, find_words

if TYPE_CHECKING:
    from holdfast.transcript.entries import Entry

LOOKED_AT = 40  # entries, from the first
RUN_BEGINS = "This is batch "  # other texts do not need `run_prompt`, which is loaded later
_NOTIFICATIONS = ("<task-notification", "<agent-notification", '{"task_id"')


def own_words(texts: Sequence[str], author: Author = "") -> Words:
    """Find what the user typed; for a prompt of `holdfast run`, what the plan asks for."""
    words = find_words(texts, author)
    if not words.typed.startswith(RUN_BEGINS):
        return words
    from holdfast.record import run_prompt

    return words._replace(typed=run_prompt.extract_request(words.typed) or words.typed)


def words_of(entry: Entry) -> Words:
    """Find what the user typed in a prompt, or in one that was delivered while the model worked."""
    return own_words(texts_in(entry), author_of(entry))


def first_words(path: str | os.PathLike[str]) -> str:
    """Return the first words that the user typed, if the first entries hold any."""
    from holdfast.transcript.entries import Prompt
    from holdfast.transcript.reader import read

    entries = islice(read(path), LOOKED_AT)
    typed = (words_of(entry).typed for entry in entries if isinstance(entry, Prompt))
    return next(filter(None, typed), "")


def texts_in(entry: Entry) -> tuple[str, ...]:
    """Return the texts of an entry that is in the user's name."""
    from holdfast.transcript.blocks import decoded
    from holdfast.transcript.entries import Attachment, Prompt, Queued, Result

    if isinstance(entry, Prompt):
        return () if entry.is_meta else entry.texts
    if isinstance(entry, Result):
        return () if entry.line.is_meta else entry.message.texts
    if isinstance(entry, Queued):
        return (entry.text,)
    is_queued = isinstance(entry, Attachment) and entry.kind == "queued_command"
    return _queued_texts(decoded(entry.line.attachment)) if is_queued else ()


def is_notification(text: str) -> bool:
    """Whether the client informs the model about a background task."""
    return text.startswith(_NOTIFICATIONS)


def author_of(entry: Entry) -> Author:
    """Return who wrote an entry that is in the user's name."""
    from holdfast.transcript.blocks import decoded
    from holdfast.transcript.entries import (  # a restore reads none
        Attachment,
        Prompt,
        Queued,
        author,
    )

    if isinstance(entry, Prompt) and entry.is_meta:
        return "other"
    if isinstance(entry, Queued):
        return ""
    attachment = decoded(entry.raw) if isinstance(entry, Attachment) else None
    if not isinstance(attachment, dict):
        return entry.line.author
    if attachment.get("isMeta") or attachment.get("commandMode") == "task-notification":
        return "other"
    origin = attachment.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return author(kind) if isinstance(kind, str) else entry.line.author


def _queued_texts(attachment: Any) -> tuple[str, ...]:
    """Return the texts that a `queued_command` attachment gives to the model."""
    if not isinstance(attachment, dict):
        return ()
    found = attachment.get("prompt")
    parts = found if isinstance(found, list) else [{"text": found}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return tuple(text for text in texts if isinstance(text, str))
