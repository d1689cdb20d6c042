"""Checkpoints, section by section.

Those of one session repeat each other: a text that several contain is one item, and refers to the
newest of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from holdfast.files.digest import digest
from holdfast.memory import locations
from holdfast.memory.item import CHECKPOINT, DECISION, Item, id_of
from holdfast.memory.sources.source import HOW, MemorySource, SourceRead, clean, pieces
from holdfast.wire import places

KEY = "checkpoints"
DECISIONS = "Key Decisions"
MOST_FILES = 200
INSIDE = ".claude/checkpoints"
FOREIGN = "from a checkpoint not made on this machine"


def sources(project: str) -> Iterator[MemorySource]:
    files = _files(project)
    if files:
        stamps = "\n".join(f"{path} {locations.stamp(path)}" for path in files)
        stamp = f"{HOW}-own-{digest(stamps.encode('utf-8', 'surrogatepass'))[:16]}"
        yield MemorySource(KEY, stamp, partial(_read, project, files))


def _local_paths(project: str) -> set[str]:
    from holdfast.checkpoint import index

    return {one.path for one in index.of_project(project)}


def _files(project: str) -> list[str]:
    """Return the newest files, oldest first; they are named by date."""
    ours = f"{places.home().rstrip('/')}/checkpoints/{locations.key(project)}/files"
    found = [
        (name, f"{folder}/{name}")
        for folder in (places.resolve_inside(project, INSIDE), ours)
        for name in locations.names_in(folder)
        if name[:1].isdigit() and name.endswith(".md")
    ]
    return [path for _, path in sorted(found)[-MOST_FILES:]]


def _read(project: str, files: list[str], _state: str, _give_up: float) -> SourceRead:
    from holdfast.checkpoint import markdown
    from holdfast.checkpoint.errors import DamagedCheckpoint
    from holdfast.text import timestamps

    own = _local_paths(project)
    found: dict[tuple[str, str, str], Item] = {}
    for path in files:
        try:
            document = markdown.parse(markdown.load(path)).document
        except DamagedCheckpoint:
            continue  # `verify` and `rebuild` report it
        about = document.session_id, document.agent_id, path, timestamps.to_iso(document.created)
        for name, entries in document.sections.items():
            for text in _texts(name, entries):
                item = _item(name, text, about)
                item = item if path in own else item._replace(title=f"{name} ({FOREIGN})", by="")
                found[document.session_id, name, text] = item
    return SourceRead([one._replace(position=2 * n) for n, one in enumerate(found.values())], "")


def _texts(name: str, entries: object) -> list[str]:
    from holdfast.checkpoint.sections import somebodys
    from holdfast.memory.sources.calls import asks_us

    texts = [one for one in entries if isinstance(one, str)]  # type: ignore[attr-defined]
    said = (somebodys(name, one) for one in texts)
    listed = [clean(one) for one in said if one and not asks_us(one.removeprefix("Bash "))]
    if name == DECISIONS:
        return [part for one in listed for part in pieces(one)]
    return pieces("\n".join(listed))


def _item(name: str, text: str, about: tuple[str, str, str, str]) -> Item:
    session, agent, path, at = about
    return Item(
        id=id_of(CHECKPOINT, session, agent, name, text),
        kind=DECISION if name == DECISIONS else CHECKPOINT,
        text=text,
        title=name,
        by="model" if name == DECISIONS else "",
        session=session,
        agent=agent,
        file=path,
        at=at,
    )
