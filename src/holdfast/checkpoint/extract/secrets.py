"""Secrets a session spoke of: no piece of one stays as a name, and none is quoted bare.

A name is cut out of its text before anybody sees what it is the value of. So the texts themselves
are gone through, all at once when they have been read, and what is found leaves the facts.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from holdfast.checkpoint.extract.lazy import Lazy
from holdfast.checkpoint.facts import Facts
from holdfast.redact.find import PASSES, find, replaced
from holdfast.redact.finding import REDACTED, Finding
from holdfast.redact.value import random_looking

READ_CHARS = 6000  # as much as names are looked for in
SHORTEST_BARE = 8  # a shorter one, or a plain word, is itself only where its name stands
MOST_BARE = 200
LONGEST_NAME = 64
MOST_PARTS = 50
_WORD = Lazy(r"\w{6,60}", re.ASCII)
_GLUED = Lazy(r"\w{1,64}\Z", re.ASCII)
_WORD_END = Lazy(r"\w{1,64}", re.ASCII)


def texts(given: dict[str, Any]) -> Iterator[str]:
    """What names are taken from in the arguments of a call."""
    for value in given.values():
        if isinstance(value, str):
            yield value[:READ_CHARS]
        elif isinstance(value, list):
            for part in value[:MOST_PARTS]:
                if isinstance(part, dict):
                    yield from (one[:READ_CHARS] for one in part.values() if isinstance(one, str))


def forget(facts: Facts, heard: Iterable[str]) -> Facts:
    """The facts less every secret in these texts, wherever else it stands."""
    pieces: set[str] = set()
    bare: dict[str, str] = {}
    text = "\n".join(dict.fromkeys(heard))
    for _ in range(PASSES):
        if not (found := find(text)):
            break
        for one in found:
            pieces.update(_words_at(text, one))
            bare |= dict.fromkeys(text[one.start : one.end].split("\n"), one.placeholder)
        text = "\n".join(line for line in replaced(text, found).split("\n") if REDACTED in line)
    if pieces:
        _drop(facts, pieces)
    return _without(facts, bare) if bare else facts


def _words_at(text: str, one: Finding) -> list[str]:
    """The words a secret is made of, with what is glued to it: `-pSecret` is one word."""
    before = _GLUED.pattern.search(text, max(0, one.start - LONGEST_NAME), one.start)
    after = _WORD_END.pattern.match(text, one.end)
    start = before.start() if before else one.start
    return _WORD.pattern.findall(text[start : after.end() if after else one.end])


def _drop(facts: Facts, pieces: set[str]) -> None:
    for word in pieces:
        facts.names.pop(word, None)
        facts.references.pop(word, None)
    for file, shown in facts.shown.items():
        facts.shown[file] = [name for name in shown if name not in pieces]


def _without(facts: Facts, bare: dict[str, str]) -> Facts:
    """Quoted without its name it is known by itself."""
    before = data = msgspec.json.encode(facts)
    for value, placeholder in list(bare.items())[:MOST_BARE]:
        if len(value) >= SHORTEST_BARE and random_looking(value):
            data = data.replace(msgspec.json.encode(value)[1:-1], placeholder.encode())
    return facts if data == before else msgspec.json.decode(data, type=Facts)
