"""Who watches, as a person is told."""

from __future__ import annotations

import pytest

from holdfast.watcher.loop import describe_holder


@pytest.mark.requirement("U3")
def test_who_watches_is_said_in_words() -> None:
    assert describe_holder({"pid": 7, "inside": "alone"}) == "process 7, by itself"
    assert describe_holder({"pid": 7, "inside": "mcp"}) == "process 7, inside the MCP server"
    assert describe_holder({"pid": 7, "inside": "serve"}) == "process 7, inside `holdfast serve`"
    assert describe_holder({"inside": "a dashboard"}) == "process unknown, inside a dashboard"
