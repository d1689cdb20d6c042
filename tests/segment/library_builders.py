"""Segments for tests: name what matters, default the rest."""

from typing import Any

from holdfast.segment import library
from holdfast.segment.formats import Compressed, Metadata

NOW_MS = 1_767_225_600_000  # 2026-01-01
DAY_MS = 86_400_000


def a_segment(segment_id: str = "s1_seg_1_0", **fields: Any) -> Compressed:
    known = {"project": "/p", "task_completed": True, "substance": 0.6}
    metadata = Metadata(**{**known, **fields.pop("metadata", {})})
    given = {
        "topic": "Read tables with a byte order mark",
        "session_id": "s1",
        "start_turn": 1,
        "end_turn": 9,
        "original_tokens": 4_000,
        "compressed_tokens": 300,
        "compressed_at": "2026-01-01T00:00:00Z",
        "last_accessed": "2026-01-01T00:00:00Z",
        "compressed_content": "Asked: read tables with a byte order mark.",
        "key_decisions": ["decode as utf-8-sig"],
        "key_files": ["src/table.py"],
    }
    return Compressed(segment_id, metadata=metadata, **{**given, **fields})


def kept(*segments: Compressed) -> None:
    with library.hold_segments():
        for one in segments:
            library.keep(one, NOW_MS)
