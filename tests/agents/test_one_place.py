"""An agent is one adapter: nothing else asks which agent a session is of."""

import re
from pathlib import Path

import pytest

import holdfast

# The lines of each agent and the table of agents. All others read the table.
ADAPTERS = ("wire/", "transcript/", "client/")
ASKS = re.compile(r"(?i)codex|copilot|\brollout\b|\bagents\.CLAUDE\b|import .*\bCLAUDE\b")


def asking(source: Path) -> list[str]:
    """The files above the adapters that name an agent, or ask for Claude Code alone."""
    names = ((path, path.relative_to(source).as_posix()) for path in sorted(source.rglob("*.py")))
    return [
        name
        for path, name in names
        if not name.startswith(ADAPTERS) and ASKS.search(path.read_text("utf-8"))
    ]


@pytest.mark.requirement("U12")
def test_only_the_adapters_know_which_agents_there_are() -> None:
    assert asking(Path(holdfast.__file__).parent) == []
