"""A checkpoint as it is handed to the model: its sections, and where they come from."""

from __future__ import annotations

from holdfast.checkpoint import parse, provenance, render
from holdfast.checkpoint.entry import CheckpointEntry
from holdfast.checkpoint.errors import Changed
from holdfast.text.escape import shown


def sections(entry: CheckpointEntry, *, anyway: bool = False) -> str:
    """The text; one that is not what was kept goes to nobody unless somebody wants that."""
    if not entry.verified and not anyway:
        raise Changed(changed(entry))
    return render.body(parse.parse(parse.load(entry.path)).document).lstrip("\n")


def changed(entry: CheckpointEntry) -> str:
    return f"{shown(entry.path)} is CHANGED: not what was kept"


def origin(entry: CheckpointEntry) -> str:
    since = "" if entry.verified else ", CHANGED since"
    foreign = "" if provenance.is_own(entry) else ", NOT made on this machine"
    return f"checkpoint {entry.id}, kept {entry.created}{since}{foreign}"


def foreign(entry: CheckpointEntry) -> str:
    return f"{shown(entry.path)} was not made on this machine: read it before you trust it"
