"""Why a memory was not written, and what to try."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class NotOurs(HoldfastError):
    """Somebody else wrote the topic, or has edited it since."""

    exit_code = 3
    hint = "edit the file yourself, or give yours another name"


class NoSuchTopic(HoldfastError):
    hint = "`holdfast memory list` shows them all"


class Ambiguous(HoldfastError):
    exit_code = 2
    hint = "name the file instead"


class Unfit(HoldfastError):
    """A name, type or text that cannot be a topic."""

    exit_code = 2


class IndexFull(HoldfastError):
    """No line of ours can make room, and theirs are not ours to move."""

    exit_code = 3
    hint = "shorten MEMORY.md by hand: the client reads its first 200 lines and 25,000 bytes"


class NotWritten(HoldfastError):
    """The folder takes nothing, or is being written by somebody else all the time."""

    exit_code = 5
    hint = "nothing was changed; make the folder writable, or try again"
