"""Requests to a scripted Messages API and its answers, as plain values.

The script answers by the kind of request (a turn, a summary, a subagent's turn, a side question):
Claude Code mixes all four, and one plain list would be out of step at the first compaction.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["main", "summary", "agent", "side"]


@dataclass(frozen=True)
class ScriptedUsage:
    """The four numbers that Claude Code adds up to know how full its window is."""

    input_tokens: int = 10
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    output_tokens: int = 50

    @property
    def total(self) -> int:
        return (
            self.input_tokens
            + self.cache_creation_input_tokens
            + self.cache_read_input_tokens
            + self.output_tokens
        )


def usage_of(total: int, *, output_tokens: int = 50, input_tokens: int = 10) -> ScriptedUsage:
    """A usage that adds up to `total`, nearly all of it from the cache, as in real life."""
    cached = total - output_tokens - input_tokens
    if cached < 0:
        raise ValueError(f"{total} tokens cannot hold {output_tokens} of output")
    return ScriptedUsage(input_tokens, 0, cached, output_tokens)


@dataclass(frozen=True)
class ScriptedToolCall:
    """One tool the scripted model asks for."""

    name: str
    arguments: Mapping[str, object]


def bash(command: str, description: str = "Run a command") -> ScriptedToolCall:
    """The tool call most scripts are made of."""
    return ScriptedToolCall("Bash", {"command": command, "description": description})


def start_agent(
    prompt: str = "Look around and report.", kind: str = "general-purpose"
) -> ScriptedToolCall:
    """A subagent that the client waits for."""
    told = {"description": "Help", "prompt": prompt, "subagent_type": kind}
    return ScriptedToolCall("Agent", {**told, "run_in_background": False})


@dataclass(frozen=True)
class ScriptedAnswer:
    """An answer of the scripted model. With tools it stops for them, otherwise the turn ends."""

    text: str = ""
    tools: tuple[ScriptedToolCall, ...] = ()
    usage: ScriptedUsage = field(default_factory=ScriptedUsage)
    stop_reason: str | None = None

    @property
    def stops_for(self) -> str:
        return self.stop_reason or ("tool_use" if self.tools else "end_turn")


@dataclass(frozen=True)
class ScriptedError:
    """An error instead of an answer; by default the one that makes Claude Code compact late."""

    status: int = 400
    error_type: str = "invalid_request_error"
    message: str = "prompt is too long: 205000 tokens > 200000 maximum"


Step = ScriptedAnswer | ScriptedError


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as the API received it: what the model would have read."""

    number: int
    kind: Kind
    agent_id: str
    at_seconds: float
    body: dict[str, Any]


Script = Callable[[ReceivedRequest], Step]


class Acts:
    """A script made of one list of steps per kind of request; an empty list answers "Done."."""

    def __init__(
        self,
        main: Sequence[Step],
        *,
        summary: Sequence[Step] = (),
        agent: Sequence[Step] = (),
        side: Sequence[Step] = (),
    ) -> None:
        self._left: dict[Kind, list[Step]] = {
            "main": list(main),
            "summary": list(summary),
            "agent": list(agent),
            "side": list(side),
        }
        self._last_usage: dict[Kind, ScriptedUsage] = {}
        self._lock = threading.Lock()

    def __call__(self, request: ReceivedRequest) -> Step:
        with self._lock:
            left = self._left[request.kind]
            step = left.pop(0) if left else self._closing(request.kind)
            if isinstance(step, ScriptedAnswer):
                self._last_usage[request.kind] = step.usage
            return step

    def left(self, kind: Kind = "main") -> int:
        """How many steps are left."""
        return len(self._left[kind])

    def _closing(self, kind: Kind) -> ScriptedAnswer:
        # The window must not seem to be emptied because the script is over.
        return ScriptedAnswer("Done.", usage=self._last_usage.get(kind, ScriptedUsage()))
