"""From a transcript to steps, resumable after any line: which files and words each was about.

A step is one answer of the model with what followed it. What the user asked, how commands went and
what is open stands in the session's record; here is only what is counted and compared.
"""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.record import files, shell
from holdfast.record.model import Turn
from holdfast.record.replies import is_answer, width
from holdfast.redact import redact
from holdfast.segment.plain_text import visible
from holdfast.segment.words import words
from holdfast.text.sentences import ASKING, clip
from holdfast.transcript import (
    Answer,
    Attachment,
    Entry,
    Prompt,
    Result,
    Text,
    ToolResult,
    ToolUse,
)

READ_CHARS = 3000
MOST_FILES = 24
MOST_WORDS = 80
MOST_HEARD = 40
SHORT_CHARS, LONGEST_QUESTION = 40, 240
EDITED, READ, NAMED = 4, 2, 1  # how much a file is the step's own
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_READS = frozenset({"Read", "NotebookRead"})


class Step(msgspec.Struct, array_like=True):
    number: int
    start: int  # the byte at which its answer begins, or the words of the user before it
    first_uuid: str = ""
    last_uuid: str = ""
    at: str = ""
    chars: int = 0  # of all that the window got
    messages: int = 0
    files: dict[str, int] = {}
    words: dict[str, int] = {}
    is_prompted: bool = False  # a turn begins with it
    asks: bool = False  # and it does not go on with the one before
    inquires: bool = False  # and all it asks is a question
    heard: list[tuple[int, str]] = []  # lines before it that may hold the user's words


class Reading(msgspec.Struct):
    """Where the reading of steps stands, between two lines."""

    cwd: str = ""
    roots: list[str] = []
    message_id: str = ""
    count: int = 0
    now: Step | None = None
    heard: list[tuple[int, str]] = []  # lines since the last answer


def feed(reading: Reading, entry: Entry) -> Step | None:
    """Take one entry; gives back a step when the next one begins."""
    if entry.line.cwd != reading.cwd and entry.line.cwd:
        files.enter(reading, entry.line.cwd[:1000])
    done: Step | None = None
    if isinstance(entry, Answer):
        done = _answer(reading, entry)
    elif isinstance(entry, Result):
        _result(reading, entry)
    elif isinstance(entry, Prompt | Attachment):
        reading.heard = [*reading.heard, (entry.offset, entry.line.uuid[:80])][-MOST_HEARD:]
    return done


def prompt(step: Step, turn: Turn, reading: Reading) -> None:
    """The user's words before a step belong to it."""
    if turn.place.offset < step.start:
        step.start = turn.place.offset
        step.first_uuid = dict(step.heard).get(step.start) or step.first_uuid
    step.is_prompted, step.asks = True, step.asks or not goes_on(turn)
    step.inquires = is_question(turn)
    step.chars += turn.chars
    step.messages += 1
    hear(step, words(redact(turn.asked)), 2)
    for name in shell.named(clip(turn.asked, READ_CHARS))[:12]:
        touch(step, files.relative(reading, name), READ)


def goes_on(turn: Turn) -> bool:
    """Its words answer the model, or are too short to name a topic."""
    return is_answer(turn.reply_to) or width(turn.asked) < SHORT_CHARS


def is_question(turn: Turn) -> bool:
    """One line that ends as a question does."""
    asked = turn.asked.strip()
    return asked.endswith(ASKING) and len(asked) < LONGEST_QUESTION and "\n" not in asked


def touch(step: Step, name: str, how: int) -> None:
    if name in step.files or len(step.files) < MOST_FILES:
        step.files[name] = max(how, step.files.get(name, 0))


def hear(step: Step, found: dict[str, int], weight: int = 1) -> None:
    for word, count in found.items():
        if word in step.words or len(step.words) < MOST_WORDS:
            step.words[word] = step.words.get(word, 0) + count * weight


def _answer(reading: Reading, entry: Answer) -> Step | None:
    done: Step | None = None
    name = entry.message.id[:200] or entry.line.uuid[:80]
    if name != reading.message_id or reading.now is None:
        done, reading.message_id = reading.now, name
        reading.count += 1
        reading.now = Step(reading.count, entry.offset, first_uuid=entry.line.uuid[:80], messages=1)
        reading.now.at, reading.now.heard = entry.line.timestamp[:40], reading.heard
        reading.heard = []
    reading.now.last_uuid = entry.line.uuid[:80]
    for block in entry.message.blocks:
        if isinstance(block, ToolUse):
            reading.now.chars += len(memoryview(block.raw_input))
            _call(reading, reading.now, block.name, block.input)
        elif isinstance(block, Text):
            reading.now.chars += len(block.text)
            hear(reading.now, words(redact(clip(block.text, READ_CHARS))))
    return done


def _call(reading: Reading, now: Step, tool: str, given: dict[str, Any]) -> None:
    text_of = files.text_of
    if tool in _EDITS or tool in _READS:
        _file(reading, now, files.told(given), EDITED if tool in _EDITS else READ)
    elif tool == "Bash":
        for name in shell.files(redact(clip(text_of(given, "command"), shell.LONGEST_LINE)))[:12]:
            _file(reading, now, name, NAMED)
        hear(now, words(redact(clip(text_of(given, "description"), 200))))
    elif tool in ("Grep", "Glob"):
        hear(now, words(redact(clip(text_of(given, "pattern"), 200))))
        _file(reading, now, text_of(given, "path"), NAMED)
    elif tool in ("Task", "Agent"):
        hear(now, words(redact(clip(text_of(given, "prompt"), READ_CHARS))))
    elif tool == "TaskCreate":
        hear(now, words(redact(clip(text_of(given, "subject"), 400))), 2)


def _file(reading: Reading, now: Step, path: str, how: int) -> None:
    name = files.relative(reading, path.strip())
    if 3 < len(name) <= files.LONGEST_PATH and "." in name and "\n" not in name:
        touch(now, redact(visible(name)), how)


def _result(reading: Reading, entry: Result) -> None:
    found = [one for one in entry.message.blocks if isinstance(one, ToolResult)]
    if reading.now is not None and found:
        reading.now.chars += sum(one.text_chars for one in found)
        reading.now.messages += 1
        reading.now.last_uuid = entry.line.uuid[:80]
