"""What a person typed, from every place where the client records it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from holdfast.transcript.user_words import Author, Words, find_words

if TYPE_CHECKING:
    from holdfast.transcript.entries import Entry

LOOKED_AT = 40  # entries, from the first
# The prompt of a session that `holdfast run` started. `run.prompt` writes it around the tasks of a
# plan: the frame is ours, so nobody said it.
RUN_BEGINS = "This is batch "
_HEAD = re.compile(rf"{RUN_BEGINS}\d+ of \d+ of (?:a plan|the plan \")")
# An id has no brackets: otherwise a line of brackets would be searched once for each of them.
TASK = re.compile(r"^## (\d+\. |Task \d+: |Task (?=\d+[.)] ))(.+?)  \[[^][\n]+\]$", re.MULTILINE)
OWN_NUMBER = re.compile(r"^\d+[.)] ")
TERMS = '\n## What "done" means\n'
STEP_OF = "This is one step of a larger task,"
OTHER_STEPS = "Its other steps are tasks of their own."
PLAN_SAYS = "Of all of it the plan says:"
STANDS_BELOW = "In the plan it stands below:"
RULES = "What the plan says besides its tasks (a rule in it applies to every task):"
OUTLINE = "All tasks of the plan, for orientation. Other sessions do the rest:"
SETTLED = "It is settled, and the plan says of"
QUOTE = "> "
OTHER_FILES = " (the other files of this task are another session's)"
_STEP = re.compile(
    rf'^{re.escape(STEP_OF)} "(.*)"\. {re.escape(OTHER_STEPS)}$\n?(?:{re.escape(PLAN_SAYS)}\n\n)?',
    re.MULTILINE,
)
_NOTIFICATIONS = ("<task-notification", "<agent-notification", '{"task_id"')


def own_words(texts: Sequence[str], author: Author = "") -> Words:
    """Find what the user typed; for a prompt of `holdfast run`, what the plan asks for."""
    words = find_words(texts, author)
    return words._replace(typed=extract_request(words.typed) or words.typed)


def words_of(entry: Entry) -> Words:
    return own_words(texts_in(entry), author_of(entry))


def first_words(path: str | os.PathLike[str]) -> str:
    from holdfast.transcript.entries import Prompt
    from holdfast.transcript.reader import read

    entries = islice(read(path), LOOKED_AT)
    typed = (words_of(entry).typed for entry in entries if isinstance(entry, Prompt))
    return next(filter(None, typed), "")


def texts_in(entry: Entry) -> tuple[str, ...]:
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
    return text.startswith(_NOTIFICATIONS)


def author_of(entry: Entry) -> Author:
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
    if not isinstance(attachment, dict):
        return ()
    prompt = attachment.get("prompt")
    parts = prompt if isinstance(prompt, list) else [{"text": prompt}]
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return tuple(text for text in texts if isinstance(text, str))


def is_of_a_run(prompt: str) -> bool:
    return bool(_HEAD.match(prompt)) and TERMS in prompt


def split_tasks(prompt: str) -> list[tuple[str, str, str]]:
    _, *rest = TASK.split(prompt.partition(TERMS)[0])
    return list(zip(rest[::3], rest[1::3], rest[2::3], strict=True))


def heading(number: int, title: str) -> str:
    """Return the heading of a task with its number in the plan, because rules and other tasks may
    refer to it by number. A title with its own number gets no second one."""
    return f"Task {title}" if OWN_NUMBER.match(title) else f"Task {number}: {title}"


def extract_request(prompt: str) -> str:
    """Return the tasks and rules of a run's prompt; empty for any other."""
    if not is_of_a_run(prompt):
        return ""
    texts = []
    for number, title, body in split_tasks(prompt):
        description = _STEP.sub(r"Part of: \1\n", body).replace(OTHER_FILES, "").strip()
        texts.append(f"{number}{title}\n{description}".strip())
    quoted = prompt.partition(f"{RULES}\n")[2].splitlines()
    rules = takewhile(lambda line: line.startswith(QUOTE.strip()), quoted)
    texts += ["\n".join(line.removeprefix(QUOTE.strip()).strip() for line in rules)]
    return "\n\n".join(filter(None, texts))
