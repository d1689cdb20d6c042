"""Secrets in a session: no part of one stays as a name, and none is quoted without its name.

A name is cut out of its text before anybody sees whose value it is. So all texts are searched
together after reading, and what is found is removed from the record.
"""

import os
import re
import sys
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any

import msgspec

from holdfast.record.model import Record
from holdfast.record.results import answers
from holdfast.record.user_input import words_of
from holdfast.redact.find import (
    BETWEEN,
    PASSES,
    find,
    redact,
    replace_findings,
    which_are_clean,
)
from holdfast.redact.finding import REDACTED, SecretFinding
from holdfast.redact.hidden import visible
from holdfast.redact.value import looks_random
from holdfast.text.sentences import ENDS_CHARS, Lazy, ends_of
from holdfast.transcript import (
    Answer,
    Attachment,
    Entry,
    Prompt,
    Queued,
    Result,
    Text,
    ToolResult,
    ToolUse,
    Unreadable,
)
from holdfast.transcript.reader import LONGEST_LINE_BYTES, TranscriptSource, read_at

READ_CHARS = 6000  # of the arguments and results of calls
SHORTEST_BARE = 8  # shorter values and plain words count only beside their name
MOST_BARE = MOST_PLACES = 5000  # the newest; removing one takes 0.05 ms, reading it again 0.01 ms
MOST_LONG_CHARS = 200_000  # that long texts share; made to be slow to search, they take 3 s
BATCH_CHARS = 50_000  # of texts that are searched together; bait of this length takes 0.2 s
LONGEST_NAME = 64
MOST_PARTS = 50
_WORD = Lazy(r"\w{6,60}", re.ASCII)
_GLUED = Lazy(r"\w{1,64}\Z", re.ASCII)
# Of a text, each once, these are a small part of it. Values are looked for in them, and only those
# whose ends occur at all: 10,000 values in a record of 3 MB took 2 s without that.
_RUN = rb"[A-Za-z0-9_\x80-\xff]{4,}"
_WORD_END = Lazy(r"\w{1,64}", re.ASCII)


def texts(given: dict[str, Any]) -> Iterator[str]:
    """Yield the texts in the arguments of a call from which names are taken."""
    for value in given.values():
        if isinstance(value, str):
            yield value[:READ_CHARS]
        elif isinstance(value, list):
            for part in value[:MOST_PARTS]:
                if isinstance(part, dict):
                    yield from (one[:READ_CHARS] for one in part.values() if isinstance(one, str))


PLACE_BITS = 16  # of the length of a secret in a place
QUAD_BYTES = 4
BACKSLASH = ord("\\")
LONGEST_ESCAPE = 5  # the part of `\\u001b` before its last digit
_ESCAPE = re.compile(rb"\\(?:u[0-9A-Fa-f]{0,3})?\Z")
_NO_TEXT = re.compile(rb"[\d.,:+eE\[\]{}-]*")
_KNOWN_BEFORE = SecretFinding("secret", 0, 0).placeholder


class ToldSecrets:
    """Secrets that texts contain together with their names: each value, and the words in it.

    Where they stand in the transcript is saved instead of the secrets, so that they are known again
    without a search: see `places`.
    """

    def __init__(self) -> None:
        self.bare: dict[str, str] = {}
        self.pieces: set[str] = set()
        self._lines: dict[int, set[str]] = {}  # new secrets by the offset of their line
        self._places: list[int] = []  # of those that were known before
        self._long_left = MOST_LONG_CHARS

    @property
    def lines(self) -> list[int]:
        """The offsets of the lines in which a new secret was named, in order."""
        return sorted(self._lines)

    def hear(self, heard: Iterable[tuple[int, str]], beside: str = "") -> bool:
        """Find the secrets in texts, each given with the offset of its line. `beside` is searched
        in the same pass, because most of its words are in them. Return whether `beside` is
        clean."""
        told = {text: offset for offset, text in self._within_limit(heard)}
        starts = list(accumulate((len(text) + len(BETWEEN) for text in told), initial=0))
        texts, offsets = list(told), list(told.values())
        text = BETWEEN.join(told)
        found = find(f"{text}{BETWEEN}{beside}" if beside else text)
        is_clean = not found or found[-1].end <= len(text)
        found = [one for one in found if one.start < len(text)]
        for again in range(PASSES):
            if not found:
                break
            for one in found:
                before = len(self.pieces) + len(self.bare)
                self.pieces.update(_words_at(text, one))
                value = text[one.start : one.end]
                self._know(value, one.placeholder)
                if before < len(self.pieces) + len(self.bare):
                    at = bisect_right(starts, one.start) - 1
                    at = _index_of(value, texts) if again else at
                    self._lines.setdefault(offsets[at], set()).add(value)
            left = replace_findings(text, found).split("\n")
            text = "\n".join(line for line in left if REDACTED in line)
            found = find(text) if again < PASSES - 1 else []
        return is_clean

    def _know(self, value: str, placeholder: str) -> None:
        forms = (*value.split("\n"), *visible(value).split("\n"))  # it may be coloured
        self.bare |= dict.fromkeys(forms, placeholder)

    def places(self, path: str | os.PathLike[str]) -> list[int]:
        """Where the newest secrets stand in the transcript: `-(offset << 16 | length)` of the bytes
        of a secret, or the offset of its line where its bytes are written in another way."""
        found = list(self._places)
        with suppress(Unreadable), TranscriptSource(path) as source:
            for line in self.lines:
                data = next(source.lines(line, LONGEST_LINE_BYTES), b"")
                found += {_place(line, data, value) for value in self._lines[line]}
        return sorted(dict.fromkeys(found), key=_offset_of)[-MOST_PLACES:]

    def hear_again(self, path: str | os.PathLike[str], places: Sequence[int]) -> None:
        """Read the secrets at these places of a transcript again. Without the file nothing is
        found."""
        if not places:
            return
        lines = [one for one in places if one >= 0]
        with suppress(Unreadable), TranscriptSource(path) as source:
            for place in (one for one in places if one < 0):
                length = -place & (1 << PLACE_BITS) - 1
                data = next(source.lines(_offset_of(place), length), b"")
                with suppress(msgspec.DecodeError, UnicodeError):  # the file was rewritten
                    value = msgspec.json.decode(b'"%b"' % data, type=str)
                    self._know(value, _KNOWN_BEFORE)
                    self.pieces.update(_WORD.pattern.findall(value))
                    self._places.append(place)
            for one in read_at(path, lines):
                self.hear((one.offset, text) for text in spoken(one))

    def without(self, data: bytes, *, fits: bool = False) -> bytes:
        """Return the JSON without each value that is recognised by itself; with `fits` no text
        grows. Longer values come first: one may contain another."""
        told = [one for one in self.bare.items() if is_known_bare(one[0])][-MOST_BARE:]
        told.sort(key=lambda one: -len(one[0]))
        words = b"\n".join(set(re.findall(_RUN, data)))
        quads = _quads(words)
        for value, placeholder in told:
            gone = placeholder[: len(value) if fits else None].encode()
            for form in {value, value.lower()}:  # an index of words holds small letters
                written = msgspec.json.encode(form)[1:-1]
                run = max(re.findall(_RUN, written), key=len, default=b"")
                if run and not (_may_be_in(quads, run) and run in words):
                    continue
                if _NO_TEXT.fullmatch(written):
                    data = _replace_in_texts(data, form, gone.decode())
                else:
                    data = _replace_in_json(data, written, gone)
        return data

    def _within_limit(self, heard: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield the texts. Long ones share a number of characters: each may use half of what is
        left, and its ends in any case."""
        for offset, text in heard:
            if len(text) <= ENDS_CHARS:
                yield offset, text
                continue
            most = max(self._long_left // 2, ENDS_CHARS)
            self._long_left -= min(len(text), most)
            yield offset, ends_of(text, most)

    def without_in(self, text: str) -> str:
        return str(msgspec.json.decode(self.without(msgspec.json.encode(text))))


def _quads(text: bytes) -> set[int]:
    """Every four bytes that stand together in a text, each as one number."""
    quads = set[int]()
    for start in range(QUAD_BYTES):
        end = len(text) - (len(text) - start) % QUAD_BYTES
        quads.update(memoryview(text)[start:end].cast("I"))
    return quads


def _may_be_in(quads: set[int], run: bytes) -> bool:
    ends = run[:QUAD_BYTES], run[-QUAD_BYTES:]
    return all(int.from_bytes(end, sys.byteorder) in quads for end in ends)


def _offset_of(place: int) -> int:
    return place if place >= 0 else -place >> PLACE_BITS


def _place(line: int, data: bytes, value: str) -> int:
    """The place of a value in the line that begins at this offset."""
    plain = msgspec.json.encode(value)[1:-1]
    for written in (plain, _escaped(plain)):
        at = data.find(written)
        if at >= 0 and 0 < len(written) < 1 << PLACE_BITS:
            return -((line + at) << PLACE_BITS | len(written))
    return line


def _escaped(written: bytes) -> bytes:
    """The same in JSON that has only ASCII."""
    text = written.decode()
    return b"".join(one.encode() if one.isascii() else b"\\u%04x" % ord(one) for one in text)


def _index_of(value: str, texts: Sequence[str]) -> int:
    """The first text that contains the value. What a later pass finds stands beside a placeholder,
    and may be in no text as it is: then the last one counts."""
    return next((at for at, text in enumerate(texts) if value in text), len(texts) - 1)


def _replace_in_json(data: bytes, written: bytes, gone: bytes) -> bytes:
    """Replace a value in JSON. The `n` of an escaped line end is no letter of a value."""
    parts, start, at = list[bytes](), 0, data.find(written)
    while at >= 0:
        if _is_in_escape(data, at):
            at = data.find(written, at + 1)
            continue
        parts += data[start:at], gone
        start = at + len(written)
        at = data.find(written, start)
    return b"".join([*parts, data[start:]]) if parts else data


def _replace_in_texts(data: bytes, value: str, gone: str) -> bytes:
    """Replace a value that also could be numbers of the JSON: `0,1,0.5`."""
    plain = msgspec.json.decode(data)
    told = (text for text in _texts_in(plain) if value in text)
    others = {text: text.replace(value, gone) for text in told}
    return msgspec.json.encode(_with(plain, others)) if others else data


def _is_in_escape(data: bytes, at: int) -> bool:
    """Whether a byte belongs to an escape that begins before it: `\\n`, `\\u001b`."""
    escape = _ESCAPE.search(data, max(0, at - LONGEST_ESCAPE), at)
    if escape is None:
        return False
    start = end = escape.start()
    while start and data[start - 1] == BACKSLASH:
        start -= 1
    return (end - start) % 2 == 0  # an even number of them stands for itself


def is_known_bare(value: str) -> bool:
    """Whether a value is treated as a secret even without a name beside it."""
    return len(value) >= SHORTEST_BARE and looks_random(value)


def spoken(entry: Entry) -> Iterator[str]:
    """Yield the texts of an entry from which names and quotes are taken."""
    if isinstance(entry, Prompt | Queued | Attachment):
        words = words_of(entry)
        yield from (words.typed, *words.unsure)
    elif isinstance(entry, Result):
        yield from (block.text[:READ_CHARS] for block in entry.results if _is_short(block))
        yield from (f"{question}\n{words}" for question, words in answers(entry))
    elif isinstance(entry, Answer):
        for block in entry.blocks:
            if isinstance(block, Text):
                yield block.text
            elif isinstance(block, ToolUse):
                yield from texts(block.input)


def _is_short(block: ToolResult) -> bool:
    """Whether a result is short, as answers and refusals are; most output of tools is longer."""
    return len(block.raw_content) < READ_CHARS


def forget(record: Record, known: ToldSecrets) -> Record:
    """Return the record without the known secrets, wherever they occur."""
    if known.pieces:
        _drop(record, known.pieces)
    if not known.bare:
        return record
    before = msgspec.json.encode(record)
    data = known.without(before)
    return record if data == before else msgspec.json.decode(data, type=Record)


def texts_of(record: Record) -> frozenset[str]:
    return frozenset(_texts_in(msgspec.to_builtins(record)))


def redact_record(record: Record, searched: Collection[str] = ()) -> Record:
    """Return the record without a secret in any text; the same object if there is none. `searched`:
    texts that have none."""
    plain = msgspec.to_builtins(record)
    told = [text for text in dict.fromkeys(_texts_in(plain)) if text not in searched]
    clean = which_are_clean(told)
    without = {
        text: redact(text) for text, is_clean in zip(told, clean, strict=True) if not is_clean
    }
    return msgspec.convert(_with(plain, without), Record) if without else record


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_in(inner)


def _with(value: Any, others: dict[str, str]) -> Any:
    """Return the value with some of its texts replaced."""
    if isinstance(value, str):
        return others.get(value, value)
    if isinstance(value, dict):
        return {others.get(key, key): _with(inner, others) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with(inner, others) for inner in value]
    return value


def _words_at(text: str, one: SecretFinding) -> list[str]:
    """Return the words of a secret with what is attached to them: `-pSecret` is one word."""
    before = _GLUED.pattern.search(text, max(0, one.start - LONGEST_NAME), one.start)
    after = _WORD_END.pattern.match(text, one.end)
    start = before.start() if before else one.start
    return _WORD.pattern.findall(text[start : after.end() if after else one.end])


def _drop(record: Record, pieces: set[str]) -> None:
    for word in pieces:
        record.names.pop(word, None)
