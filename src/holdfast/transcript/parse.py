"""From the bytes of one line to an entry, with every line counted once in the tally."""

from holdfast.transcript.build import BUILDERS
from holdfast.transcript.entries import Entry
from holdfast.transcript.lines import Line, decode
from holdfast.transcript.repair import UNDECODABLE
from holdfast.transcript.shorten import WORTH_CUTTING_BYTES, shortened
from holdfast.transcript.tally import Tally


def parse(data: bytes, offset: int, tally: Tally) -> Entry | None:
    """The entry in one line; None when there is none. Raises Malformed and nothing else."""
    try:
        line = decode(data if len(data) < WORTH_CUTTING_BYTES else shortened(data))
    except UNDECODABLE:
        line = _second_try(data, tally)
    kind = line.type
    try:
        tally.by_type[kind] += 1
    except KeyError:
        tally.add_type(kind)
    build = BUILDERS.get(kind)
    return build(offset, line, data) if build is not None else None


def _second_try(data: bytes, tally: Tally) -> Line:
    """Slower, for the few lines that are not as they should be."""
    from holdfast.transcript.lenient_line import (
        mended,  # a decoder for each field, and seldom needed
    )

    slips: list[str] = []
    line = mended(data, slips)
    if slips:
        tally.add_misfit(slips)
    return line
