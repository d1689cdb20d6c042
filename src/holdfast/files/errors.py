"""What can go wrong with a file we write."""

from __future__ import annotations

from holdfast.wire.errors import HoldfastError


class PhantomCheckpoint(HoldfastError):
    """We wrote a checkpoint and could not read the same thing back."""

    exit_code = 4
    hint = "check free disk space; the previous checkpoint is untouched"


class Unusable(Exception):
    """A folder we do not write into, and why; the next place is tried."""
