"""`forget`: take a topic of ours out of the memory folder; a copy stays with our own files."""

from __future__ import annotations

import time

from holdfast.mcp import here
from holdfast.mcp.answer import Answer
from holdfast.mcp.asked import Forget
from holdfast.memory.hot import topics


def answer(asked: Forget) -> Answer:
    done = topics.forget(here.project(), asked.name, int(time.time() * 1000))
    return Answer(f"{done.did}: {done.topic.name}", {"did": done.did, "copy": done.before})
