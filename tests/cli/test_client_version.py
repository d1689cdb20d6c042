"""A program that is asked for its version has its time, whatever it does with it."""

from pathlib import Path

import pytest

from holdfast.run import claude_process
from holdfast.run.claude_process import NoClient


@pytest.mark.slow
@pytest.mark.requirement("P5", "X7")
def test_one_that_prints_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_process, "VERSION_SECONDS", 0.3)
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nsleep 600\n")
    program.chmod(0o700)
    with pytest.raises(NoClient, match="did not end"):
        claude_process.find(program)
