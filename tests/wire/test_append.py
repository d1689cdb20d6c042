"""A full disk cuts a line short: that costs the line itself, and no other."""

from __future__ import annotations

import os
import pwd
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.window import audit, outbox
from holdfast.window.outbox import DoneMessage, WindowOutbox
from holdfast.wire import log, places, spool
from holdfast.wire.spool import SpoolLine
from tests.hot.hooks import fire, window

FULL_AFTER = 12


@contextmanager
def _room_for(path: Path, more: int) -> Iterator[None]:
    """No file may grow beyond this one and a few bytes: its next write is really cut short."""
    size = path.stat().st_size if path.exists() else 0
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _line(number: int) -> SpoolLine:
    return SpoolLine(number, "PostToolUse", number * 10, duration_ms=12_345)


def _spooled(folder: Path, number: int) -> None:
    spool.append(str(folder), _line(number))


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("missing", range(1, len(_line(2).render()) + 1))
def test_the_event_after_a_short_write_is_read_whole(tmp_path: Path, missing: int) -> None:
    _spooled(tmp_path, 1)
    more = len(_line(2).render()) - missing
    with _room_for(tmp_path / "spool", more), pytest.raises(OSError, match=r"full|large"):
        _spooled(tmp_path, 2)
    _spooled(tmp_path, 3)
    _spooled(tmp_path, 4)
    found = spool.lines(str(tmp_path))
    assert [line.ms for line in found] == [1, 3, 4]
    assert {line.duration_ms for line in found} == {12_345}


@pytest.mark.requirement("X6")
def test_a_torn_end_of_the_rotated_spool_costs_no_line_of_the_new_one(tmp_path: Path) -> None:
    _spooled(tmp_path, 1)
    with _room_for(tmp_path / "spool", FULL_AFTER), pytest.raises(OSError, match="full"):
        _spooled(tmp_path, 2)
    (tmp_path / "spool").rename(tmp_path / "spool.1")
    _spooled(tmp_path, 3)
    assert [line.ms for line in spool.lines(str(tmp_path))] == [1, 3]


@pytest.mark.requirement("X6")
def test_a_hook_on_a_disk_that_was_full_for_a_moment_loses_only_one_event(tmp_path: Path) -> None:
    fire("UserPromptSubmit", prompt="one")
    place = window() / "spool"
    with _room_for(place, FULL_AFTER), pytest.raises(OSError, match="full"):
        spool.append(str(window()), SpoolLine(2, "PostToolUse", 20))
    fire("UserPromptSubmit", prompt="three")
    events = [line.event for line in spool.lines(str(window()))]
    assert events == ["UserPromptSubmit", "UserPromptSubmit"]


def _logged(number: int) -> None:
    log.add("INFO", "test", f"line {number}")


def _audited(number: int) -> None:
    audit.add({"event": "CONTEXT_PRESSURE", "number": number})


@pytest.mark.requirement("X6")
@pytest.mark.parametrize(
    ("add", "name"), [(_logged, "guard.log"), (_audited, "audit.jsonl")], ids=["log", "audit"]
)
def test_log_and_audit_lose_only_the_torn_line(
    own_home: Path, add: Callable[[int], None], name: str
) -> None:
    path = own_home / ".holdfast" / name
    add(1)
    with _room_for(path, FULL_AFTER):
        add(2)
    add(3)
    first, torn, last = path.read_text().splitlines()
    assert torn.endswith("?")
    assert "1" in first
    assert "3" in last
    if name == "audit.jsonl":
        assert [event["number"] for event in audit.events()] == [1, 3]


@pytest.mark.requirement("X6")
def test_a_message_that_could_not_be_noted_as_over_does_not_spoil_the_next(tmp_path: Path) -> None:
    folder = str(tmp_path)
    outbox.save(folder, WindowOutbox(), [DoneMessage("one", "confirmed", 1)])
    with _room_for(tmp_path / "outbox.done", FULL_AFTER), pytest.raises(OSError, match="full"):
        outbox.save(folder, WindowOutbox(), [DoneMessage("two", "confirmed", 22_222)])
    outbox.save(folder, WindowOutbox(), [DoneMessage("three", "confirmed", 3)])
    assert [one.id for one in outbox.done_messages(folder)] == ["one", "three"]


def test_an_append_gives_the_length_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a" / "lines"
    assert places.append(str(path), b"one\n") == 4
    assert places.append(str(path), b"two\n") == path.stat().st_size == 8


def test_a_link_in_place_of_our_file_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("mine\n")
    (tmp_path / "log").symlink_to(other)
    (tmp_path / "ended").symlink_to(tmp_path / "made.txt")
    with pytest.raises(OSError):
        places.append(str(tmp_path / "log"), b"a line\n")
    places.close_window(str(tmp_path))
    assert other.read_text() == "mine\n"
    assert not (tmp_path / "made.txt").exists()


def test_our_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    places.append(str(tmp_path / "linked" / "log"), b"a line\n")
    assert (tmp_path / "real" / "log").read_bytes() == b"a line\n"


@pytest.mark.parametrize("home", ["", "rel/x", None])
def test_without_an_absolute_home_the_password_file_names_it(
    home: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_HOME", raising=False)
    monkeypatch.delenv("HOME")
    if home is not None:
        monkeypatch.setenv("HOME", home)
    assert places.home() == f"{pwd.getpwuid(os.getuid()).pw_dir}/.holdfast"
