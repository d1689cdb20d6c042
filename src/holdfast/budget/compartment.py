"""The five compartments, and how their shares add up when somebody sets some of them."""

from collections.abc import Mapping

import msgspec

ACTIVE, BACKGROUND, PREFERENCES, SAFETY, AMBIENT = NAMES = (
    "active_task",
    "project_background",
    "operator_preferences",
    "safety_constraints",
    "ambient_knowledge",
)
# Who borrows first of what others leave: what is being done, then where, then what lies around.
PRIORITY = {SAFETY: 1, PREFERENCES: 2, ACTIVE: 3, BACKGROUND: 4, AMBIENT: 5}
WHOLE = 1000  # shares are counted in thousandths, so that they add up exactly


class Compartment(msgspec.Struct, frozen=True):
    """`share` in thousandths of the room; the lower `priority`, the sooner it may borrow."""

    name: str
    share: int
    priority: int

    def part_of(self, room: int) -> int:
        return self.share * room // WHOLE


def compartments(weights: Mapping[str, float], given: Mapping[str, float]) -> list[Compartment]:
    """Those somebody has given a share have it; the rest divide what is left by their weights."""
    fixed = {name: min(max(given[name], 0.0), 1.0) for name in NAMES if name in given}
    open_weights = {name: max(weights.get(name, 0.0), 0.0) for name in NAMES if name not in fixed}
    left = max(0.0, 1 - sum(fixed.values()))
    total = sum(open_weights.values()) or 1.0
    shares = fixed | {name: left * (weight / total) for name, weight in open_weights.items()}
    over = max(1.0, sum(shares.values()))
    return [
        Compartment(name, int(WHOLE * shares[name] / over + 1e-9), PRIORITY[name]) for name in NAMES
    ]
