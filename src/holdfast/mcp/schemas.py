"""What each tool may be asked. A class is a tool: its docstring is what the model reads of it, its
fields are the schema and, by the same token, the check of what comes in.

Every character here is paid for by every session: all of it stays under 1,500 tokens.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Id = Annotated[str, Meta(max_length=200)]
Line = Annotated[str, Meta(max_length=1_000)]
Text = Annotated[str, Meta(max_length=20_000)]
Tokens = Annotated[int, Meta(ge=0, le=100_000_000)]
Compartment = Literal[
    "active_task",
    "project_background",
    "operator_preferences",
    "safety_constraints",
    "ambient_knowledge",
]
Few = Annotated[int, Meta(ge=1, le=50)]


class Asked(Struct, frozen=True, forbid_unknown_fields=True):
    """Unknown fields are refused, so that a typo is heard."""


class Status(Asked, frozen=True):
    """How full the context window is, when it runs out, last checkpoint, every agent. task_tokens: does a task of that size still fit?"""  # noqa: E501

    task_tokens: Tokens = 0


class Checkpoint(Asked, frozen=True):
    """Save what this session knows now, verified by reading it back."""


class Resume(Asked, frozen=True):
    """Earlier checkpoints of this project. which: an id, "latest", "previous"; "now": the brief a compaction would give back. Without it: the list."""  # noqa: E501

    which: Line = ""


class Plan(Asked, frozen=True):
    """Tasks as batches that fit the room left, with estimates; checkpoint between two batches. text: markdown `- [ ]` list, YAML, JSON; or path: a file of this project."""  # noqa: E501

    text: Annotated[str, Meta(max_length=100_000)] = ""
    path: Line = ""


class Board(Asked, frozen=True):
    """Messages and claims between the agents of this project. post needs topic, text; claim and settle (done or let go) need work."""  # noqa: E501

    op: Literal["read", "post", "claim", "settle", "claims"]
    topic: Id = ""
    text: Text = ""
    to: Id = ""
    work: Id = ""
    agent: Annotated[str, Meta(max_length=200, description="you; default: this session")] = ""


class Recall(Asked, frozen=True):
    """Search all that this project's sessions said, decided and kept, long before this window. expand shows a result whole."""  # noqa: E501

    query: Annotated[str, Meta(max_length=4_000)]
    limit: Few = 5
    kind: Literal["", "memory", "checkpoint", "segment", "decision", "message", "turn"] = ""
    cold: Annotated[bool, Meta(description="archived segments too")] = False
    everywhere: Annotated[bool, Meta(description="all projects")] = False


class Remember(Asked, frozen=True):
    """Keep a lasting fact in the client's memory folder; the same name replaces it."""

    name: Id
    description: Annotated[str, Meta(max_length=400, description="one line, for the index")]
    text: Text
    type: Literal["user", "feedback", "project", "reference"] = "project"


class Forget(Asked, frozen=True):
    """Take back what remember wrote under a name."""

    name: Id


class ContextBudget(Asked, frozen=True):
    """What a compaction gives back, in five compartments, beside the forecast. pin, estimate: text; unpin, evict: id; allot: share of a compartment, none: its usual."""  # noqa: E501

    op: Literal["status", "pin", "unpin", "evict", "estimate", "allot"]
    text: Text = ""
    id: Id = ""
    compartment: Compartment = "operator_preferences"
    scope: Literal["project", "session", "user"] = "project"
    share: Annotated[float, Meta(ge=0, le=1)] | None = None


class Segments(Asked, frozen=True):
    """Topics of this project's sessions that were compressed, or of this session that wait for it. save: your better words for one, at most a fifth of its tokens."""  # noqa: E501

    op: Literal["pending", "compressed", "save"]
    id: Id = ""
    text: Text = ""
    decisions: tuple[Line, ...] = ()
    files: tuple[Line, ...] = ()
    cold: bool = False


class Expand(Asked, frozen=True):
    """The whole text behind an id: a recall result, an archived tool output, or a `more` handle of any answer. find: only lines with these words."""  # noqa: E501

    id: Id
    offset: Annotated[int, Meta(ge=0)] = 0
    find: Line = ""
