"""The tools without the wire: called in this process, answered as the protocol would say it.

A server of its own takes a second of CPU to start; what goes over the wire is in `test_life`.
"""

from __future__ import annotations

from typing import Any

from holdfast.mcp.call_tool import call
from holdfast.mcp.continuations import Pages
from tests.mcp.asking import Asking


class Near(Asking):
    def __init__(self) -> None:
        self._pages = Pages()

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        said = call(self._pages, tool, arguments)
        content = {"content": [{"type": "text", "text": said.words}]}
        if said.found is None:
            return {**content, "isError": True}
        return {**content, "structuredContent": said.found}
