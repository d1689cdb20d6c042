"""`expand`: the whole of what was shown in part; handles of answers are the server's own."""

from __future__ import annotations

import time

from holdfast.mcp import client_session
from holdfast.mcp.reply import Answer
from holdfast.mcp.schemas import Expand
from holdfast.memory.full_text import whole


def answer(asked: Expand) -> Answer:
    found = whole(
        asked.id,
        now_ms=int(time.time() * 1000),
        project=client_session.project(),
        offset=asked.offset,
        find=asked.find,
    )
    fields = {
        "id": found.id,
        "kind": found.kind,
        "next_offset": found.next_offset or None,
        "notes": list(found.notes) or None,
    }
    words = f"{found.kind} {found.id}"
    return Answer(words, fields, text=found.text, origin=found.origin)
