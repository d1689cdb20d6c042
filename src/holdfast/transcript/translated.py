"""Other agents' transcripts: each line is translated, then read like one of Claude Code."""

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.transcript.blocks import UNDECODABLE, Malformed, repair
from holdfast.transcript.entries import Entry
from holdfast.transcript.parse import LineTally, parse

if TYPE_CHECKING:
    from holdfast.wire.translate import Translator


class TranslatedLines:
    """Reads the lines of one transcript, in order."""

    def __init__(self, translator: "Translator") -> None:
        self._translator = translator

    def note(self, data: bytes) -> None:
        """Take what a line says of the whole session."""
        self._translator.lines(_decoded(data), 0)

    def __call__(self, data: bytes, offset: int, tally: LineTally) -> list[Entry]:
        row = _decoded(data)
        lines = self._translator.lines(row, offset)
        if not lines:
            tally.add_type(str(row.get("type") or ""))
        entries = (parse(msgspec.json.encode(line), offset, tally) for line in lines)
        return [entry for entry in entries if entry is not None]


def _decoded(data: bytes) -> dict[str, Any]:
    for text in (data, None):
        try:
            return msgspec.json.decode(repair(data) if text is None else text, type=dict)
        except UNDECODABLE:
            continue
    raise Malformed
