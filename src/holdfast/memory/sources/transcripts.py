"""The conversation itself, session by session: a fact from before two compactions is found even
where nobody made a segment of it. Read on from where the last reading ended."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from holdfast.memory import places
from holdfast.memory.sources import windows
from holdfast.memory.sources.source import HOW, Read, Source

KEY = "transcript:"
AGENTS = "/subagents"


def sources(project: str) -> Iterator[Source]:
    for path in windows.transcripts(project):
        for one in (path, *_agents(path)):
            if stamp := places.stamp(one):
                yield Source(f"{KEY}{one}", f"{HOW}-{stamp}", partial(_read, one, one != path))


def _agents(path: str) -> list[str]:
    """Subagents' transcripts lie in a folder beside their session's."""
    folder = path.removesuffix(".gz").removesuffix(".jsonl") + AGENTS
    return [f"{folder}/{name}" for name in places.names_in(folder) if name.endswith(".jsonl")]


def _read(path: str, is_agent: bool, state: str, give_up: float) -> Read:
    from holdfast.memory.sources import turns  # decoding lines costs what a quick search lacks

    return turns.read(path, state, is_agent=is_agent, give_up=give_up)
