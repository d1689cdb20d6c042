"""A program that is asked for its version has its time, whatever it does with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.run import claude_command
from holdfast.run.errors import NoClient


@pytest.mark.slow
@pytest.mark.requirement("P5", "X7")
def test_one_that_goes_on_printing_a_little_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claude_command, "VERSION_SECONDS", 0.3)
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nwhile :; do printf .; sleep 0.05; done\n")
    program.chmod(0o700)
    with pytest.raises(NoClient, match="did not end"):
        claude_command.find(program)
