"""How far a window has been gathered, and what is held until the rest of it is told.

Kept by the store beside the rows, as plain JSON. One that cannot be read starts anew: ids are made
of what things are, so telling them again changes nothing.
"""

from __future__ import annotations

from typing import Any

import msgspec

MOST_CALLS = 100
_STAY = ("spool", "state", "first_ms", "last_ms", "newest_ms", "newest_used", "newest_estimated")


class OpenCall(msgspec.Struct, array_like=True, gc=False):
    """A tool call whose result is not there yet."""

    tool: str
    at_ms: int
    input: str = ""
    file_paths: list[str] = []
    told: dict[str, Any] = {}  # what only its result makes true: a task, an agent, a skill


class ReadPosition(msgspec.Struct, omit_defaults=True, gc=False):
    spool: dict[str, int] = {}
    transcript: str = ""
    offset: int = 0
    state: str = ""  # the window's notes summed up, as their health was told
    first_ms: int = 0  # all that was told lies between these
    last_ms: int = 0
    newest_ms: int = 0  # the last reading of its spool
    newest_used: int = 0
    newest_estimated: bool = False
    calls: dict[str, OpenCall] = {}
    request: str = ""
    prompt_id: str = ""
    standing: str = ""  # of the request, as told last
    task: str = ""  # of the list, under way
    waves: int = 0  # tasks of the list, under this request
    compactions: int = 0
    bounded: bool = False  # a boundary came, and its summary has not yet
    asked: bool = False  # a subagent's first prompt was told
    told: list[int] = []  # lines that told a secret with its name

    def begin(self, transcript: str) -> None:
        """Another file: nothing is known of it yet."""
        fresh = ReadPosition(transcript=transcript)
        for name in self.__struct_fields__:
            if name not in _STAY:
                setattr(self, name, getattr(fresh, name))

    def hold(self, use_id: str, call: OpenCall) -> None:
        self.calls[use_id] = call
        while len(self.calls) > MOST_CALLS:
            del self.calls[next(iter(self.calls))]


def read(position: dict[str, Any]) -> ReadPosition:
    try:
        return msgspec.convert(position, ReadPosition)
    except msgspec.ValidationError:
        return ReadPosition()


def written(reached: ReadPosition) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(reached)
    return found
