"""The tools there are: what each is asked, what it answers, whether it changes anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import msgspec

from holdfast.mcp import schemas
from holdfast.mcp.reply import Answer

# Bounds are kept and not listed: a hundred tokens in every session, for words we refuse in words.
SAID = ("type", "enum", "description")


@dataclass(frozen=True, slots=True)
class Tool:
    """`gives`: the fields of every answer, `name:type`. The module is loaded at the first call."""

    asks: type[schemas.Asked]
    gives: tuple[str, ...]
    reads_only: bool = False
    destroys: bool = False

    @property
    def name(self) -> str:
        """`ContextBudget` is `context_budget`, as its module is."""
        name = self.asks.__name__
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")

    @property
    def words(self) -> str:
        return self.asks.__doc__ or ""

    @property
    def input_schema(self) -> dict[str, Any]:
        _, parts = msgspec.json.schema_components([self.asks])
        found = parts[self.asks.__name__]
        fields = {name: _slim(field) for name, field in found["properties"].items()}
        needed = {"required": found["required"]} if found["required"] else {}
        return {"type": "object", "properties": fields, **needed}

    @property
    def output_schema(self) -> dict[str, Any]:
        pairs = [one.split(":") for one in self.gives]
        fields = {name: {"type": kind} for name, kind in pairs}
        return {"type": "object", "properties": fields}

    @property
    def listed(self) -> dict[str, Any]:
        """As the protocol names it."""
        hints = {"annotations": self._hints} if self._hints else {}
        return {
            "name": self.name,
            "description": self.words,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            **hints,
        }

    @property
    def _hints(self) -> dict[str, bool]:
        """Without a word on it, a client must take a tool to be one that destroys."""
        if self.reads_only:
            return {"readOnlyHint": True}
        return {} if self.destroys else {"destructiveHint": False}

    def answer(self, arguments: dict[str, Any]) -> Answer:
        """What the capability says; msgspec.ValidationError where the words do not fit."""
        # Lenient on "5" for 5, which models write; on nothing else.
        given = msgspec.convert(arguments, self.asks, strict=False)
        ask: Callable[[Any], Answer] = import_module(f"holdfast.mcp.tools.{self.name}").answer
        return ask(given)


def _slim(field: dict[str, Any]) -> dict[str, Any]:
    field = field.get("anyOf", [field])[0]  # or nothing at all
    inner = {"items": _slim(field["items"])} if "items" in field else {}
    return {name: field[name] for name in SAID if name in field} | inner


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            schemas.Status,
            ("used_tokens:integer", "edge_tokens:integer", "zone:string", "agents:array"),
            reads_only=True,
        ),
        Tool(schemas.Checkpoint, ("id:string", "path:string")),
        Tool(schemas.Resume, ("checkpoints:array", "text:string"), reads_only=True),
        Tool(schemas.Plan, ("tokens:integer", "batches:array"), reads_only=True),
        Tool(schemas.Recall, ("results:array",), reads_only=True),
        Tool(schemas.Expand, ("text:string",), reads_only=True),
        Tool(schemas.Remember, ("did:string", "path:string")),
        Tool(schemas.Forget, ("did:string",), destroys=True),
        Tool(schemas.ContextBudget, ("forecast:object", "compartments:array")),
        Tool(schemas.Segments, ("segments:array",)),
        Tool(schemas.Board, ("messages:array", "claims:array")),
    )
}
