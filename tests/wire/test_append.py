"""A full disk cuts a line short: that costs the line itself, and no other."""

import os
import pwd
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.window import audit
from holdfast.wire import log, places, spool
from holdfast.wire.spool import SpoolLine

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


@pytest.mark.parametrize("home", ["", "rel/x", None])
def test_without_an_absolute_home_the_password_file_names_it(
    home: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_HOME", raising=False)
    monkeypatch.delenv("HOME")
    if home is not None:
        monkeypatch.setenv("HOME", home)
    assert places.home() == f"{pwd.getpwuid(os.getuid()).pw_dir}/.holdfast"
