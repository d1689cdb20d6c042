"""`remember`: a topic in the client's own memory folder."""

from __future__ import annotations

import time

from holdfast.mcp import client_session
from holdfast.mcp.reply import Answer
from holdfast.mcp.schemas import Remember
from holdfast.memory.topics import topic_store


def answer(asked: Remember) -> Answer:
    now_ms = int(time.time() * 1000)
    done = topic_store.change(
        client_session.project(), asked.name, asked.description, asked.type, asked.text, now_ms
    )
    fields = {"did": done.did, "name": done.topic.name, "path": done.path}
    return Answer(f"{done.did}: {done.topic.name}", {**fields, "shelved": done.shelved or None})
