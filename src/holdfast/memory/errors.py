"""Errors of search and its indexes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.wire.errors import HoldfastError


class NotFound(HoldfastError):
    """No item has this id."""

    exit_code = 1
    hint = "holdfast search QUERY lists ids; what was deleted at its source is gone here too"


class Forgotten(NotFound):
    """The turn is unknown, or was removed together with its transcript."""

    hint = (
        "turns are forgotten with their transcript, once it is deleted; segments, decisions and "
        "checkpoints made of them stay: holdfast search finds those"
    )


class FitsSeveral(HoldfastError):
    """The word is the start of more than one id."""

    exit_code = 2
    hint = "write more of its characters"


class OfIndex(HoldfastError):
    """An index cannot be used; `path` says which."""

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
    """The system refuses access to the file: permissions, a missing disk."""

    exit_code = 5
    hint = "HOLDFAST_HOME names another folder; holdfast doctor looks at this one"


class IndexFull(OfIndex):
    """The disk is full or fails. SQLite needs room for its log also to read."""

    exit_code = 4
    hint = "free some space and search again; nothing was lost"


class NewerIndex(OfIndex):
    """A newer Holdfast wrote the index."""

    exit_code = 3
    hint = "update this Holdfast, or holdfast rebuild to make the index again with this one"


@contextmanager
def in_words() -> Iterator[None]:
    """Turn errors of the system about an index into Holdfast's own."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise UnusableIndex("a name that is not UTF-8 cannot be searched") from error
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise UnusableIndex(f"{where}{error.strerror or error}") from error
