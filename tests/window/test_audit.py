"""Which decisions were taken in a window that was nearly full: values in, a list out."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.window.audit import FREED, PRESSURE, under_pressure

DECISIONS = [(n, {"decision": f"decision {n}", "turn": n}) for n in (5, 15, 25, 35, 45)]


def _alert(at_ms: int, zone: str) -> dict[str, Any]:
    told = {"level": "advisory", "used_ratio": 0.9}
    return {"event": PRESSURE, "at_ms": at_ms, "zone": zone, **told}


@pytest.mark.requirement("G9")
@pytest.mark.parametrize(
    ("events", "under"),
    [
        ([], []),
        ([_alert(10, "yellow")], []),
        ([_alert(10, "orange")], [15, 25, 35, 45]),
        ([_alert(10, "orange"), {"event": FREED, "at_ms": 20}], [15]),
        ([_alert(30, "red"), _alert(10, "orange"), {"event": FREED, "at_ms": 20}], [15, 35, 45]),
        ([_alert(10, "red"), _alert(30, "yellow")], [15, 25]),
        ([_alert(15, "red"), {"event": FREED, "at_ms": "odd"}], [15, 25, 35, 45]),
    ],
)
def test_a_decision_is_under_pressure_from_an_alert_until_the_window_is_freed(
    events: list[dict[str, Any]], under: list[int]
) -> None:
    found = under_pressure(DECISIONS, events)
    assert [one["at_ms"] for one in found] == under
    assert [one["turn"] for one in found] == under
    assert all(one["used_ratio"] == 0.9 for one in found)
