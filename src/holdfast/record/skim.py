"""What is read of a transcript if there is no time to read all of it.

`skim` reads the oldest part of a very long transcript, when it is read for the first time. From so
far back only what never expires is read: the user's words, the task list, the compactions. All
other lines are skipped, because decoding 100 MB would delay a compaction too long. A record that is
saved at every checkpoint never needs this.

`add_newest` reads the user's newest words, behind the entry at which a hook had no time to read on.
What the hook shows needs them: a rule may have been taken back since.
"""

import os
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from holdfast.record import model, results, secrets, turns
from holdfast.record.model import Record, Turn
from holdfast.record.plans import PROMPTED
from holdfast.record.reader import RecordReader
from holdfast.record.replies import REFUSED
from holdfast.record.results import looks_rejected
from holdfast.record.secrets import ToldSecrets
from holdfast.record.user_input import author_of, queued_words
from holdfast.redact.find import UNSEARCHED, redact, redact_answer
from holdfast.redact.rule import SecretFinding
from holdfast.text.sentences import clip
from holdfast.transcript import (
    Answer,
    Attachment,
    Boundary,
    Prompt,
    Queued,
    Reader,
    Result,
    ToolUse,
    decoded,
)
from holdfast.transcript.blocks import Malformed, without_blanks
from holdfast.transcript.entries import Entry
from holdfast.transcript.parse import LineTally, parse
from holdfast.transcript.reader import LONGEST_LINE_BYTES, TranscriptSource, behind_torn
from holdfast.wire import hook_time

HEAD_BYTES = 1500  # the part of a line that shows its kind
_RESULT, _PROGRESS = b'"type":"tool_result"', b'"type":"progress"'
_RECORD, _TEXT = b'"toolUseResult":', b'{"type":"text"'
_USER, _ASSISTANT, _SYSTEM = b'"type":"user"', b'"type":"assistant"', b'_boundary"'
_QUEUE = b'"type":"queue-operation"'
_HANDED_OVER = b'"type":"queued_command"'
_LOCAL = b'"subtype":"local_command"'
_OTHERS = (_SYSTEM, _QUEUE, _HANDED_OVER, _LOCAL)
_SIDECHAIN = b'"isSidechain":true'
_NAME = b'"name":"'
_TOOLS = (
    *(b'"name":"TodoWrite"', b'"name":"TaskCreate"', b'"name":"TaskUpdate"'),
    *(b'"name":"AskUserQuestion"', b'"name":"ExitPlanMode"'),
)
_USE_ID = b'"tool_use_id":"'
_MESSAGE, _ID = b'"message":{', b'"id":"'
MOST_NEWEST = 200  # prompts; more would not fit into any brief
MOST_RANDOM = 100  # words that are looked for in what is unread
MOST_BYTES = 500 << 20  # that are looked through for them; it takes half a second
MOST_ANSWERS = 6  # of the model, in case the user refused one of their calls
_LAST_PROMPT = b'"last-prompt"'  # a copy of the prompt that the client writes
_NOT_SEARCHED = SecretFinding(UNSEARCHED, 0, 0).placeholder
_SECRET = SecretFinding("secret", 0, 0).placeholder
# Whole words, and the parts of paths and addresses.
_RANDOM = re.compile(r"\S{8,}"), re.compile(r"[^\s\"'`,;()<>\[\]{}/=:?&.@|-]{8,}")


def skim(path: str | os.PathLike[str], record: Record, end: int) -> Iterator[Entry]:
    """Yield the entries that matter up to byte `end`; `record` learns the offset that was
    reached."""
    # The last answers, in case the user stopped one of their calls.
    recent: deque[tuple[int, bytes]] = deque(maxlen=6)
    with TranscriptSource(path) as source:
        for data in source.lines(record.offset, LONGEST_LINE_BYTES):
            if record.offset >= end or not data.endswith(b"\n"):
                return
            offset, record.offset = record.offset, record.offset + len(data)
            record.lines += 1
            spelled = without_blanks(data)
            head, matters = spelled[:HEAD_BYTES], False
            if _RESULT in head:
                if looks_rejected(data):
                    calls = (line for line in recent if _answers(head, line[1]))
                    yield from _entries(record, calls)
                is_asked = any(key.encode() in data for key in record.calls)
                matters = is_asked or _has_words_beside(data, spelled)
            elif _ASSISTANT in spelled and _PROGRESS not in head:
                _count(record, head)
                matters = _calls(spelled)
                if not matters:
                    recent.append((offset, data))
            elif _PROGRESS not in head:
                matters = _USER in spelled or any(mark in head for mark in _OTHERS)
            if matters:
                yield from _entries(record, [(offset, data)])


def _entries(record: Record, lines: Iterable[tuple[int, bytes]]) -> Iterator[Entry]:
    for offset, data in lines:
        tally = LineTally()
        try:
            entry = parse(data, offset, tally)
        except Malformed:
            entry = behind_torn(data, offset, tally)
            record.lost += tally.words_lost
        if entry is not None:
            yield entry


def _has_words_beside(data: bytes, spelled: bytes) -> bool:
    """Whether a text is beside the results. Some results are texts too, so only decoding can
    tell."""
    end = spelled.find(_RECORD)
    if spelled.find(_TEXT, 0, end if end >= 0 else len(spelled)) < 0:
        return False
    try:
        entry = parse(data, 0, LineTally())
    except Malformed:
        return False
    return isinstance(entry, Result) and bool(entry.text)


def _answers(head: bytes, call: bytes) -> bool:
    name = head.partition(_USE_ID)[2][:200].partition(b'"')[0]
    return bool(name) and name in call


def _calls(data: bytes) -> bool:
    """Whether one of the tools that matter is called. One search covers all of them, because most
    lines call none."""
    at = data.find(_NAME)
    while at >= 0 and not data.startswith(_TOOLS, at):
        at = data.find(_NAME, at + 1)
    return at >= 0


def _count(record: Record, head: bytes) -> None:
    """Count one more step if this line begins another answer."""
    start = head.find(_ID, head.find(_MESSAGE)) + len(_ID)
    name = head[start : start + 80].partition(b'"')[0].decode("utf-8", "replace")
    if name != record.message_id and _SIDECHAIN not in head:
        record.message_id = name
        record.op += 1


@dataclass
class _Words:
    """Words of the user that were not searched yet, and the turn that they begin."""

    turn: Turn
    words: str


def add_newest(
    record: Record, path: str | os.PathLike[str], known: ToldSecrets, *, sidechain: bool
) -> Record:
    """Return a copy of the record with these words, to be shown and not to be saved: everything
    else after its offset is still unread. `known`: the secrets that the session named before."""
    counting = RecordReader(model.copy(record), sidechain=sidechain)
    shown, count, typed = counting.record, 0, list[_Words]()
    reader = Reader(path, start=record.offset)
    answered = deque[Answer](maxlen=MOST_ANSWERS)
    waiting: list[_Words | None] = [None] * len(shown.queue)  # None: words that are not in `typed`
    for entry in reader:
        if entry.line.is_sidechain and not sidechain:
            continue
        count += 1
        if isinstance(entry, Answer):
            counting.begin_step(entry)
            answered.append(entry)
        elif isinstance(entry, Boundary) and entry.resets_window:
            counting.cross_boundary()
        elif isinstance(entry, Queued) and entry.operation != "enqueue":
            turns.queue(shown, entry.operation, entry.text, counting.place_of(entry))
            if entry.operation == "popAll":  # the user took back what still waits
                typed = [one for one in typed if one not in waiting]
                waiting.clear()
            _leave_queue(waiting, entry)
        else:
            line = record.lines + reader.tally.lines
            turn = Turn("", counting.place_of(entry), line, parent=_parent_of(entry))
            words = [one for one in _typed_in(entry, turn, shown, answered) if one.words]
            if words and turn.parent:
                _take_back(typed, turn.parent)
            typed += words
            if isinstance(entry, Queued):
                waiting.append(words[0] if words else None)
    newest = list(_searched(typed, known, path, record.offset))
    shown = msgspec.structs.replace(
        model.copy(record),
        turns=[*shown.turns, *reversed(newest)],
        op=shown.op,
        compactions=shown.compactions,
        summary="",
        unread=count,
    )
    return secrets.forget(shown, known)


def _leave_queue(waiting: list[_Words | None], entry: Queued) -> None:
    """Let one leave the queue, as in `turns`: the one with these words, else the first."""
    words = entry.text.strip()
    same = (at for at, one in enumerate(waiting) if one is not None and one.words == words)
    at = next(same, 0) if words else 0
    del waiting[at : at + 1]


def _parent_of(entry: Entry) -> str:
    return (entry.line.parent_uuid or "")[:80] if isinstance(entry, Prompt) else ""


def _take_back(typed: Sequence[_Words], parent: str) -> None:
    """Mark words as taken back: the next prompt follows the same line as they do, as in `turns`."""
    recent = typed[-turns.MOST_LOOKED_AT :]
    at = next((at for at, one in enumerate(recent) if one.turn.parent == parent), len(recent))
    for one in recent[at:]:
        one.turn.taken_back = True


def _typed_in(
    entry: Entry, turn: Turn, record: Record, answered: Iterable[Answer]
) -> Iterator[_Words]:
    """Yield what the user typed. A prompt from the queue is taken when it was typed, and again when
    it is delivered, unless the record has it."""
    text = feedback = ""
    if isinstance(entry, Prompt) and not entry.is_meta:
        text, feedback = turns.split_plan(entry.text) if entry.is_plan else (entry.text, "")
    elif isinstance(entry, Queued):
        text = entry.text if turns.is_typed_into_queue(entry.text) else ""
    elif isinstance(entry, Attachment) and entry.kind == "queued_command":
        text = queued_words(decoded(entry.raw))
    elif isinstance(entry, Result):
        for words, reply_to in _replies(entry, answered):
            yield _Words(msgspec.structs.replace(turn, reply_to=reply_to), words)
        text = entry.text if not entry.line.is_meta else ""
    author = author_of(entry)
    if author != "other" and turns.is_delivered(record, text.strip(), turn):
        return
    words = turns.typed_words(record, text, author)
    is_plan = isinstance(entry, Prompt) and entry.is_plan and words.startswith(PROMPTED)
    yield _Words(msgspec.structs.replace(turn, is_plan=is_plan), words)
    yield _Words(turn, feedback)


def _replies(entry: Result, answered: Iterable[Answer]) -> Iterator[tuple[str, str]]:
    """Yield answers to the model's questions, and words with which a call was refused, each with
    what it replies to."""
    yield from ((words, question) for question, words in results.answers(entry))
    for block in entry.results if results.looks_rejected(entry.data) else ():
        called = (one for answer in answered for one in answer.blocks if isinstance(one, ToolUse))
        tool = next((one.name for one in called if one.id == block.tool_use_id), "")
        if tool and results.is_rejection(tool, entry.data):
            yield results.refusal_words(block.text), f"{REFUSED}{tool}"


def _searched(
    typed: Sequence[_Words], known: ToldSecrets, path: str | os.PathLike[str], offset: int
) -> Iterator[Turn]:
    """Yield the turns, the newest first, as long as there is time to search their words. A
    placeholder stands for the older ones."""
    seen, unread = set[str](), _UnreadWords(path, offset)
    copies = Counter(one.words for one in typed)
    with hook_time.for_newest() as limit:
        for one in reversed(typed):
            if one.words in seen:  # it is written again when it is delivered
                continue
            seen.add(one.words)
            question = one.turn.reply_to
            known.hear([(one.turn.place.offset, f"{question}\n{one.words}")])
            asked = redact_answer(question, redact(turns.clip_words(one.words)))
            asked = unread.hide(asked, copies[one.words])
            question = unread.hide(redact(clip(question, turns.LONGEST_QUESTION)), 1)
            if limit.is_used_up or len(seen) > MOST_NEWEST:
                yield msgspec.structs.replace(one.turn, asked=_NOT_SEARCHED, reply_to="")
                return
            size = len(one.words)
            yield msgspec.structs.replace(one.turn, asked=asked, reply_to=question, chars=size)


class _UnreadWords:
    """Words that may be secrets, because an unread entry has them too and may name them."""

    def __init__(self, path: str | os.PathLike[str], offset: int) -> None:
        self._path, self._offset = path, offset
        self._lines: list[bytes] | None = None
        self._counts: dict[str, int] = {}
        self._bytes_left = MOST_BYTES

    def hide(self, text: str, copies: int) -> str:
        """Return the text without them. `copies`: lines that the text itself is in."""
        for pattern in _RANDOM:
            text = pattern.sub(
                lambda one: _SECRET if self._may_be_secret(one[0], copies) else one[0], text
            )
        return text

    def _may_be_secret(self, word: str, copies: int) -> bool:
        if not secrets.is_known_bare(word):
            return False
        if word not in self._counts:
            lines = self._read_lines()
            if len(self._counts) >= MOST_RANDOM or self._bytes_left < 0:
                return True
            written = msgspec.json.encode(word)[1:-1]
            self._counts[word] = sum(written in line for line in lines)
            self._bytes_left -= sum(map(len, lines))
        return self._counts[word] > copies

    def _read_lines(self) -> list[bytes]:
        if self._lines is None:
            with TranscriptSource(self._path) as source:
                lines = source.lines(self._offset, LONGEST_LINE_BYTES)
                self._lines = [line for line in lines if _LAST_PROMPT not in line[:HEAD_BYTES]]
        return self._lines
