"""What messages may be about: a closed list, so that a typo is heard; users add their own."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

from holdfast.hub.errors import Refused

BUILT_IN: Final = (
    "task.created",
    "task.completed",
    "task.failed",
    "context.request",
    "context.response",
    "alert.blocking",
    "agent.heartbeat",
    "agent.started",
    "agent.completed",
    "workflow.progress",
    "checkpoint_trigger",
)


def known(registered: str) -> frozenset[str]:
    """The built-in ones and those of the setting `topics`."""
    names = (name.strip() for name in registered.split(","))
    return frozenset(BUILT_IN) | {name for name in names if name}


def check(topic: str, known: Set[str]) -> None:
    if topic not in known:
        raise Refused(unknown(topic), "topic")


def unknown(topic: str) -> str:
    listed = ", ".join(BUILT_IN)
    return f"{topic[:80]!r} is no topic: {listed}, or one registered in the setting topics"
