"""What can go wrong with recall, in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.wire.errors import HoldfastError


class NotFound(HoldfastError):
    """No item has this id."""

    exit_code = 1
    hint = "holdfast search QUERY lists ids; what was deleted at its source is gone here too"


class Forgotten(NotFound):
    """A turn that is not known, or not any more."""

    hint = (
        "turns are forgotten with their transcript, once it is deleted; segments, decisions and "
        "checkpoints made of them stay: holdfast search finds those"
    )


class FitsSeveral(HoldfastError):
    """The start of more than one id."""

    exit_code = 2
    hint = "say more of it"


class OfIndex(HoldfastError):
    """One index cannot be asked: `path` tells which."""

    def __init__(self, words: str, path: str = "") -> None:
        super().__init__(words)
        self.path = path


class DamagedIndex(OfIndex):
    """The index is not one of ours, or cannot be read any more."""

    exit_code = 4
    hint = "holdfast rebuild makes it again"


class IndexBusy(OfIndex):
    """Another process holds the index for longer than we wait."""

    exit_code = 5
    hint = "try again; nothing was lost"


class UnusableIndex(OfIndex):
    """The machine does not give us the file: no right to it, no room, no such disk."""

    exit_code = 5
    hint = "HOLDFAST_HOME names another folder; holdfast doctor looks at this one"


class NewerIndex(OfIndex):
    """Written by a newer Holdfast."""

    exit_code = 3
    hint = "update this Holdfast, or holdfast rebuild to make the index again with this one"


@contextmanager
def in_words() -> Iterator[None]:
    """What the machine refuses on the way to an index, as one of our errors."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise UnusableIndex("a name that is not UTF-8 cannot be searched") from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise UnusableIndex(f"{where}{error.strerror or error}") from error
