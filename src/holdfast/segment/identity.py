"""Which segment it is: its session, and the very bytes of its turns.

A transcript can be rewound, restored or written anew under the same session: the same turn is then
another one, and what stands further up may have stayed. A name made of the bytes tells them apart,
and finds again what only moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from holdfast.files.digest import digest, sha256
from holdfast.transcript.reader import PIECE_BYTES, TranscriptSource
from holdfast.wire import places

HEX = 12


def name(session_id: str, transcript: str | os.PathLike[str], start: int, end: int) -> str:
    """Of the segment that the transcript holds between two bytes."""
    return names(session_id, transcript, [(start, end)])[0]


def names(
    session_id: str, transcript: str | os.PathLike[str], spans: Sequence[tuple[int, int]]
) -> list[str]:
    """Of several, one after the other in the file, which is read once. No two
    sessions share a name: it begins with the session's own."""
    data = session_id.encode("utf-8", "surrogatepass")
    head = places.plain(session_id)[:8].strip("%-_.") or "x"
    whose = f"{head}-{digest(data)[:8]}"
    return [f"{whose}_seg_{content[:HEX]}" for content in _digests(transcript, spans)]


def _digests(transcript: str | os.PathLike[str], spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    if not spans:
        return
    with TranscriptSource(transcript) as source:
        at = spans[0][0]
        pieces = source.lines(at, PIECE_BYTES)
        for start, end in spans:
            content = sha256()
            while at < end and (data := next(pieces, b"")):
                content.update(data if at >= start else b"")
                at += len(data)
            yield str(content.hexdigest())
