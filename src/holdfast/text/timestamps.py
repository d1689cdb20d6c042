"""The one way times are written, and the checkpoint ids made from them."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

NAMES_PER_SECOND = 1000
STAMP_CHARS = len("2026-01-31-235959")
ID = re.compile(r"\d{4}-\d{2}-\d{2}-\d{6}(?:-([1-9]\d{0,2}))?")


def to_iso(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def from_iso(text: str) -> datetime:
    """Parse exactly what `to_iso` writes; ValueError otherwise. No strptime: it loads `locale`."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None or to_iso(moment) != text:
        raise ValueError(f"not a time we write: {text!r}")
    return moment.astimezone(UTC)


def stamp(moment: datetime) -> str:
    return to_iso(moment)[:-1].replace("T", "-").replace(":", "")


def ids(moment: datetime) -> Iterator[str]:
    """The id of this second, then -2, -3 … for later checkpoints of the same second."""
    first = stamp(moment)
    yield first
    for number in range(2, NAMES_PER_SECOND):
        yield f"{first}-{number}"


def id_of(file_name: str) -> str:
    """The id in a file's name, or nothing: drafts and other files have none."""
    stem = file_name.removesuffix(".md")
    return stem if stem != file_name and ID.fullmatch(stem) else ""


def number(checkpoint_id: str) -> int:
    """Its position among the checkpoints of the same second, from 1; 0 for an invalid id."""
    match = ID.fullmatch(checkpoint_id)
    return int(match[1] or 1) if match else 0
