"""What can go wrong with recall, in words."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class NotFound(HoldfastError):
    """No item has this id."""

    exit_code = 1
    hint = "holdfast search QUERY lists ids; what was deleted at its source is gone here too"


class FitsSeveral(HoldfastError):
    """The start of more than one id."""

    exit_code = 2
    hint = "say more of it"


class Damaged(HoldfastError):
    """The index is not one of ours, or cannot be read any more."""

    exit_code = 4
    hint = "holdfast rebuild makes it again"


class Busy(HoldfastError):
    """Another process holds the index for longer than we wait."""

    exit_code = 5
    hint = "try again; nothing was lost"


class NewerIndex(HoldfastError):
    """Written by a newer Holdfast."""

    exit_code = 3
    hint = "update this Holdfast, or holdfast rebuild to make the index again with this one"
