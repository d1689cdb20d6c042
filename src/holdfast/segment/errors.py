"""What can go wrong with a segment, each with the next thing to try."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class NoSegment(HoldfastError):
    """No segment has this id, in any tier."""

    hint = "`holdfast segments --all --cold` lists the ids"


class SeveralSegments(NoSegment):
    """The start of an id that fits more than one."""

    exit_code = 2
    hint = "give more characters of the id; `holdfast segments` lists them"


class NotASave(HoldfastError):
    """The given words cannot replace the segment: empty, too long, or malformed."""

    exit_code = 2
    hint = "`holdfast segments save --help` shows the shape"


class DamagedSegment(Exception):
    """A file does not hold what its name says; it is set aside."""


class NoTranscript(HoldfastError):
    """The transcript a segment would be read from is gone."""

    hint = "segments that are stored already stay: `holdfast segments`"


class NotRolled(HoldfastError):
    """A part could not be done; the rest was."""

    hint = "`holdfast log` has the rest; what was not compressed stays pending"

    def __init__(self, words: str, exit_code: int = 1) -> None:
        super().__init__(words)
        self.exit_code = exit_code
