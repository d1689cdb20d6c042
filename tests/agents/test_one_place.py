"""An agent is one adapter: nothing else asks which agent a session is of."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast

# The lines of each agent, the table of agents, and where our hooks are put into each.
ADAPTERS = ("wire/", "transcript/", "client/", "setup/", "cli/install")


@pytest.mark.requirement("U12")
def test_only_the_adapters_know_the_name_of_another_agent() -> None:
    source = Path(holdfast.__file__).parent
    asking = [
        name
        for path in source.rglob("*.py")
        if not (name := path.relative_to(source).as_posix()).startswith(ADAPTERS)
        and any(word in path.read_text().lower() for word in ("codex", "copilot"))
    ]
    assert asking == []
