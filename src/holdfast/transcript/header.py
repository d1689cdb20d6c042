"""What a transcript says of itself: whose session it is, and how often it was compacted."""

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Compactions:
    """How often a window was compacted, and its microcompactions since the last time."""

    count: int = 0
    thinned: tuple[Boundary, ...] = ()


def compactions(path: Path, *, sidechain: bool = False) -> Compactions:
    """From the few lines that tell of one: a gigabyte takes a second, not ten."""
    boundaries = summaries = 0
    thinned: list[Boundary] = []
    with path.open("rb") as file:
        for data in file:
            if not any(sign in data for sign in _SIGNS):
                continue
            told = _entry(data)
            if isinstance(told, Boundary) and not told.resets_window:
                thinned += [told] if sidechain or not told.is_sidechain else []
            elif isinstance(told, Boundary | Summary):
                boundaries += isinstance(told, Boundary)
                summaries += isinstance(told, Summary)
                thinned.clear()
    # client 1.0.53 wrote no boundary line
    return Compactions(boundaries or summaries, tuple(thinned))


def _entry(data: bytes) -> object:
    try:
        return parse(data, 0, Tally())
    except Malformed:
        return None
