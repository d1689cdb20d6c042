"""Why something about the shared work is refused."""

from __future__ import annotations

from typing import Any

from holdfast.wire.errors import HoldfastError


class NotThere(HoldfastError):
    """No such row. `what` as a person says it: "Project", "Task"."""

    exit_code = 2

    def __init__(self, what: str, which: str = "") -> None:
        super().__init__(f"{what} not found" + (f": {which}" if which else ""))


class Refused(HoldfastError):
    """The words are well formed, but this cannot be done. `field`: what to change."""

    exit_code = 2

    def __init__(self, text: str, field: str = "") -> None:
        super().__init__(text)
        self.field = field


class AlreadyThere(HoldfastError):
    """It is there already, or another one has it. `more`: what a caller should know of that."""

    exit_code = 3

    def __init__(self, text: str, which: str, **more: Any) -> None:
        super().__init__(text)
        self.which = which
        self.more = more
