"""What a session has been about: one resumable pass over its transcript, without a model.

`read_record(path)` gives a `Record`: the turns of the session, what is open, what was used.
"""

from typing import TYPE_CHECKING

from holdfast.record.model import Record

if TYPE_CHECKING:
    from holdfast.record.reader import RecordReader, read_record

__all__ = ["Record", "RecordReader", "read_record"]


def __getattr__(name: str) -> object:
    """Import the reader only when it is asked for: it takes 5 ms, and a restore needs only
    `Record`."""
    if name not in ("RecordReader", "read_record"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found: object = getattr(import_module(f"{__name__}.reader"), name)
    return found
