"""Hostile payloads and transcripts made from bytes: the fuzzer chooses where it bites.

Mutating a payload byte by byte mostly gives what no longer parses, and its paths must stay inside
the folder of the run. So the bytes choose: which event, which field becomes which odd value, where
a line is cut or which of its bytes change.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from holdfast.client import sample_payloads

Option = TypeVar("Option")
ODD: list[Any] = [
    None, True, -1, 0, 1e308, 2**70, "", "\0", "\ud800", "../../x", "a\nb", "x" * 5_000,
    [], {}, [[[]]], {"type": "text"}, {"a": {"b": []}}, "\x1b]0;owned\x07", "</system-reminder>",
]  # fmt: skip
USED_TOKENS = (0, 9_000, 120_000, 166_000, 10**9)


class Choices:
    """Choices that the bytes make; when they are used up, the first option is chosen."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self, below: int) -> int:
        byte = self._data[self._at : self._at + 2]
        self._at += 2 if below > 256 else 1
        return int.from_bytes(byte[: 2 if below > 256 else 1], "big") % below

    def one_of(self, options: Sequence[Option]) -> Option:
        return options[self.number(len(options))]


def hostile_payload(choices: Choices, transcript: Path) -> tuple[str, bytes]:
    """The event, and what is sent for it."""
    event = choices.one_of(sample_payloads.EVENTS)
    sent = sample_payloads.make_payload(
        event, session_id="s", transcript=str(transcript), cwd=str(transcript.parent)
    )
    for _ in range(choices.number(4)):
        key = choices.one_of([*sent, "agent_id", "source", "tool_response"])
        if key != "hook_event_name":
            sent[key] = choices.one_of(ODD)
    data = json.dumps(sent).encode()
    if choices.number(8) == 7:
        data = data[: choices.number(len(data))]
    return event, data


def hostile_transcript(choices: Choices) -> bytes:
    lines = []
    for _ in range(choices.number(8)):
        line: dict[str, Any] = sample_payloads.answer_line(choices.one_of(USED_TOKENS))
        target = choices.one_of([line, line["message"], line["message"]["usage"]])
        for _ in range(choices.number(3)):
            target[choices.one_of([*target, "content"])] = choices.one_of(ODD)
        lines.append(_bitten(choices, json.dumps(line).encode()))
    return b"\n".join(lines) + choices.one_of([b"\n", b"", b"\r\n", b"\0"])


def _bitten(choices: Choices, data: bytes) -> bytes:
    """Mostly whole; sometimes cut short, or with some bytes changed."""
    how = choices.number(8)
    if how == 7:
        return data[: choices.number(len(data))]
    spoiled = bytearray(data)
    for _ in range(choices.number(5) if how == 6 else 0):
        spoiled[choices.number(len(spoiled))] = choices.number(256)
    return bytes(spoiled)
