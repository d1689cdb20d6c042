"""The conversation itself, session by session: a fact from before two compactions is found even
where nobody made a segment of it. Read on from where the last reading ended. Where the client has
deleted a transcript, the archived copy is read, and its items keep their ids."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from holdfast.archive import transcripts as archived
from holdfast.memory import locations
from holdfast.memory.sources import windows
from holdfast.memory.sources.source import HOW, Read, Source

KEY = "transcript:"
AGENTS = "/subagents"


def sources(project: str) -> Iterator[Source]:
    for path in windows.transcripts(project):
        for one in (path, *_agents(path)):
            if stamp := locations.stamp(one):
                yield Source(f"{KEY}{one}", f"{HOW}-{stamp}", partial(_read, one, one != path, one))
    for one, copy in archived.copies_of_gone(locations.client_folder(project)):
        is_agent = one.rpartition("/")[0].endswith(AGENTS)
        yield Source(
            f"{KEY}{one}", f"{HOW}-{locations.stamp(copy)}", partial(_read, copy, is_agent, one)
        )


def _agents(path: str) -> list[str]:
    """Subagents' transcripts lie in a folder beside their session's."""
    folder = path.removesuffix(".gz").removesuffix(".jsonl") + AGENTS
    return [f"{folder}/{name}" for name in locations.names_in(folder) if name.endswith(".jsonl")]


def _read(path: str, is_agent: bool, key: str, state: str, give_up: float) -> Read:
    from holdfast.memory.sources import turns  # decoding lines costs what a quick search lacks

    return turns.read(path, state, is_agent=is_agent, give_up=give_up, key=key)
