"""`remember`: a topic in the client's own memory folder."""

from __future__ import annotations

import time

from holdfast.mcp import here
from holdfast.mcp.answer import Answer
from holdfast.mcp.asked import Remember
from holdfast.memory.hot import topics


def answer(asked: Remember) -> Answer:
    now_ms = int(time.time() * 1000)
    done = topics.change(
        here.project(), asked.name, asked.description, asked.type, asked.text, now_ms
    )
    fields = {"did": done.did, "name": done.topic.name, "path": done.path}
    return Answer(f"{done.did}: {done.topic.name}", {**fields, "shelved": done.shelved or None})
