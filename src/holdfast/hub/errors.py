"""Errors of the shared work: why a request is refused, and what can be wrong with a database."""

from typing import Any

from holdfast.wire.errors import HoldfastError


class NotThere(HoldfastError):
    """No such row. `what` as a person says it: "Project", "Task"."""

    exit_code = 2

    def __init__(self, what: str, which: str = "") -> None:
        super().__init__(f"{what} not found" + (f": {which}" if which else ""))


class Refused(HoldfastError):
    """The request is well formed, but cannot be done. `field` names what to change."""

    exit_code = 2

    def __init__(self, text: str, field: str = "", hint: str = "") -> None:
        super().__init__(text, hint)
        self.field = field


class AlreadyThere(HoldfastError):
    """It exists already, or another agent has it. `more` holds details for the caller."""

    exit_code = 3

    def __init__(self, text: str, which: str, **more: Any) -> None:
        super().__init__(text)
        self.which = which
        self.more = more


class StoreError(HoldfastError):
    hint = "holdfast db check"


class NoSuchDatabase(StoreError):
    """The address names nothing we can open."""

    exit_code = 2
    hint = "an address looks like sqlite:////path/to/holdfast.db or postgresql://user@host/name"


class Corrupt(StoreError):
    """The file is damaged."""

    exit_code = 4
    hint = "holdfast rebuild sets it aside and makes it again from transcripts and checkpoints"


class NoRoom(StoreError):
    """The disk is full or refuses writes; nothing was written."""

    exit_code = 4
    hint = "free some space and make the file writable; what was committed before is safe"


class Denied(NoRoom):
    """The file or its folder is not writable, or it is no regular file."""

    hint = "is it a file, and may you write to it and to its folder?"


class NoBackup(StoreError):
    """The file is not a backup, or not a whole one."""

    exit_code = 4
    hint = "name a file made by `holdfast db backup`; the default folder is ~/.holdfast/backups"


class Unreachable(StoreError):
    """The database did not answer."""

    exit_code = 5
    hint = "is it running, and is the address right?"
