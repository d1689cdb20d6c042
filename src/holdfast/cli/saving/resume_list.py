"""Checkpoints as lines that fit the terminal, each told by what sets it apart from the others."""

from __future__ import annotations

import shutil
from collections.abc import Container
from datetime import datetime

from holdfast.checkpoint.document import Document
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.checkpoint.sections import NOTHING_OPEN
from holdfast.text import timestamps
from holdfast.text.escape import shown

Row = tuple[CheckpointEntry, Document | None]
ASKED = "request: "  # of the section In Progress


def lines(rows: list[Row], now: datetime, own: Container[str]) -> list[str]:
    """The session is named only where there is more than one, and so is the project. Those whose
    path is not among `own` were made by others."""
    width = shutil.get_terminal_size((120, 24)).columns
    several = len({(entry.session_id, entry.agent_id) for entry, _ in rows}) > 1
    ids = max((len(entry.id) for entry, _ in rows), default=0)
    named = _projects([entry.project for entry, _ in rows])
    told = [
        f"{one.id:<{ids}} {_head(one, now, several, one.path in own)}{named[one.project]} "
        f"{shown(_words(one, document))}"
        for one, document in rows
    ]
    return [_cut(text, width) for text in told]


def heading(rows: list[Row]) -> str:
    """What stands in those lines, in their order."""
    ids = max((len(entry.id) for entry, _ in rows), default=0)
    session = " session " if len({(one.session_id, one.agent_id) for one, _ in rows}) > 1 else ""
    project = " project" if len({one.project for one, _ in rows}) > 1 else ""
    return (
        f"{'checkpoint':<{ids}} {'age':>7} {'trigger':<11} {'nr':<3}{session}{project} asked last"
    )


def _projects(paths: list[str]) -> dict[str, str]:
    """How each is told in a line: by the name of its folder, or whole where two share that."""
    folders = {path: path.rstrip("/").rpartition("/")[2] for path in paths}
    if len(folders) < 2:
        return dict.fromkeys(folders, "")
    shared = list(folders.values())
    return {p: f" {shown(name if shared.count(name) == 1 else p)}" for p, name in folders.items()}


def age(entry: CheckpointEntry, now: datetime) -> str:
    if not entry.sound:
        return "unknown"
    minutes = (now - timestamps.read(entry.created)).total_seconds() / 60
    if minutes < -1:
        return "in the future"
    if minutes < 90:
        return f"{max(0, minutes):.0f} min"
    return f"{minutes / 60:.0f} h" if minutes < 2880 else f"{minutes / 1440:.0f} days"


def _head(entry: CheckpointEntry, now: datetime, several: bool, own: bool) -> str:
    agent = f"/{entry.agent_id[:8]}" if entry.agent_id else ""
    who = f" {shown(entry.session_id[:8] + agent)}" if several else ""
    mark = ("" if entry.verified else " CHANGED") + ("" if own else " FOREIGN")
    number = f"#{entry.iteration}"
    return f"{age(entry, now):>7} {entry.trigger:<11} {number:<3}{who}{mark}"


def _words(entry: CheckpointEntry, document: Document | None) -> str:
    """What was asked last, and how much was open then."""
    doing = list(document.sections.get("In Progress", ())) if document else []
    asked = next((one.removeprefix(ASKED) for one in doing if one.startswith(ASKED)), "")
    steps = list(document.sections.get("Next Steps", ())) if document else []
    count = sum(not one.startswith(NOTHING_OPEN) for one in steps)
    left = f" ({count} open)" if count else ""
    return " ".join((asked or entry.summary).split()) + left


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
