"""One turn, as far as cutting needs it: what was asked, which files and words, how it ended.

A turn is one answer of the model, with the prompt before it and the results after it. Everything
in it is bounded, and secrets are taken out before a word of it is kept.
"""

from __future__ import annotations

import msgspec

MOST_FILES = 24
MOST_WORDS = 80
EDITED, READ, NAMED = 4, 2, 1  # how much a file is the turn's own


class Turn(msgspec.Struct, array_like=True):
    number: int
    start: int  # byte at which it begins, its prompt included
    end: int = 0
    first_uuid: str = ""
    last_uuid: str = ""
    at: str = ""
    asked: str = ""  # the user's words, shortened
    kind: str = ""  # of those words, see `turns.kind_of`
    asked_chars: int = 0
    chars: int = 0  # of all that the window got
    messages: int = 0
    files: dict[str, int] = {}
    words: dict[str, int] = {}
    doing: str = ""  # the task that was started, in its own words
    began: bool = False  # a task was started
    finished: bool = False  # a task was completed
    passed: bool = False  # a test passed, or a commit was made
    failed: bool = False
    rests: bool = False  # the answer calls nothing: the model's turn is over
    stopped: bool = False  # the user stopped it
    answers: bool = False  # the model had asked just before
    summed_up: bool = False  # a compaction came before it

    @property
    def is_prompted(self) -> bool:
        return bool(self.asked)


def touch(turn: Turn, name: str, how: int) -> None:
    if name in turn.files or len(turn.files) < MOST_FILES:
        turn.files[name] = max(how, turn.files.get(name, 0))


def hear(turn: Turn, found: dict[str, int], weight: int = 1) -> None:
    for word, count in found.items():
        if word in turn.words or len(turn.words) < MOST_WORDS:
            turn.words[word] = turn.words.get(word, 0) + count * weight
