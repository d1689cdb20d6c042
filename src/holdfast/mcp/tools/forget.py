"""`forget`: take a topic of ours out of the memory folder; a copy stays with our own files."""

from __future__ import annotations

import time

from holdfast.mcp import client_session
from holdfast.mcp.reply import Answer
from holdfast.mcp.schemas import Forget
from holdfast.memory.topics import topic_store


def answer(asked: Forget) -> Answer:
    done = topic_store.forget(client_session.project(), asked.name, int(time.time() * 1000))
    return Answer(f"{done.did}: {done.topic.name}", {"did": done.did, "copy": done.before})
