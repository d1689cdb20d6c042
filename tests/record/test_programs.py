"""Lines of a shell that name no program."""

from pathlib import Path

import pytest

from tests.checkpoint.sessions import Session


@pytest.mark.requirement("B14")
@pytest.mark.parametrize("line", ["-x", "ls; -", "env -", "    --no_wait", "/", "/usr/bin/"])
def test_a_line_without_a_program_costs_nothing_beside_it(line: str, tmp_path: Path) -> None:
    session = Session().user("Go.").runs(line, "error: no such thing", fails=True)
    record = session.runs(line, "fine").says("Done.").record(tmp_path)
    assert record.lost == 0
    assert record.commands[line].printed == "fine"
