"""The tools of the model: their arguments, what they answer, whether they change anything.

Each arguments class describes one tool: its docstring is the description that the model reads, its
fields are the schema and the check of the arguments. To add a tool, add a class, a line in `TOOLS`
and a function `answer_<tool>` in `mcp/tools`.

Every session pays for every character here: all of it stays under 1,500 tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from holdfast.mcp.answers import ToolAnswer

Id = Annotated[str, Meta(max_length=200)]
ShortText = Annotated[str, Meta(max_length=1_000)]
Text = Annotated[str, Meta(max_length=20_000)]
Tokens = Annotated[int, Meta(ge=0, le=100_000_000)]
Compartment = Literal[
    "active_task",
    "project_background",
    "operator_preferences",
    "safety_constraints",
    "ambient_knowledge",
]
ResultCount = Annotated[int, Meta(ge=1, le=50)]
# Bounds are checked but not listed: they would cost a hundred tokens in every session.
SCHEMA_KEYS = ("type", "enum", "description")


class ToolArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of a tool. Unknown fields are refused, so that a typo is noticed."""


class StatusArguments(ToolArguments, frozen=True):
    """How full the window is, steps until compaction, last checkpoint, agents. task_tokens: does a task of that size still fit?"""  # noqa: E501

    task_tokens: Tokens = 0


class CheckpointArguments(ToolArguments, frozen=True):
    """Save this session's state now; it is also saved by itself. You may add a few short lines, commands in backticks."""  # noqa: E501

    what: ShortText = ""
    why: ShortText = ""
    decided: ShortText = ""
    next: ShortText = ""


class ResumeArguments(ToolArguments, frozen=True):
    """Read earlier checkpoints of this project. which: an id, "latest", "previous"; "now": what a compaction would restore. None: the list."""  # noqa: E501

    which: ShortText = ""


class PlanArguments(ToolArguments, frozen=True):
    """Divide a task list into batches that fit the room left, with estimates. text: `- [ ]` list, YAML, JSON; or path: a file here."""  # noqa: E501

    text: Annotated[str, Meta(max_length=100_000)] = ""
    path: ShortText = ""


class BoardArguments(ToolArguments, frozen=True):
    """Messages and claims between this project's agents. post: give topic and text; claim, settle (done or released): give work."""  # noqa: E501

    op: Literal["read", "post", "claim", "settle", "claims"]
    topic: Id = ""
    text: Text = ""
    to: Id = ""
    work: Id = ""
    agent: Annotated[str, Meta(max_length=200, description="you; default: this session")] = ""


class RecallArguments(ToolArguments, frozen=True):
    """Search what this project's sessions said, decided and saved, also long ago. expand shows a result whole."""  # noqa: E501

    query: Annotated[str, Meta(max_length=4_000)]
    limit: ResultCount = 5
    kind: Literal["", "memory", "checkpoint", "segment", "decision", "message", "turn"] = ""
    cold: Annotated[bool, Meta(description="archived segments too")] = False
    everywhere: Annotated[bool, Meta(description="all projects")] = False


class RememberArguments(ToolArguments, frozen=True):
    """Save a lasting fact in Claude Code's memory; the same name replaces it."""

    name: Id
    description: Annotated[str, Meta(max_length=400, description="a line for the index")]
    text: Text
    type: Literal["user", "feedback", "project", "reference"] = "project"


class ForgetArguments(ToolArguments, frozen=True):
    """Remove what remember saved."""

    name: Id


class ContextBudgetArguments(ToolArguments, frozen=True):
    """What the brief after a compaction holds, in five compartments. pin, estimate: a text; unpin, evict: an id; allot: a share, none: the default."""  # noqa: E501

    op: Literal["status", "pin", "unpin", "evict", "estimate", "allot"]
    text: Text = ""
    id: Id = ""
    compartment: Compartment = "operator_preferences"
    scope: Literal["project", "session", "user"] = "project"
    share: Annotated[float, Meta(ge=0, le=1)] | None = None


class SegmentsArguments(ToolArguments, frozen=True):
    """Topics of this project's sessions that were compressed, or of this one that wait. save: your summary of one, at most a fifth of its size."""  # noqa: E501

    op: Literal["pending", "compressed", "save"]
    id: Id = ""
    text: Text = ""
    decisions: tuple[ShortText, ...] = ()
    files: tuple[ShortText, ...] = ()
    cold: bool = False


class ExpandArguments(ToolArguments, frozen=True):
    """The whole text behind an id: a recall result, an archived tool output, or a `more` handle. find: lines with these words."""  # noqa: E501

    id: Id
    offset: Annotated[int, Meta(ge=0)] = 0
    find: ShortText = ""


@dataclass(frozen=True, slots=True)
class McpTool:
    """`gives`: the fields of an answer, each as `name:type`. `module`, in `mcp/tools`, is imported
    at the first call; by default it is named like the tool."""

    asks: type[ToolArguments]
    gives: str
    reads_only: bool = False
    destroys: bool = False
    module: str = ""

    @property
    def name(self) -> str:
        """`ContextBudgetArguments` describes `context_budget`."""
        name = self.asks.__name__.removesuffix("Arguments")
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")

    @property
    def input_schema(self) -> dict[str, Any]:
        _, parts = msgspec.json.schema_components([self.asks])
        found = parts[self.asks.__name__]
        fields = {name: _slim(field) for name, field in found["properties"].items()}
        needed = {"required": found["required"]} if found["required"] else {}
        return {"type": "object", "properties": fields, **needed}

    @property
    def output_schema(self) -> dict[str, Any]:
        pairs = (give.split(":") for give in self.gives.split())
        return {"type": "object", "properties": {name: {"type": kind} for name, kind in pairs}}

    @property
    def listed(self) -> dict[str, Any]:
        """The entry in the protocol's list of tools, where one without hints is destructive."""
        hints = {"readOnlyHint": True} if self.reads_only else {"destructiveHint": False}
        return {
            "name": self.name,
            "description": self.asks.__doc__,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            **({} if self.destroys else {"annotations": hints}),
        }

    def answer(self, arguments: dict[str, Any]) -> ToolAnswer:
        """Run the tool; raises msgspec.ValidationError if the arguments do not fit."""
        # Not strict: models write "5" for 5. Nothing else is converted.
        given = msgspec.convert(arguments, self.asks, strict=False)
        module = import_module(f"holdfast.mcp.tools.{self.module or self.name}")
        answer: Callable[[Any], ToolAnswer] = getattr(module, f"answer_{self.name}")
        return answer(given)


def _slim(field: dict[str, Any]) -> dict[str, Any]:
    field = field.get("anyOf", [field])[0]  # the other choice is null
    inner = {"items": _slim(field["items"])} if "items" in field else {}
    return {name: field[name] for name in SCHEMA_KEYS if name in field} | inner


OF_STATUS = "used_tokens:integer edge_tokens:integer zone:string agents:array"
TOOLS = {
    tool.name: tool
    for tool in (
        McpTool(StatusArguments, OF_STATUS, reads_only=True),
        McpTool(CheckpointArguments, "id:string path:string", module="checkpoints"),
        McpTool(ResumeArguments, "checkpoints:array text:string", True, module="checkpoints"),
        McpTool(PlanArguments, "tokens:integer batches:array", reads_only=True),
        McpTool(RecallArguments, "results:array", reads_only=True, module="memory"),
        McpTool(ExpandArguments, "text:string", reads_only=True, module="memory"),
        McpTool(RememberArguments, "did:string path:string", module="memory"),
        McpTool(ForgetArguments, "did:string", destroys=True, module="memory"),
        McpTool(ContextBudgetArguments, "forecast:object compartments:array"),
        McpTool(SegmentsArguments, "segments:array", module="memory"),
        McpTool(BoardArguments, "messages:array claims:array"),
    )
}
