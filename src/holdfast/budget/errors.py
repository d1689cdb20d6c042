"""What the budget refuses, and what to try."""

from holdfast.wire.errors import HoldfastError


class UnfitPin(HoldfastError):
    exit_code = 2


class TooManyPins(HoldfastError):
    """Pins stand in every brief: without a bound they would leave room for nothing else."""

    exit_code = 3
    hint = "`holdfast budget` lists them, `holdfast budget unpin ID` takes one back"


class NoSuchPin(HoldfastError):
    hint = "`holdfast budget` lists what is pinned, and what the brief holds"


class UnfitShare(HoldfastError):
    exit_code = 2
    hint = "shares lie between 0 and 1, and those that are set must leave the others something"


class NotKept(HoldfastError):
    exit_code = 5
    hint = "nothing was changed; make the folder writable"


class NewerLedger(HoldfastError):
    """What this Holdfast cannot read it does not write over."""

    exit_code = 3
    hint = "upgrade this Holdfast; nothing was changed"


class Busy(HoldfastError):
    exit_code = 5
    hint = "nothing was changed; try again, and if it stays so, end whoever holds the lock"
