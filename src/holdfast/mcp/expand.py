"""`expand`: the whole of what was shown in part; handles of answers are the server's own."""

from __future__ import annotations

from holdfast.mcp.answer import Answer
from holdfast.mcp.asked import Expand
from holdfast.mcp.pages import NoMore


def answer(asked: Expand) -> Answer:
    raise NoMore(f"nothing waits behind {asked.id[:40]!r}")
