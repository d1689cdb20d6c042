"""What a person typed, from every place where the client records it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.transcript.user_words import user_words

if TYPE_CHECKING:
    from holdfast.transcript import Entry
    from holdfast.transcript.entries import Author

RUN_BEGINS = "This is batch "  # other texts do not need `run_prompt`, which is loaded later
_NOTIFICATIONS = ("<task-notification", "<agent-notification", '{"task_id"')


def own_words(text: str, author: Author = "") -> str:
    """Return what the user typed; for a prompt of `holdfast run`, what the plan asks for."""
    words = user_words(text, author)
    if not words.startswith(RUN_BEGINS):
        return words
    from holdfast.record import run_prompt

    return run_prompt.extract_request(words) or words


def is_notification(text: str) -> bool:
    """Whether the client informs the model about a background task."""
    return text.startswith(_NOTIFICATIONS)


def author_of(entry: Entry) -> Author:
    """Return who wrote an entry that is in the user's name."""
    from holdfast.transcript import Attachment, decoded  # a restore reads no entries
    from holdfast.transcript.entries import author

    attachment = decoded(entry.raw) if isinstance(entry, Attachment) else None
    if not isinstance(attachment, dict):
        return entry.line.author
    if attachment.get("isMeta") or attachment.get("commandMode") == "task-notification":
        return "other"
    origin = attachment.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return author(kind) if isinstance(kind, str) else entry.line.author


def queued_words(attachment: Any) -> str:
    """Return the words that a `queued_command` attachment gives to the model."""
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return ""
    found = attachment.get("prompt")
    if isinstance(found, list):
        texts = [part.get("text") for part in found if isinstance(part, dict)]
        found = "\n".join(text for text in texts if isinstance(text, str))
    return found if isinstance(found, str) else ""
