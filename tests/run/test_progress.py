"""What is shown while a run goes on: a bar on a terminal, plain lines elsewhere."""

import os
import pty
import re
import subprocess
import sys

import pytest

from tests.run.theatre import ALONE, PATIENCE_SECONDS, TWO, Theatre


@pytest.mark.slow  # the whole command, and all its clients
@pytest.mark.requirement("P5", "U3")
def test_on_a_terminal_there_is_a_bar_and_stdout_stays_clean(theatre: Theatre) -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "holdfast.cli", *theatre.words()]
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=theirs, env=environ) as run:
        os.close(theirs)
        shown = _all(ours)
        out, _ = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 0
    assert out == b"done: 3 of 3 tasks done, 3 sessions of Claude in this run\n"
    assert "2 of 3 batches" in shown
    assert "of about 80,000 tokens; 20,000 in its window" in shown
    assert re.search(r"\x1b\[2Kjournal: \S+/journal\.jsonl\r\n$", shown)  # the bar is gone by then
    assert "\x1b[" in shown


@pytest.mark.slow
@pytest.mark.requirement("P5")
def test_elsewhere_there_are_lines_and_no_escapes(theatre: Theatre) -> None:
    theatre.plan.write_text(TWO)
    found = theatre.run()
    assert "\x1b" not in found.stderr
    assert "batch 2 of 2: Price" in found.stderr
    assert found.stderr.count("saved and read back") == 2
    assert " begun" not in found.stderr, "the line of its batch says so"


@pytest.mark.slow
@pytest.mark.requirement("P5", "U3")
def test_that_the_api_does_not_answer_is_said_at_once_and_once_until_it_does(
    theatre: Theatre,
) -> None:
    theatre.plan.write_text(ALONE)
    theatre.play(cart=["refused:401,401,401,,0,0,,529"])
    said = [
        line.split(maxsplit=2)[2] for line in theatre.run().stderr.splitlines() if "API" in line
    ]
    assert said == [
        "the API answered 401 (authentication_failed); Claude Code tries again, 1 of 10",
        "the API does not answer; Claude Code tries again, 1 of 10",
        "the API answered 529 (overloaded); Claude Code tries again, 1 of 10",
    ]


def _all(fd: int) -> str:
    data = b""
    try:
        while more := os.read(fd, 65536):
            data += more
    except OSError:  # how a terminal says that nobody writes any more
        pass
    os.close(fd)
    return data.decode()
