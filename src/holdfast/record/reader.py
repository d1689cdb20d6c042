"""One pass over a transcript into its record. A resumed pass reads only what is new."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from holdfast.record import agents, calls, files, secrets, turns
from holdfast.record.model import Decision, Place, Record, Turn
from holdfast.record.user_input import author_of, own_words, texts_in
from holdfast.redact.value import REDACTED
from holdfast.text import sentences
from holdfast.transcript import entries
from holdfast.transcript.blocks import Image, Malformed, Text, ToolResult, ToolUse, without_blanks
from holdfast.transcript.parse import LineTally, parse
from holdfast.transcript.reader import (
    LONGEST_LINE_BYTES,
    Reader,
    TranscriptSource,
    begins_midway,
    behind_torn,
    parse_line,
)
from holdfast.transcript.user_words import Author
from holdfast.wire import log, places
from holdfast.wire.errors import describe

MOST_REMARKS, MOST_DECISIONS = 80, 60
SHORTEST_REMARK, REMARK_CHARS, DECISION_CHARS = 50, 1200, 600
_SENTENCE_ENDS = ".!?:;,。！？"  # noqa: RUF001
# `Decision: …`, `**Decision 2:** …`, `- Entscheidung (Format): …`
_LABEL = re.compile(r"\W*(?:decision|entscheidung|décision|decisión)\b[^:.]{0,40}:", re.IGNORECASE)
# Some 180 steps. What the model said before that is not searched when a long file is read for the
# first time; words of the user, files, commands and tasks always are.
NEAR_BYTES = 3 << 20
FAR_BYTES = 20 << 20  # further back, lines are skimmed
SUMMARY_CHARS = 60_000
SAID_CHARS = 8000
MOST_TEXTS = 4
MOST_READS = 20  # files read last
OLD_CLIENTS = ("0.", "1.")  # they did not record what was typed while the model worked


HEAD_BYTES = 1500  # the part of a line that shows its kind
_RESULT, _PROGRESS = b'"type":"tool_result"', b'"type":"progress"'
_RECORD, _TEXT = b'"toolUseResult":', b'{"type":"text"'
_USER, _ASSISTANT, _SYSTEM = b'"type":"user"', b'"type":"assistant"', b'_boundary"'
_QUEUE = b'"type":"queue-operation"'
_HANDED_OVER = b'"type":"queued_command"'
_LOCAL = b'"subtype":"local_command"'
_OTHERS = (_SYSTEM, _QUEUE, _HANDED_OVER, _LOCAL)
_SIDECHAIN = b'"isSidechain":true'
_TOOLS = re.compile(rb'"name":"(?:TodoWrite|TaskCreate|TaskUpdate|AskUserQuestion|ExitPlanMode)"')
_USE_ID = b'"tool_use_id":"'
_MESSAGE, _ID = b'"message":{', b'"id":"'


class RecordReader:
    """Adds entries to `record`, which also holds the offset that was reached."""

    def __init__(self, record: Record | None = None, *, sidechain: bool = False) -> None:
        self.record = Record() if record is None else record
        self._sidechain = sidechain
        self._folder = self.record.cwd
        self._reads: list[tuple[int, ToolResult]] = []  # the last files, with the offset
        self._heard_chars = 0
        self._heard: list[tuple[int, str]] = []  # texts in which names were found, and their lines
        self._offset = 0
        self.known = secrets.ToldSecrets()
        self.is_stopped = False  # it was too late to read to the end of the file
        self._reader: Reader | None = None

    def read(self, path: str | os.PathLike[str], until: int | None = None) -> Record:
        """Read everything after the offset reached before, up to byte `until` if it is given."""
        self._take_all(path, until)
        self._forget_secrets(path)
        return self.record

    def read_redacted(
        self,
        path: str | os.PathLike[str],
        until: int | None = None,
        is_late: Callable[[], bool] | None = None,
    ) -> Record:
        """Read, and remove secrets from every new text; `is_late` is asked before each entry."""
        searched = secrets.texts_of(self.record) if self.record.offset else frozenset()
        self._take_all(path, until, is_late)
        self._forget_secrets(path)
        self.record = secrets.redact_record(self.record, searched)
        return self.record

    def _take_all(
        self,
        path: str | os.PathLike[str],
        until: int | None,
        is_late: Callable[[], bool] | None = None,
    ) -> None:
        record = self.record
        self.known.hear_again(path, record.told)
        record.redacted = any(REDACTED in key for key in record.commands)
        end = places.size_of(path) if until is None else until
        if not record.offset:
            record.starts_midway = begins_midway(path)
        near_from = end - NEAR_BYTES
        if record.offset < near_from - FAR_BYTES:
            record.far = True
            reached = 0
            for entry in _skim(path, record, near_from - FAR_BYTES):
                # It goes back to the call that the user refused; there is no place to stop.
                if entry.offset >= reached and is_late is not None and is_late():
                    self._stop(entry)
                    return
                reached = max(reached, entry.offset)
                self.take(entry)
        reader = self._reader = Reader(path, start=record.offset)
        for entry in reader:
            if until is not None and entry.offset >= until:
                break
            if is_late is not None and is_late():
                self._stop(entry)
                break
            record.far = entry.offset < near_from
            self.take(entry)
        record.lost += reader.tally.words_lost
        record.lines, self._reader = record.lines + reader.tally.lines, None
        if not self.is_stopped:
            record.offset = reader.offset if until is None else until
        record.far = False
        self._look_into_reads()
        if until is None and not self._sidechain and not self.is_stopped:
            agents.note_edits(record, os.fspath(path))

    def _stop(self, entry: entries.Entry) -> None:
        """Stop before an entry, because the client would end this hook; the next reads on."""
        self.is_stopped = True
        self.record.offset, self.record.far = entry.offset, False
        self.record.lines -= 1  # its line is counted, and will be again
        log.add("WARN", "extract", "no time left to read the transcript: the next hook reads on")

    def _forget_secrets(self, path: str | os.PathLike[str]) -> None:
        """Remove secrets, also those that an earlier text named."""
        self._search_heard()
        self.record.told = self.known.lines
        self.record = secrets.forget(self.record, self.known)

    def _look_into_reads(self) -> None:
        """Look for secrets that the files read last name. Older reads are not worth decoding."""
        for offset, block in self._reads:
            self._offset = offset
            self._hear(sentences.clip(block.text, secrets.READ_CHARS))
        self._reads.clear()

    def take(self, entry: entries.Entry) -> None:
        """Take one entry; an error costs only that entry, is counted, and the first one logged."""
        try:
            self.feed(entry)
        except Exception as error:
            if "HOLDFAST_RAISE" in os.environ:  # set in tests, so that faults are raised
                raise
            self.record.lost += 1
            if self.record.lost == 1:
                log.add(
                    "ERROR", "extract", f"byte {entry.offset} was passed over: {describe(error)}"
                )

    def feed(self, entry: entries.Entry) -> None:
        line, self._offset = entry.line, entry.offset
        if line.is_sidechain and not self._sidechain:
            return
        if line.cwd != self._folder and line.cwd:
            self._folder = line.cwd
            files.enter(self.record, line.cwd[:1000])
        self.record.branch = line.git_branch or self.record.branch
        if line.version and line.version != self.record.client:
            self.record.client = line.version[:20]
        if isinstance(entry, entries.Answer):
            self._answer(entry)
        elif isinstance(entry, entries.Result):
            self._result(entry)
        elif isinstance(entry, entries.Prompt):
            self._prompt(entry)
        elif isinstance(entry, entries.Queued):
            words = turns.queue(self.record, entry.operation, entry.text, self.place_of(entry))
            self._hear(words, by_user=True)
        elif isinstance(entry, entries.Attachment):
            self._attachment(entry)
        elif isinstance(entry, entries.Summary):
            self._summary(entry)
        elif isinstance(entry, entries.Boundary) and entry.resets_window:
            self.cross_boundary()

    def cross_boundary(self) -> None:
        self.record.compactions += 1
        self.record.calls.clear()  # calls without a result will not get one

    def _hear(self, text: str, *, by_user: bool = False) -> None:
        """Save the text for the search for secrets: a value named in a part that is cut may be
        quoted elsewhere. The user's words are saved from any distance, because all of them are
        shown. Much text is searched at once: the time for searching is limited, and is checked
        before the next entry is taken."""
        if not text or (self.record.far and not by_user):
            return
        self._heard.append((self._offset, text))
        self._heard_chars += len(text)
        if self._heard_chars > secrets.BATCH_CHARS:
            self._search_heard()

    def _search_heard(self) -> None:
        self.known.hear(self._heard)
        self._heard.clear()
        self._heard_chars = 0

    def _line(self) -> int:
        return self.record.lines + (self._reader.tally.lines if self._reader else 0)

    def place_of(self, entry: entries.Entry) -> Place:
        return Place(entry.offset, entry.line.timestamp[:40], self.record.op)

    def _answer(self, entry: entries.Answer) -> None:
        record = self.record
        self.begin_step(entry)
        for block in entry.message.blocks:
            if isinstance(block, ToolUse):
                fields = block.input
                calls.take_call(record, block.name, block.id, fields, self.place_of(entry))
                for text in () if record.far else secrets.texts(fields):
                    self._hear(text)
            elif isinstance(block, Text):
                self._hear(block.text)
                self._take_text(block.text, self.place_of(entry))

    def begin_step(self, entry: entries.Answer) -> None:
        record, message_id = self.record, entry.message_id[:200]
        if message_id != record.message_id:
            record.message_id = message_id
            record.op += 1
            record.since_summary += 1
            record.calls.clear()  # the model continued: open calls will not get a result
            record.at = entry.line.timestamp[:40]
            record.session_id = entry.line.session_id[:80] or record.session_id

    def _take_text(self, text: str, place: Place) -> None:
        text = sentences.head(text, SAID_CHARS)
        if not text.strip():
            return
        record = self.record
        turns.hear(record, text, place)
        last = turns.shorten(text, turns.LAST_SAID_CHARS)
        record.last_texts = [*record.last_texts[1 - MOST_TEXTS :], last]
        record.last_said_op = place.op
        hear(record, text, place)

    def _result(self, entry: entries.Result) -> None:
        place = self.place_of(entry)
        for block in entry.message.blocks:
            if isinstance(block, ToolResult):
                last = self.record.turns[-1:]
                call = calls.take_result(self.record, entry, block, place)
                if self.record.turns[-1:] != last:
                    self._hear(block.text, by_user=True)  # the user refused, with words
                if call is not None and call.tool == calls.ASKED:
                    self._hear(block.text, by_user=True)  # answers are the user's words too
                    for question, words in calls.answers(entry):
                        self._hear(f"{question}\n{words}", by_user=True)
                if call is not None and call.tool == "Read" and call.what and not block.is_error:
                    self._reads = [*self._reads[1 - MOST_READS :], (entry.offset, block)]
            elif isinstance(block, Text) and not entry.line.is_meta:
                self._typed([block.text], place, author=author_of(entry))

    def _prompt(self, entry: entries.Prompt) -> None:
        place = self.place_of(entry)
        if entry.is_meta:
            turns.deliver(self.record, entry.texts, "other", Turn("", place))
            return
        if entry.line.version.startswith(OLD_CLIENTS):
            self.record.words_missing = True
        if entry.is_plan:
            turns.carry_out_plan(self.record, entry.text, entry.plan, place, self._line())
            self._hear(entry.text, by_user=True)
        else:
            parent = (entry.line.parent_uuid or "")[:80]
            author = author_of(entry)
            self._typed(entry.texts, place, parent, author=author)
        if any(isinstance(block, Image) for block in entry.message.blocks):
            turns.show_image(self.record, place, self._line())

    def _attachment(self, entry: entries.Attachment) -> None:
        if entry.kind == "queued_command":
            author = author_of(entry)
            self._typed(texts_in(entry), self.place_of(entry), author=author)

    def _typed(
        self, texts: Sequence[str], place: Place, parent: str = "", *, author: Author
    ) -> None:
        turns.prompt(self.record, texts, place, self._line(), parent, author=author)
        words = own_words(texts, author)
        for text in (words.typed, *words.unsure):
            self._hear(text, by_user=True)

    def _summary(self, entry: entries.Summary) -> None:
        """Save the client's summary, only to know what need not be repeated."""
        self.record.starts_midway = self.record.starts_midway or not self.record.turns
        self.record.summary = sentences.clip(entry.text, SUMMARY_CHARS)
        self.record.since_summary = 0


def read_record(
    path: str | os.PathLike[str], *, sidechain: bool = False, state: Record | None = None
) -> Record:
    """Return the record of a session, continued from `state`; Unreadable without a file."""
    return RecordReader(state, sidechain=sidechain).read(path)


def hear(record: Record, text: str, place: Place) -> None:
    """Save the sentences that the model labels a decision, and as a remark all of them without
    code. The last one announces the next call, if it ends in a colon or has only one clause."""
    said = sentences.sentences(text)
    texts = {decision.text for decision in record.decisions}
    labelled = (words for words in said if len(words) <= DECISION_CHARS and _LABEL.match(words))
    record.decisions += [Decision(words, place) for words in labelled if words not in texts]
    del record.decisions[:-MOST_DECISIONS]
    end = said[-1] if said else ""
    if end and end[-1] in _SENTENCE_ENDS and (end[-1] == ":" or not sentences.within(",;:", end)):
        said.pop()
    ended = (sentence if sentence[-1] in _SENTENCE_ENDS else f"{sentence};" for sentence in said)
    remark = turns.shorten(" ".join(ended), REMARK_CHARS)
    if len(remark) >= SHORTEST_REMARK and not record.far:
        record.remarks = [*record.remarks, Decision(remark, place)][-MOST_REMARKS:]


def _skim(path: str | os.PathLike[str], record: Record, end: int) -> Iterator[entries.Entry]:
    """Yield the entries that matter of the oldest part of a very long transcript that is read for
    the first time, up to byte `end`; `record` learns the offset that was reached. From so far back
    only what never expires is read: the user's words, the task list, the compactions. Decoding all
    of 100 MB would delay a compaction too long."""
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
                if calls.looks_rejected(data):
                    refused = (line for line in recent if _answers(head, line[1]))
                    yield from _entries(record, refused)
                is_asked = any(key.encode() in data for key in record.calls)
                matters = is_asked or _has_words_beside(data, spelled)
            elif _ASSISTANT in spelled and _PROGRESS not in head:
                _count(record, head)
                matters = _TOOLS.search(spelled) is not None
                if not matters:
                    recent.append((offset, data))
            elif _PROGRESS not in head:
                matters = _USER in spelled or any(mark in head for mark in _OTHERS)
            if matters:
                yield from _entries(record, [(offset, data)])


def _entries(record: Record, lines: Iterable[tuple[int, bytes]]) -> Iterator[entries.Entry]:
    for offset, data in lines:
        tally = LineTally()
        try:
            yield from parse_line(data, offset, tally)
        except Malformed:
            yield from behind_torn(data, offset, tally)
            record.lost += tally.words_lost


def _has_words_beside(data: bytes, spelled: bytes) -> bool:
    """Whether a text is beside the results, which may be texts too."""
    end = spelled.find(_RECORD)
    if spelled.find(_TEXT, 0, end if end >= 0 else len(spelled)) < 0:
        return False
    try:
        entry = parse(data, 0, LineTally())
    except Malformed:
        return False
    return isinstance(entry, entries.Result) and bool(entry.text)


def _answers(head: bytes, call: bytes) -> bool:
    name = head.partition(_USE_ID)[2][:200].partition(b'"')[0]
    return bool(name) and name in call


def _count(record: Record, head: bytes) -> None:
    start = head.find(_ID, head.find(_MESSAGE)) + len(_ID)
    name = head[start : start + 80].partition(b'"')[0].decode("utf-8", "replace")
    if name != record.message_id and _SIDECHAIN not in head:
        record.message_id = name
        record.op += 1
