"""How the status of a wave is derived."""

from typing import TypeAlias

import pytest

from holdfast.hub.store.rows import Row
from holdfast.hub.tree.waves import WaveKey, judge

Tasks: TypeAlias = list[tuple[int, str]]


def _by_wave(tasks: Tasks) -> dict[WaveKey, list[Row]]:
    found: dict[WaveKey, list[Row]] = {}
    for number, status in tasks:
        found.setdefault(("r", number), []).append({"status": status})
    return found


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("tasks", "verdict"),
    [
        ([(0, "pending"), (1, "pending")], {0: "pending", 1: "pending"}),
        (
            [(0, "completed"), (3, "pending"), (7, "pending")],
            {0: "completed", 3: "running", 7: "pending"},
        ),
        ([(0, "failed"), (0, "completed"), (1, "pending")], {0: "failed", 1: "pending"}),
        ([(0, "completed"), (0, "blocked")], {0: "blocked"}),
        ([(0, "blocked"), (0, "running")], {0: "running"}),
    ],
)
def test_how_tasks_stand_says_how_waves_stand(tasks: Tasks, verdict: dict[int, str]) -> None:
    assert judge(_by_wave(tasks)) == {("r", number): status for number, status in verdict.items()}
