"""The user's own patterns for secrets, handed to `redact`, which reads no settings itself.

Each process calls `use` when it starts: commands, hooks and the MCP server.
"""

from __future__ import annotations

import os
import re

from holdfast.redact import use_patterns
from holdfast.wire import places

NAME = "secret_patterns"


def use() -> None:
    """Search for the user's own patterns from now on. A server reads them once."""
    lines = ""
    if _may_be_set():
        from holdfast.settings import load  # a save and a restore need it for nothing else: 20 ms

        lines = load.load().word(NAME)
    use_patterns(map(re.compile, lines.splitlines()))


def _may_be_set() -> bool:
    data = places.read_small(f"{places.home()}/settings.toml", 64 << 10)
    return NAME.encode() in data or f"HOLDFAST_{NAME.upper()}" in os.environ
