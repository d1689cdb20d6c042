"""Secrets in a session: none is quoted without its name.

A quotation is cut out of its text before anybody sees whose value it is. So all texts are searched
together after reading, and what is found is removed from the record.
"""

import os
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any

import msgspec

from holdfast.record.calls import answers
from holdfast.record.model import Record
from holdfast.record.user_input import words_of
from holdfast.redact.find import (
    BETWEEN,
    PASSES,
    find,
    redact,
    replace_findings,
    visible,
    which_are_clean,
)
from holdfast.redact.value import REDACTED, looks_random
from holdfast.text.sentences import ENDS_CHARS, ends_of
from holdfast.transcript import Unreadable
from holdfast.transcript.blocks import Text, ToolUse
from holdfast.transcript.entries import Answer, Attachment, Entry, Prompt, Queued, Result
from holdfast.transcript.reader import read_at

READ_CHARS = 6000  # of the arguments and results of calls
SHORTEST_BARE = 8  # shorter values and plain words count only beside their name
MOST_BARE = MOST_LINES = 5000  # the newest
MOST_LONG_CHARS = 200_000  # that long texts share; made to be slow to search, they take 3 s
BATCH_CHARS = 50_000  # of texts that are searched together; bait of this length takes 0.2 s
MOST_PARTS = 50
# Of a text, each once, these are a small part of it. Values are looked for in them: 10,000 values
# in a record of 3 MB took 2 s without that.
_RUN = re.compile(r"\w{4,}")


def texts(fields: dict[str, Any]) -> Iterator[str]:
    for value in fields.values():
        if isinstance(value, str):
            yield value[:READ_CHARS]
        elif isinstance(value, list):
            for part in value[:MOST_PARTS]:
                if isinstance(part, dict):
                    yield from (row[:READ_CHARS] for row in part.values() if isinstance(row, str))


class ToldSecrets:
    """Secrets that texts contain together with their names.

    The lines that name them are saved, not the secrets, and searched again: `hear_again`.
    """

    def __init__(self) -> None:
        self.bare: dict[str, str] = {}
        self._lines: set[int] = set()
        self._long_left = MOST_LONG_CHARS

    @property
    def lines(self) -> list[int]:
        """The offsets of the newest lines in which a secret was named first, in order."""
        return sorted(self._lines)[-MOST_LINES:]

    def hear(self, heard: Iterable[tuple[int, str]]) -> None:
        told = {text: offset for offset, text in self._within_limit(heard)}
        starts = list(accumulate((len(text) + len(BETWEEN) for text in told), initial=0))
        texts, offsets = list(told), list(told.values())
        text = BETWEEN.join(told)
        findings = find(text)
        for again in range(PASSES):
            if not findings:
                break
            for secret in findings:
                value = text[secret.start : secret.end]
                forms = (*value.split("\n"), *visible(value).split("\n"))  # it may be coloured
                if not self.bare.keys() >= {*forms}:
                    at = bisect_right(starts, secret.start) - 1
                    self._lines.add(offsets[_index_of(value, texts) if again else at])
                self.bare |= dict.fromkeys(forms, secret.placeholder)
            left = replace_findings(text, findings).split("\n")
            text = "\n".join(line for line in left if REDACTED in line)
            findings = find(text) if again < PASSES - 1 else []

    def hear_again(self, path: str | os.PathLike[str], lines: Sequence[int]) -> None:
        """Search these lines of a transcript again. Without the file nothing is found."""
        with suppress(Unreadable):
            for entry in read_at(path, lines) if lines else ():
                self.hear((entry.offset, text) for text in spoken(entry, longest=None))

    def without(self, data: bytes, *, fits: bool = False) -> bytes:
        """Return the JSON without each value that is recognised by itself; with `fits` no text
        grows. Longer values come first: one may contain another."""
        bare = [pair for pair in self.bare.items() if is_known_bare(pair[0])][-MOST_BARE:]
        if not bare:
            return data
        plain = msgspec.json.decode(data)
        told = set(texts_in(plain))
        words = "\n".join(set(_RUN.findall("\n".join(told))))
        forms = {form: gone for value, gone in bare for form in (value, value.lower())}
        values = [(form, gone) for form, gone in forms.items() if _longest_run(form) in words]
        values.sort(key=lambda pair: -len(pair[0]))
        others = {}
        for text in told if values else ():
            clean = text
            for form, gone in values:
                clean = clean.replace(form, gone[: len(form) if fits else None])
            others[text] = clean
        return msgspec.json.encode(with_texts(plain, others)) if others else data

    def _within_limit(self, heard: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Yield the texts; of long ones half of the characters that are left, and the ends."""
        for offset, text in heard:
            if len(text) <= ENDS_CHARS:
                yield offset, text
                continue
            most = max(self._long_left // 2, ENDS_CHARS)
            self._long_left -= min(len(text), most)
            yield offset, ends_of(text, most)

    def without_in(self, text: str) -> str:
        return str(msgspec.json.decode(self.without(msgspec.json.encode(text))))


def _longest_run(value: str) -> str:
    return max(_RUN.findall(value), key=len, default="")


def _index_of(value: str, texts: Sequence[str]) -> int:
    """The first text that contains the value. What a later pass finds stands beside a placeholder,
    and may be in no text as it is: then the last one counts."""
    return next((at for at, text in enumerate(texts) if value in text), len(texts) - 1)


def is_known_bare(value: str) -> bool:
    """Whether a value is treated as a secret even without a name beside it."""
    return len(value) >= SHORTEST_BARE and looks_random(value)


def spoken(entry: Entry, longest: int | None = READ_CHARS) -> Iterator[str]:
    """Yield the texts of an entry from which names and quotes are taken. Answers and refusals are
    short; longer results are mostly output of tools."""
    if isinstance(entry, Prompt | Queued | Attachment):
        words = words_of(entry)
        yield from (words.typed, *words.unsure)
    elif isinstance(entry, Result):
        for result in entry.results:
            if longest is None or len(result.raw_content) < longest:
                yield result.text[:READ_CHARS]
        yield from (f"{question}\n{words}" for question, words in answers(entry))
    elif isinstance(entry, Answer):
        for block in entry.blocks:
            if isinstance(block, Text):
                yield block.text
            elif isinstance(block, ToolUse):
                yield from texts(block.input)


def forget(record: Record, secrets: ToldSecrets) -> Record:
    if not secrets.bare:
        return record
    before = msgspec.json.encode(record)
    data = secrets.without(before)
    return record if data == before else msgspec.json.decode(data, type=Record)


def texts_of(record: Record) -> frozenset[str]:
    return frozenset(texts_in(msgspec.to_builtins(record)))


def redact_record(record: Record, searched: Collection[str] = ()) -> Record:
    """Return the record without secrets; texts in `searched` have none."""
    plain = msgspec.to_builtins(record)
    without = redact_texts(plain, searched)
    return msgspec.convert(with_texts(plain, without), Record) if without else record


def redact_texts(plain: Any, searched: Collection[str] = ()) -> dict[str, str]:
    """Return each text within that holds a secret, with what is left of it."""
    told = [text for text in dict.fromkeys(texts_in(plain)) if text not in searched]
    pairs = zip(told, which_are_clean(told), strict=True)
    return {text: redact(text) for text, is_clean in pairs if not is_clean}


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def with_texts(value: Any, others: dict[str, str]) -> Any:
    if isinstance(value, str):
        return others.get(value, value)
    if isinstance(value, dict):
        return {others.get(key, key): with_texts(inner, others) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [with_texts(inner, others) for inner in value]
    return value
