"""The audit log is moved aside when it is full, and nothing of it is missed."""

from pathlib import Path

import pytest

from holdfast.hub.ingest import gather
from holdfast.hub.ingest.records import RecordedAuditLine, RecordedEvent
from holdfast.window import audit

pytestmark = pytest.mark.requirement("G9")


def _add(number: int, padding: int = 0) -> None:
    audit.add({"event": "CONTEXT_PRESSURE", "at_ms": 1_000 + number, "done": "x" * padding})


def _fill(first: int) -> int:
    """Events until the file has been moved aside; the number of the next one."""
    before = _inode()
    while _inode() == before:
        _add(first, 60_000)
        first += 1
    return first


def _inode() -> int:
    aside = Path(f"{audit.path()}.1")
    return aside.stat().st_ino if aside.exists() else 0


def _numbers(records: list[RecordedEvent]) -> list[int]:
    return [one.at_ms - 1_000 for one in records if isinstance(one, RecordedAuditLine)]


def _read_all(position: dict[str, int]) -> tuple[dict[str, int], list[int]]:
    found: list[int] = []
    while True:
        until, records = gather.read_audit(position)
        if until == position:
            return position, found
        position, found = until, found + _numbers(records)


def test_a_full_file_is_moved_aside_and_one_older_is_kept() -> None:
    second = _fill(0)
    third = _fill(second)
    _add(third)
    names = sorted(one.name for one in audit.path().parent.glob("audit*"))
    assert names == ["audit.jsonl", "audit.jsonl.1"]
    assert [event["at_ms"] - 1_000 for event in audit.events()] == list(range(second, third + 1))
    sizes = [one.stat().st_size for one in audit.path().parent.glob("audit*")]
    assert max(sizes) < audit.ROTATE_BYTES + 70_000


def test_the_store_reads_on_over_a_file_that_was_moved() -> None:
    _add(0)
    position, first = _read_all({})
    assert first == [0]
    following = _fill(1)
    _add(following)
    position, more = _read_all(position)
    assert more == list(range(1, following + 1))
    assert _read_all(position) == (position, [])
