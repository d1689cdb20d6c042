"""Flushing: the strongest way that the system has, and the usual one where that is refused."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from holdfast.wire import places


def _file(folder: Path) -> int:
    return os.open(folder / "file", os.O_RDWR | os.O_CREAT, 0o600)


@pytest.mark.requirement("X6")
def test_a_share_that_knows_no_full_flush_gets_an_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int) -> None:
        raise OSError(errno.ENOTSUP, "not supported")

    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    fd = _file(tmp_path)
    places.flush_to_disk(fd, full=refuse)
    os.close(fd)
    assert flushed == [fd]
