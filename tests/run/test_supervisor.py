"""The seat that is free when its holder is dead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.run import journal
from holdfast.run.errors import AlreadyRunning

HOLD = """
import sys
from holdfast.run import journal
with journal.hold_plan(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.requirement("P5", "X6")
def test_the_seat_is_free_as_soon_as_its_holder_is_dead_reaped_or_not(tmp_path: Path) -> None:
    command, folder = [sys.executable, "-c", HOLD, str(tmp_path)], str(tmp_path)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(AlreadyRunning, match="another process runs"),
            journal.hold_plan(folder),
        ):
            pass
        holder.kill()
        assert holder.stdout.read() == b""  # dead, and not reaped
        with journal.hold_plan(folder):
            pass
