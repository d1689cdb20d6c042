"""Lines out of pieces, whatever the pieces; the seat that is free when its holder is dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.run import claude_process, journal, supervisor
from holdfast.run.errors import AlreadyRunning
from holdfast.run.supervisor import Lines

HOLD = """
import sys
from holdfast.run import journal
with journal.hold_plan(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.requirement("P5", "X7")
@given(st.lists(st.text("ab\n", max_size=12).map(str.encode), max_size=12))
def test_lines_do_not_depend_on_how_they_were_cut(pieces: list[bytes]) -> None:
    lines = Lines(most=8)
    found = [line for piece in pieces for line in lines.feed(piece)]
    whole = b"".join(pieces).split(b"\n")[:-1]
    assert found == [line if len(line) <= 8 else b"" for line in whole]


@pytest.mark.slow
@pytest.mark.requirement("P5", "X6")
def test_the_seat_is_free_as_soon_as_its_holder_is_dead_reaped_or_not(tmp_path: Path) -> None:
    command, folder = [sys.executable, "-c", HOLD, str(tmp_path)], str(tmp_path)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(AlreadyRunning, match=f"process {holder.pid} runs"),
            journal.hold_plan(folder),
        ):
            pass
        holder.kill()
        assert holder.stdout.read() == b""  # dead, and not reaped
        with journal.hold_plan(folder):
            pass


@pytest.mark.requirement("P5", "X3")
@pytest.mark.skipif(not supervisor.LINUX, reason="only Linux hands orphans to others than init")
def test_after_a_run_nobody_elses_orphans_come_to_us() -> None:
    with claude_process.adopt_orphans():
        pass
    started = subprocess.run(
        ["sh", "-c", "sleep 60 >/dev/null & echo $!"], stdout=subprocess.PIPE, check=True, text=True
    )
    orphan = int(started.stdout)
    try:
        assert orphan not in [pid for pid, _ in supervisor.children()]
    finally:
        os.kill(orphan, signal.SIGKILL)
