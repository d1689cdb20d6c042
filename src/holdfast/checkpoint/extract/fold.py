"""The fold: one entry after another into the facts. Resumed, it reads only what is new."""

import os
from typing import Any

import msgspec

from holdfast.checkpoint.extract import (
    calls,
    manifests,
    names,
    paths,
    planning,
    prompts,
    results,
    said,
    secrets,
    typed,
)
from holdfast.checkpoint.extract.skim import skim
from holdfast.checkpoint.facts import Facts, Place
from holdfast.redact.finding import REDACTED
from holdfast.transcript import (
    Answer,
    Attachment,
    Boundary,
    Entry,
    Prompt,
    Queued,
    Reader,
    Result,
    Summary,
    Text,
    ToolResult,
    ToolUse,
    decoded,
)
from holdfast.wire import log

_decode = msgspec.json.Decoder(dict[str, Any]).decode
# Some 180 operations: what was only named before has cooled to nothing, and is not looked for
# when a long file is read for the first time. Rules, files, commands and tasks always are.
NEAR_BYTES = 3 << 20
FAR_BYTES = 20 << 20  # and before that, see `skim`
SUMMARY_CHARS = 60_000


class Extractor:
    """Feeds entries into `facts`; whoever keeps those keeps the place reached as well."""

    def __init__(self, facts: Facts | None = None, *, sidechain: bool = False) -> None:
        self.facts = Facts() if facts is None else facts
        self._sidechain = sidechain
        self._folder = self.facts.cwd
        self._reads: dict[str, ToolResult] = {}
        self._heard: list[tuple[int, str]] = []  # whatever names were taken from, and its line
        self._offset = 0
        self.known = secrets.Known()
        self._reader: Reader | None = None

    def read(self, path: str | os.PathLike[str], until: int | None = None) -> Facts:
        """Everything the transcript holds past the offset reached before, or up to byte `until`."""
        facts = self.facts
        facts.redacted = any(REDACTED in key for key in facts.commands)
        end = _size(path) if until is None else until
        near_from = end - NEAR_BYTES
        if facts.offset < near_from - FAR_BYTES:
            facts.far = True
            for entry in skim(path, facts, near_from - FAR_BYTES):
                self._take(entry)
        reader = self._reader = Reader(path, start=facts.offset)
        for entry in reader:
            if until is not None and entry.offset >= until:
                break
            facts.far = entry.offset < near_from
            self._take(entry)
        facts.lines, self._reader = facts.lines + reader.tally.lines, None
        facts.offset, facts.far = reader.offset if until is None else until, False
        said.settle(facts)
        facts.reported_done = said.reports_done(facts)
        self._look_into_reads()
        self._forget_secrets(path)
        return self.facts

    def _forget_secrets(self, path: str | os.PathLike[str]) -> None:
        """Also those told with their names before, and now without them."""
        if self.facts.told:
            self.known.hear_again(path, self.facts.told)
        self.known.hear(self._heard)
        self._heard.clear()
        self.facts.told = sorted(self.known.lines)[-secrets.MOST_LINES :]
        self.facts = secrets.forget(self.facts, self.known)

    def _look_into_reads(self) -> None:
        """Names in the files read last; older reads are not worth decoding."""
        for name, block in self._reads.items():
            text = block.text[: names.READ_CHARS]
            if found := names.frequent(text):
                names.show(self.facts, name, found)
                self._heard.append((self._offset, text))
        self._reads.clear()

    def _take(self, entry: Entry) -> None:
        """One entry we stumble over costs that entry; the first is told, all are counted."""
        try:
            self.feed(entry)
        except Exception as slip:
            if "HOLDFAST_RAISE" in os.environ:  # set in tests, so our bugs stay loud to us
                raise
            self.facts.lost += 1
            if self.facts.lost == 1:
                log.add("ERROR", "extract", f"byte {entry.offset} was passed over: {slip!r}")

    def feed(self, entry: Entry) -> None:
        line, self._offset = entry.line, entry.offset
        if line.is_sidechain and not self._sidechain:
            return
        if line.cwd != self._folder and line.cwd:
            self._folder = line.cwd
            paths.enter(self.facts, line.cwd[:1000])
        if isinstance(entry, Answer):
            self._answer(entry)
        elif isinstance(entry, Result):
            self._result(entry)
        elif isinstance(entry, Prompt):
            self._prompt(entry)
        elif isinstance(entry, Queued):
            place = self._place(entry)
            self._hear(typed.queued(self.facts, entry.operation, entry.text, place))
        elif isinstance(entry, Attachment):
            self._attachment(entry)
        elif isinstance(entry, Summary):
            self._summary(entry)
        elif isinstance(entry, Boundary) and entry.resets_window:
            self.facts.compactions += 1
            self.facts.calls.clear()  # what had no result then never will

    def _hear(self, text: str) -> None:
        if text and not self.facts.far:
            self._heard.append((self._offset, text[: secrets.READ_CHARS]))

    def _line(self) -> int:
        """Which line of the transcript this is."""
        return self.facts.lines + (self._reader.tally.lines if self._reader else 0)

    def _place(self, entry: Entry) -> Place:
        return Place(entry.offset, entry.line.timestamp[:40], self.facts.op)

    def _answer(self, entry: Answer) -> None:
        facts = self.facts
        message = entry.message
        if message.id != facts.message_id:
            facts.message_id = message.id[:200]
            facts.op += 1
            facts.since_summary += 1
            facts.at = entry.line.timestamp[:40]
            facts.session_id = entry.line.session_id[:80] or facts.session_id
        for block in message.blocks:
            if isinstance(block, ToolUse):
                given = _input(block)
                calls.call(facts, block.name, block.id, given, self._place(entry))
                if not facts.far:
                    self._heard += [(self._offset, one) for one in secrets.texts(given)]
            elif isinstance(block, Text):
                self._hear(block.text)
                said.hear(facts, block.text, self._place(entry))

    def _result(self, entry: Result) -> None:
        place = self._place(entry)
        if not self.facts.far:
            paths.branch(self.facts, entry.data)
        for block in entry.message.blocks:
            if isinstance(block, ToolResult):
                call = results.come_back(self.facts, entry, block, place)
                if call is not None and call.tool == "Read" and call.what and not block.is_error:
                    if manifests.is_manifest(call.what):
                        manifests.note(self.facts, call.what, block.text)
                    self._reads.pop(call.what, None)
                    self._reads[call.what] = block
                    if len(self._reads) > names.MOST_SHOWN:
                        del self._reads[next(iter(self._reads))]
            elif isinstance(block, Text) and not entry.line.is_meta:
                prompts.hear(self.facts, block.text, place)

    def _prompt(self, entry: Prompt) -> None:
        if not entry.is_meta:
            planning.typed(self.facts, entry.line.permission_mode)
            self._hear(typed.prompt(self.facts, entry.text, self._place(entry), self._line()))

    def _attachment(self, entry: Attachment) -> None:
        planning.told(self.facts, entry.kind)
        if words := typed.noted(decoded(entry.raw)) if entry.kind == "queued_command" else "":
            self._hear(typed.prompt(self.facts, words, self._place(entry), self._line()))

    def _summary(self, entry: Summary) -> None:
        """Never a source: kept only to know what need not be said again."""
        self.facts.summary = entry.text[:SUMMARY_CHARS]
        self.facts.since_summary = 0


def _size(path: str | os.PathLike[str]) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 (pathlib costs 8 ms)
    except (OSError, ValueError):
        return 0


def _input(block: ToolUse) -> dict[str, Any]:
    """What the tool was called with, by one decoder for all; the block mends what is broken."""
    try:
        return _decode(block.raw_input)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return block.input


def extract(
    path: str | os.PathLike[str], *, sidechain: bool = False, state: Facts | None = None
) -> Facts:
    """The facts of a session, read on from `state`. Raises Unreadable when there is no file."""
    return Extractor(state, sidechain=sidechain).read(path)
