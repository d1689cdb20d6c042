"""Remove secrets from the lines of a transcript.

A line's texts are checked after decoding its JSON: escapes such as `\\n` and `\\"` would hide
where a word begins. Most lines hold no secret and stay byte for byte as they were.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from holdfast.record.secrets import MOST_BARE, ToldSecrets, is_known_bare
from holdfast.redact import find, redact, redact_each, redact_named_values, which_are_clean

_UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)
_ANSWERS = "answers"
LEFT_OUT = b'{"type":"holdfast-left-out"}\n'  # stands for a line that could not be redacted


class Cleaner:
    """Redacts lines. A secret that one line names is recognised in all other lines too."""

    def __init__(self) -> None:
        self._known = ToldSecrets()
        self._bare: dict[str, str] = {}
        self._written: list[bytes] = []  # the same as they stand in JSON

    @property
    def known(self) -> int:
        """How many secrets are recognised without their names."""
        return len(self._bare)

    def _hear(self, texts: Iterable[str]) -> None:
        self._known.hear((0, text) for text in texts)
        bare = [pair for pair in self._known.bare.items() if is_known_bare(pair[0])][:MOST_BARE]
        self._bare = dict(sorted(bare, key=lambda pair: -len(pair[0])))  # one may contain another
        self._written = [msgspec.json.encode(value)[1:-1] for value in self._bare]

    def without(self, lines: Sequence[bytes]) -> list[bytes]:
        """The same lines without secrets, in the same order, each still one line of JSON."""
        read = [_read(data) for data in lines]
        clean = which_are_clean([said for _, said in read])
        self._hear(said for (_, said), is_clean in zip(read, clean, strict=True) if not is_clean)
        return [
            data if is_clean and not self._quotes(data) else self._cleaned(value, data)
            for (value, _), data, is_clean in zip(read, lines, clean, strict=True)
        ]

    def _quotes(self, data: bytes) -> bool:
        return any(value in data for value in self._written)

    def _cleaned(self, value: Any, data: bytes) -> bytes:
        if value is None:
            text = data.decode("utf-8", "replace").removesuffix("\n")
            return self._without_known(redact(text)).encode() + b"\n"
        try:
            return self._cleaned_json(value)
        except RecursionError:  # nested deeper than any client nests
            return LEFT_OUT

    def _cleaned_json(self, value: Any) -> bytes:
        made = self._each(redact_each(redact_named_values(value)))
        if find("\n".join(_texts(made))):  # what only its key tells, or two texts together
            made = _read(redact(json.dumps(made)).encode())[0]
        if made is None:
            return LEFT_OUT
        text = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace") + b"\n"

    def _each(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._without_known(value)
        if isinstance(value, dict):
            return {self._without_known(key): self._each(inner) for key, inner in value.items()}
        return [self._each(inner) for inner in value] if isinstance(value, list) else value

    def _without_known(self, text: str) -> str:
        for value, placeholder in self._bare.items():
            text = text.replace(value, placeholder)
        return text


def _read(data: bytes) -> tuple[Any, str]:
    """The decoded line and its texts. A line that is not JSON has no value and is one text."""
    try:
        value = msgspec.json.decode(data)
        return value, "\n".join(_texts(value))
    except _UNREADABLE:
        return None, data.decode("utf-8", "replace")


def _texts(value: Any, key: str = "") -> Iterator[str]:
    """Each text with its key, which may say what it is."""
    if isinstance(value, str):
        yield f'"{key}": "{value}"' if key else value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, dict | list):
                yield name
            elif key == _ANSWERS and isinstance(inner, str):
                yield f"{name}\n{inner}"  # a question of the model's, and what the user typed
            yield from _texts(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)
    elif key and isinstance(value, int | float) and not isinstance(value, bool):
        yield f'"{key}": {value}'
