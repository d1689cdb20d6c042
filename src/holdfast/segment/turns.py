"""From entries to turns: one after another, resumable after any line."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.record import files, shell
from holdfast.record.user_input import own_words, queued_words
from holdfast.redact import redact
from holdfast.segment import turn as turns
from holdfast.segment.plain import line, visible
from holdfast.segment.turn import EDITED, NAMED, READ, Turn
from holdfast.segment.words import words
from holdfast.transcript import (
    Answer,
    Attachment,
    Boundary,
    Entry,
    Prompt,
    Result,
    Text,
    ToolResult,
    ToolUse,
    decoded,
)

LONGEST_ASKED = 400
READ_CHARS = 3000
SHORT_CHARS, ASIDE_CHARS = 40, 240
WIDE = 3  # letters that a character of a script without blanks is worth
MOST_CALLS = 64
MOST_TASKS = 200
ASKING_CHARS = 400  # of the model's last words
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_READS = frozenset({"Read", "NotebookRead"})
_STOPPED = "[Request interrupted"
_HOLLOW = ("<command-name>", "<command-message>")


class Reading(msgspec.Struct):
    """Where the reading of turns stands, between two lines."""

    cwd: str = ""
    roots: list[str] = []
    message_id: str = ""
    count: int = 0
    now: Turn | None = None
    calls: dict[str, str] = {}  # of the answer being read: which of them tell how it went
    tasks: dict[str, str] = {}  # each task's last status
    asking: bool = False  # the model's last words were a question
    summed_up: bool = False


def feed(reading: Reading, entry: Entry) -> Turn | None:
    """Take one entry; gives back a turn when another one begins."""
    if entry.line.cwd != reading.cwd and entry.line.cwd:
        files.enter(reading, entry.line.cwd[:1000])
    done: Turn | None = None
    if isinstance(entry, Answer):
        done = _answer(reading, entry)
    elif isinstance(entry, Prompt) and not entry.is_meta:
        done = _prompt(reading, entry, entry.text)
    elif isinstance(entry, Result):
        _result(reading, entry)
    elif isinstance(entry, Attachment) and entry.kind == "queued_command":
        done = _prompt(reading, entry, queued_words(decoded(entry.raw)))
    elif isinstance(entry, Boundary) and entry.resets_window:
        reading.summed_up = True
    if reading.now is not None and entry.line.uuid:
        reading.now.last_uuid = entry.line.uuid[:80]
    return done


def _begin(reading: Reading, entry: Entry) -> Turn | None:
    done, before = reading.now, reading.summed_up
    if done is not None:
        done.end = entry.offset
    reading.count += 1
    reading.now = Turn(reading.count, entry.offset, first_uuid=entry.line.uuid[:80])
    reading.now.at, reading.now.summed_up = entry.line.timestamp[:40], before
    reading.summed_up = False
    reading.calls.clear()
    return done


def _prompt(reading: Reading, entry: Entry, text: str) -> Turn | None:
    """Words of the user begin a turn, unless none of the model's have come since the last."""
    if text.startswith(_STOPPED) and reading.now is not None:
        reading.now.stopped = True
    said = redact(visible(own_words(text)))
    if not said or said.startswith(_HOLLOW):
        return None
    done: Turn | None = None
    if reading.now is None or reading.message_id:
        done = _begin(reading, entry)
    now = reading.now
    assert now is not None
    kind = kind_of(said, asked=reading.asking)
    if len(said) > now.asked_chars or kind == "request" != now.kind:
        now.asked, now.kind = said[:LONGEST_ASKED], kind
        now.asked_chars, now.answers = len(said), reading.asking
    now.chars += len(text)
    now.messages += 1
    turns.hear(now, words(said), 2)
    for name in shell.named(said[:READ_CHARS])[:12]:
        turns.touch(now, files.relative(reading, name), READ)
    reading.message_id = ""
    return done


def kind_of(said: str, *, asked: bool) -> str:
    """By the shape of the words: short ones go on with what was before, whatever they say."""
    length = sum(WIDE if mark > "⺀" else 1 for mark in said[:ASIDE_CHARS])
    if length < SHORT_CHARS or (asked and length <= 2 * SHORT_CHARS):
        return "answer" if asked else "aside"
    is_question = said.endswith(("?", "\uff1f")) and len(said) < ASIDE_CHARS and "\n" not in said
    return "question" if is_question else "request"


def _answer(reading: Reading, entry: Answer) -> Turn | None:
    done: Turn | None = None
    name = entry.message.id[:200] or entry.line.uuid[:80]
    if name != reading.message_id:
        if reading.now is None or reading.message_id:
            done = _begin(reading, entry)
        reading.message_id = name
        assert reading.now is not None
        reading.now.messages += 1
        reading.now.rests = True
    now = reading.now
    assert now is not None
    for block in entry.message.blocks:
        if isinstance(block, ToolUse):
            now.rests = False
            now.chars += len(memoryview(block.raw_input))
            _call(reading, now, block.name, block.id, block.input)
        elif isinstance(block, Text):
            now.chars += len(block.text)
            turns.hear(now, words(redact(block.text[:READ_CHARS])))
            reading.asking = "?" in block.text[-ASKING_CHARS:]
    return done


def _call(reading: Reading, now: Turn, tool: str, use_id: str, given: dict[str, Any]) -> None:
    text_of = files.text_of
    if tool in _EDITS or tool in _READS:
        _file(reading, now, files.told(given), EDITED if tool in _EDITS else READ)
    elif tool == "Bash":
        command = redact(text_of(given, "command")[: shell.LONGEST_LINE])
        for name in shell.files(command)[:12]:
            _file(reading, now, name, NAMED)
        turns.hear(now, words(text_of(given, "description")[:200]))
        if reading.calls.keys().isdisjoint({use_id}) and len(reading.calls) < MOST_CALLS:
            commits = "git commit" in command
            reading.calls[use_id[:80]] = "commit" if commits else shell.kind(shell.core(command))
    elif tool in ("Grep", "Glob"):
        turns.hear(now, words(redact(text_of(given, "pattern")[:200])))
        _file(reading, now, text_of(given, "path"), NAMED)
    elif tool in ("Task", "Agent"):
        turns.hear(now, words(redact(text_of(given, "prompt")[:READ_CHARS])))
    elif tool == "TodoWrite":
        _todos(reading, now, given.get("todos"))
    elif tool == "TaskUpdate":
        _status(reading, now, f"task {given.get('taskId')}"[:80], given.get("status"))
    elif tool == "TaskCreate":
        turns.hear(now, words(redact(text_of(given, "subject")[:400])), 2)


def _file(reading: Reading, now: Turn, path: str, how: int) -> None:
    name = files.relative(reading, path.strip())
    if 3 < len(name) <= files.LONGEST_PATH and "." in name and "\n" not in name:
        turns.touch(now, redact(visible(name)), how)


def _todos(reading: Reading, now: Turn, items: object) -> None:
    for item in items[:MOST_TASKS] if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(text := item.get("content"), str):
            said = redact(line(text, 120))
            if _status(reading, now, f"todo {said}", item.get("status")):
                turns.hear(now, words(said), 2)
                now.doing = said if item.get("status") == "in_progress" else now.doing


def _status(reading: Reading, now: Turn, key: str, status: object) -> bool:
    """True when it changed."""
    if not isinstance(status, str) or reading.tasks.get(key) == status:
        return False
    reading.tasks[key] = status[:40]
    while len(reading.tasks) > MOST_TASKS:
        del reading.tasks[next(iter(reading.tasks))]
    now.began |= status == "in_progress"
    now.finished |= status == "completed"
    return True


def _result(reading: Reading, entry: Result) -> None:
    now = reading.now
    if now is None:
        return
    counted = False
    for block in entry.message.blocks:
        if isinstance(block, ToolResult):
            now.chars += block.text_chars
            counted = True
            kind = reading.calls.pop(block.tool_use_id[:80], "")
            if kind in ("test", "build", "commit"):
                now.failed |= block.is_error
                now.passed |= not block.is_error and kind != "build"
        elif isinstance(block, Text) and block.text.startswith(_STOPPED):
            now.stopped = True
    now.messages += counted
