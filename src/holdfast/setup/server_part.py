"""Our MCP server's entry in a file that holds much else: `~/.claude.json`, or a `.mcp.json`.

The client rewrites `~/.claude.json` all the time, and keeps more in it than is ours to copy: so
there is no backup. The receipt keeps only which of the objects around our entry were there before.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.setup import settings_text, wiring
from holdfast.setup.errors import SettingsBroken
from holdfast.setup.json_edits import add, is_empty, remove
from holdfast.setup.json_places import find, raw, read
from holdfast.setup.owned_files import Before, checked, plain_bytes, text_of


@dataclass(frozen=True, slots=True)
class ServerPart:
    """The entry under `servers`, such as ("mcpServers",); not `wanted`: it shall not be there.
    `packages` are the Holdfasts whose entry is ours."""

    path: Path
    packages: frozenset[str]
    servers: tuple[str, ...] = ("mcpServers",)
    wanted: bool = True

    def read(self) -> bytes | None:
        data = plain_bytes(self.path)
        checked(self.path, data)
        return data

    def is_joined(self, data: bytes | None, without: bytes | None) -> bool:
        entry = self._entry(data)
        return entry == wiring.server_entry() if self.wanted else not self._is_ours(data)

    def is_foreign(self, data: bytes | None) -> bool:
        """Somebody else's server goes by our name: it stays, and ours is left out."""
        return self._entry(data) is not None and not self._is_ours(data)

    def join(self, data: bytes | None) -> bytes | None:
        if not self.wanted or self.is_foreign(data):
            return data
        text = text_of(data)
        there = self._depth(text)
        new: Any = wiring.server_entry()
        for key in reversed((*self.servers, wiring.SERVER)[there + 1 :]):
            new = {key: new}
        key = (*self.servers, wiring.SERVER)[there]
        return add(text, self.servers[:there], new, key=key).encode()

    def leave(self, data: bytes | None, before: Before) -> bytes | None:
        if not self._is_ours(data):
            return data
        was = text_of(before.data) if before.known else None
        text = remove(text_of(data), (*self.servers, wiring.SERVER))
        for depth in range(len(self.servers), -1, -1):
            if not is_empty(text, self.servers[:depth]):
                return text.encode()
            text = settings_text.close(text, self.servers[:depth], was)
        # Left empty: as blank as it was, or no file again.
        blank = before.known and not (before.data or b"").strip()
        return before.data if blank and is_empty(text, ()) else text.encode()

    def remembered(
        self, without: bytes | None, wanted: bytes | None
    ) -> tuple[bytes | None, bytes | None]:
        """The bare objects around our entry, each as blank as it was; and no word of the rest."""
        if not (without or b"").strip():
            return without, None
        text = text_of(without)
        depth = self._depth(text)
        inner = self.servers[:depth]
        bare = (raw(text, inner) or "{}") if is_empty(text, inner) else "{}"
        for key in reversed(inner):
            bare = f"{{{json.dumps(key)}: {bare}}}"
        return bare.encode(), None

    def _depth(self, text: str) -> int:
        """How many of the objects around our entry are there."""
        for depth in range(1, len(self.servers) + 1):
            place = find(text, self.servers[:depth])
            if place is None:
                return depth - 1
            if text[place.value_start] != "{":
                named = ".".join(self.servers[:depth])
                raise SettingsBroken(f"{self.path}: `{named}` is not an object")
        return len(self.servers)

    def _entry(self, data: bytes | None) -> Any:
        found: Any = read(text_of(data))
        for key in (*self.servers, wiring.SERVER):
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def _is_ours(self, data: bytes | None) -> bool:
        program = wiring.read_server(self._entry(data))
        return program is not None and program.package in self.packages
