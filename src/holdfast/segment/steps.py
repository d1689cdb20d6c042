"""Read a transcript into steps, resumable after any line, with each step's files and words.

A step is one answer of the model with what followed it. Requests, results of commands
and open items are in the session's record; here is only what is counted and compared. The words of
a step are those that carry a topic, without words that occur in every text.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from holdfast.record import files, shell
from holdfast.record.model import Turn
from holdfast.record.replies import is_answer, width
from holdfast.redact import redact
from holdfast.text.sentences import ASKING, clip
from holdfast.transcript.blocks import Text, ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Attachment, Entry, Prompt, Result

WORDS_CHARS = 3000
LONGEST = 40
_WORD = re.compile(r"[^\W\d_][\w]{2,59}")
_COMMON_WORDS = (
    "about above add added adding adds after again against all already also always and another "
    "any anything are around ask asked async auf await because been before being below between "
    "bool both build built but call called calls can cannot case change changed changes "
    "changing check checked checking class clear code comment commit commits complete completed "
    "config const correct could create created current currently dans das data def default den "
    "der des did die different does doing done down each ein eine either else ensure error "
    "errors est even every everything exactly example existing expected fail failed failing "
    "fails false far few file files find fine first fix fixed fixes following for found from "
    "full function für get getting give given goes going good got great had handle has have "
    "having here how however implement implementation implemented import important include "
    "including input instead int into issue issues ist its itself just keep kind know las last "
    "later least les let lets like line lines list look looking looks los made main make makes "
    "making many may maybe means method might missing mit more most move much must name need "
    "needed needs never new next nicht none not nothing now null number off okay old once one "
    "only open other our out output over own para part pass passed passes passing path perfect "
    "place plan please point possible pour probably problem proceed project properly provide "
    "put que question read ready real really reason related remaining remove removed result "
    "results return returns review right run running runs same save say see seems self set "
    "several shall should show shows similar simple since single small some something specific "
    "start started starting state still str string such sure take task tasks test tested "
    "testing tests than thanks that the their them then there these they thing things think "
    "this those though three through time too tried true try trying two type und under "
    "understand une until update updated updates use used user users uses using value values "
    "verify version very via wait want wants was way well were what when where whether which "
    "while who whole why will with within without work working works would write writing "
    "written wrong yes yet you your "
)
COMMON = frozenset(_COMMON_WORDS.split())
READ_CHARS = 3000
MOST_FILES = 24
MOST_WORDS = 80
MOST_PROMPT_LINES = 40
SHORT_CHARS, LONGEST_QUESTION = 40, 240
EDITED, READ, NAMED = 4, 2, 1  # how strongly a file belongs to the step
_EDITS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})
_READS = frozenset({"Read", "NotebookRead"})


def visible(text: str) -> str:
    """Replace control characters and invisible ones by blanks."""
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() or mark == "\n" else " " for mark in text)


def one_line(text: str, most: int) -> str:
    """Put text on one line of at most `most` characters, with an ellipsis if it was cut."""
    words = " ".join(visible(clip(text, most * 4)).split())
    return words if len(words) <= most else clip(words, most - 2).rstrip() + " …"


def words(text: str) -> dict[str, int]:
    """Count the words, in lower case and without plurals; names stay whole."""
    found: dict[str, int] = {}
    for word in _WORD.findall(text[:WORDS_CHARS]):
        low = _stem(word.lower())[:LONGEST]
        if len(low) > 2 and low not in COMMON:
            found[low] = found.get(low, 0) + 1
    return found


def _stem(word: str) -> str:
    if word in COMMON or "_" in word or len(word) < 5:
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_name(word: str) -> bool:
    """Return whether a word looks like code; such a word alone identifies a topic."""
    return "_" in word or any(mark.isdigit() for mark in word)


class SegmentStep(msgspec.Struct, array_like=True):
    number: int
    start: int  # the byte at which its answer begins, or the words of the user before it
    first_uuid: str = ""
    last_uuid: str = ""
    at: str = ""
    chars: int = 0  # of everything that was added to the window
    messages: int = 0
    files: dict[str, int] = {}
    words: dict[str, int] = {}
    is_prompted: bool = False  # a turn begins with it
    asks: bool = False  # and it does not continue the one before
    inquires: bool = False  # and it is only a question
    prompt_lines: list[tuple[int, str]] = []  # lines before it that may hold the user's words


class StepReading(msgspec.Struct):
    """The state of reading steps, between two lines."""

    cwd: str = ""
    roots: list[str] = []
    message_id: str = ""
    count: int = 0
    now: SegmentStep | None = None
    # lines since the last answer that may hold the user's words
    prompt_lines: list[tuple[int, str]] = msgspec.field(default_factory=list, name="heard")


def feed(reading: StepReading, entry: Entry) -> SegmentStep | None:
    """Read one entry; return a finished step when the next one begins."""
    if entry.line.cwd != reading.cwd and entry.line.cwd:
        files.enter(reading, entry.line.cwd[:1000])
    done: SegmentStep | None = None
    if isinstance(entry, Answer):
        done = _answer(reading, entry)
    elif isinstance(entry, Result):
        _result(reading, entry)
    elif isinstance(entry, Prompt | Attachment):
        reading.prompt_lines = [*reading.prompt_lines, (entry.offset, entry.line.uuid[:80])][
            -MOST_PROMPT_LINES:
        ]
    return done


def prompt(step: SegmentStep, turn: Turn, reading: StepReading) -> None:
    """Add the user's words before a step to it."""
    if turn.place.offset < step.start:
        step.start = turn.place.offset
        step.first_uuid = dict(step.prompt_lines).get(step.start) or step.first_uuid
    step.is_prompted, step.asks = True, step.asks or not goes_on(turn)
    step.inquires = is_question(turn)
    step.chars += turn.chars
    step.messages += 1
    add_words(step, words(redact(turn.asked)), 2)
    for name in shell.find_paths(clip(turn.asked, READ_CHARS))[:12]:
        touch(step, files.relative(reading, name), READ)


def goes_on(turn: Turn) -> bool:
    """Return whether the turn answers the model or is too short to name a topic."""
    return is_answer(turn.reply_to) or width(turn.asked) < SHORT_CHARS


def is_question(turn: Turn) -> bool:
    """Return whether the turn is a single line that ends as a question."""
    asked = turn.asked.strip()
    return asked.endswith(ASKING) and len(asked) < LONGEST_QUESTION and "\n" not in asked


def touch(step: SegmentStep, name: str, how: int) -> None:
    if name in step.files or len(step.files) < MOST_FILES:
        step.files[name] = max(how, step.files.get(name, 0))


def add_words(step: SegmentStep, found: dict[str, int], weight: int = 1) -> None:
    for word, count in found.items():
        if word in step.words or len(step.words) < MOST_WORDS:
            step.words[word] = step.words.get(word, 0) + count * weight


def _answer(reading: StepReading, entry: Answer) -> SegmentStep | None:
    done: SegmentStep | None = None
    name = entry.message.id[:200] or entry.line.uuid[:80]
    if name != reading.message_id or reading.now is None:
        done, reading.message_id = reading.now, name
        reading.count += 1
        reading.now = SegmentStep(
            reading.count, entry.offset, first_uuid=entry.line.uuid[:80], messages=1
        )
        reading.now.at, reading.now.prompt_lines = entry.line.timestamp[:40], reading.prompt_lines
        reading.prompt_lines = []
    reading.now.last_uuid = entry.line.uuid[:80]
    for block in entry.message.blocks:
        if isinstance(block, ToolUse):
            reading.now.chars += len(memoryview(block.raw_input))
            _call(reading, reading.now, block.name, block.input)
        elif isinstance(block, Text):
            reading.now.chars += len(block.text)
            add_words(reading.now, words(redact(clip(block.text, READ_CHARS))))
    return done


def _call(reading: StepReading, now: SegmentStep, tool: str, given: dict[str, Any]) -> None:
    text_of = files.text_of
    if tool in _EDITS or tool in _READS:
        _file(reading, now, files.path_argument(given), EDITED if tool in _EDITS else READ)
    elif tool == "Bash":
        for name in shell.files(redact(clip(text_of(given, "command"), shell.LONGEST_LINE)))[:12]:
            _file(reading, now, name, NAMED)
        add_words(now, words(redact(clip(text_of(given, "description"), 200))))
    elif tool in ("Grep", "Glob"):
        add_words(now, words(redact(clip(text_of(given, "pattern"), 200))))
        _file(reading, now, text_of(given, "path"), NAMED)
    elif tool in ("Task", "Agent"):
        add_words(now, words(redact(clip(text_of(given, "prompt"), READ_CHARS))))
    elif tool == "TaskCreate":
        add_words(now, words(redact(clip(text_of(given, "subject"), 400))), 2)


def _file(reading: StepReading, now: SegmentStep, path: str, how: int) -> None:
    name = files.relative(reading, path.strip())
    if 3 < len(name) <= files.LONGEST_PATH and "." in name and "\n" not in name:
        touch(now, redact(visible(name)), how)


def _result(reading: StepReading, entry: Result) -> None:
    found = [block for block in entry.message.blocks if isinstance(block, ToolResult)]
    if reading.now is not None and found:
        reading.now.chars += sum(block.text_chars for block in found)
        reading.now.messages += 1
        reading.now.last_uuid = entry.line.uuid[:80]
