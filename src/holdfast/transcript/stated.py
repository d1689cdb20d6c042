"""What a transcript says of itself: whose session it is, and how often it was compacted."""

from pathlib import Path

from holdfast.transcript.entries import Boundary, Summary
from holdfast.transcript.parse import parse
from holdfast.transcript.reader import read
from holdfast.transcript.repair import Malformed
from holdfast.transcript.tally import Tally

END_BYTES = 1 << 20
_SIGNS = (b"compact_boundary", b"isCompactSummary")


def session_id(path: Path) -> str:
    """As the last lines have it: a resumed session may begin with those of the one before."""
    start = max(0, path.stat().st_size - END_BYTES)
    found = [entry.session_id for entry in read(path, start=start) if entry.session_id]
    return found[-1] if found else ""


def compactions(path: Path) -> int:
    """From the few lines that tell of one: a gigabyte takes a second, not ten."""
    boundaries = summaries = 0
    with path.open("rb") as file:
        for data in file:
            if any(sign in data for sign in _SIGNS):
                told = _entry(data)
                boundaries += isinstance(told, Boundary) and told.resets_window
                summaries += isinstance(told, Summary)
    return boundaries or summaries  # client 1.0.53 wrote no boundary line


def _entry(data: bytes) -> object:
    try:
        return parse(data, 0, Tally())
    except Malformed:
        return None
